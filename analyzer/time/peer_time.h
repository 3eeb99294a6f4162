// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How long peers take: on each connection, from the last write to the next read that brings something, and the other
// way round, from the last read to the next write. An event loop waits in one call for all of its peers; this tells
// them apart. Plain data; times are nanoseconds.
//
// A socket that the program connected waits for its peer between a write and a read; one that it accepted has the peer
// wait between a read and a write. The other halves are pauses, which are nobody's wait, and are left out. Of a socket
// that was open before tracing, the first transfer tells which of the two it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "analyzer/read/catalog.h"
#include "analyzer/read/event_filter.h"
#include "analyzer/read/top_list.h"
#include "analyzer/time/time_stacks.h"
#include "store/db/database.h"
#include "support/result.h"
#include "trace/latency.h"

namespace uscope::analyzer {

struct PeerTime {
  std::string peer;     // the socket's name; of those of one host that were accepted, without the port
  std::string process;  // the program's name when it wrote
  TimeFunction at;      // the trigger of the write
  std::size_t connections = 0;
  std::size_t peers = 0;         // names in this line
  trace::LatencySketch times;    // of exchanges that ended
  std::uint64_t unfinished = 0;  // that had not ended with the trace, or with the connection
  std::uint64_t unfinished_ns = 0;
};

struct PeerTimes {
  TopList<PeerTime> waits;          // for peers: from a write to the next read
  TopList<PeerTime> answers;        // to peers: from a read to the next write
  std::uint64_t transfers = 0;      // on sockets that have one peer
  std::uint64_t unconnected = 0;    // sockets without one peer (datagrams), which are left out
  std::size_t uring_processes = 0;  // whose transfers by io_uring are not seen
};

struct PeerQuery {
  // Of its members only those that choose tasks and a span of time: the write is made by such a thread, and what ends
  // the exchange lies in the span.
  EventFilter scope{};
  std::size_t lines = 0;  // of each list; 0 = all
};

[[nodiscard]] Result<PeerTimes> read_peer_times(const store::Database& database, const Catalog& catalog,
                                                const PeerQuery& query);

}  // namespace uscope::analyzer
