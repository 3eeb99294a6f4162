// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One pass over the transfers, in the order of their returns: a thread may wait in a read that was entered before
// another thread wrote. A connection is what descriptors of a process stand for, duplicates included, for as long as it
// has one name: what is closed, or connected anew, begins anew.
#include "analyzer/time/peer_time.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/read/part.h"
#include "analyzer/read/peer_name.h"
#include "analyzer/read/process_filter.h"
#include "analyzer/read/query.h"
#include "syscalls/call_traits.h"

namespace uscope::analyzer {
namespace {

constexpr std::string_view kTransfers =
    "SELECT e.thread_id, e.kind_id, e.ts_ns, e.dur_ns, e.result, e.stack_id, e.image_id, o.name, e.a0, e.a1, e.a2, "
    "e.a3 "
    "FROM event e LEFT JOIN object o ON o.id = e.object_id AND o.kind IN ('inet', 'inet6', 'unix', 'vsock', 'socket') "
    "WHERE e.kind_id IN ({}) ORDER BY e.ts_ns + coalesce(e.dur_ns, 0), e.id";
constexpr int kName = 7;
constexpr int kFirstArgument = 8;

// What a call does to a connection.
enum class Does { kNothing, kTransfer, kConnect, kAccept, kClose, kDuplicate };

struct PeerCall {
  Does does = Does::kNothing;
  syscalls::Transfer transfer;
  int flags = -1;  // the argument with MSG_PEEK
};

PeerCall call_of(const Kind& kind) {
  if (!kind.is_call()) return {};
  const syscalls::Transfer transfer = syscalls::transfer_of(kind.name);
  if (transfer.reads || transfer.writes)
    return {Does::kTransfer, transfer, kind.name == "recvfrom" ? 3 : kind.name == "recvmsg" ? 2 : -1};
  if (kind.name == "connect") return {Does::kConnect, {}};
  if (kind.name == "close") return {Does::kClose, {}};
  if (kind.name == "accept" || kind.name == "accept4") return {Does::kAccept, {}};
  if (kind.name == "dup" || kind.name == "dup2" || kind.name == "dup3" || kind.name == "fcntl")
    return {Does::kDuplicate, {}};
  return {};
}

std::int64_t argument(const SqlRow& row, int number) {
  return row.integer(kFirstArgument + number);
}

bool duplicates(const Kind& kind, const SqlRow& row) {
  constexpr std::int64_t kDupFd = 0;
  constexpr std::int64_t kDupFdCloexec = 1030;
  return kind.name != "fcntl" || argument(row, 1) == kDupFd || argument(row, 1) == kDupFdCloexec;
}

// A socket without one peer: each datagram that it takes or sends may have another one.
bool has_no_peer(std::string_view name) {
  // An address that the call was given, in place of the socket's name.
  if (!name.starts_with("socket:[")) return true;
  return name.starts_with("socket:[at inet") || name == "socket:[inet]" || name == "socket:[inet6]";
}

// A transfer on a socket.
struct Moved {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  bool writes = false;
  bool counted = false;  // by a thread that is asked for
  StackRowId stack;
  ImageRowId image;
};

enum class Half { kWaits, kAnswers };

std::int64_t return_of(std::int64_t ts, std::int64_t dur) {
  return difference(ts, difference(0, std::max<std::int64_t>(0, dur)));
}

struct Connection {
  std::string name;
  std::optional<Half> half;   // that is somebody's wait
  std::optional<Moved> last;  // in that half the transfer that began it
  bool unconnected = false;   // it has no one peer
  std::size_t number = 0;
};

using PeerKey = std::tuple<Half, std::string, std::string, TimeFunction>;  // what it is, peer, process, function

struct PeerSum {
  PeerTime line;
  std::set<std::size_t> connections;
  std::set<std::string> names;
};

class PeerReader {
 public:
  PeerReader(const store::Database& database, const Catalog& catalog, const PeerQuery& query, TimeStacks& stacks)
      : catalog_(catalog), query_(query), database_(database), stacks_(stacks), scope_(catalog, query.scope) {}

  Result<PeerTimes> run();

 private:
  using Descriptor = std::pair<ProcessRowId, std::int64_t>;
  void add(const SqlRow& row);
  void duplicate(const Descriptor& from, std::int64_t number);
  void forget(const Descriptor& descriptor, std::int64_t time);
  void transfer(Connection& connection, const Moved& moved);
  void end_exchange(const Connection& connection, Half half, const Moved& begun, const Moved& ended);
  void end_connection(const Connection& connection, std::int64_t time);
  PeerSum* sum_of(const Connection& connection, Half half, const Moved& write);
  void fail(const Error& error) { error_ = error_ ? error_ : error; }

  const Catalog& catalog_;
  const PeerQuery& query_;
  const store::Database& database_;
  TimeStacks& stacks_;
  Part scope_;
  PeerTimes found_;
  std::map<Descriptor, std::shared_ptr<Connection>> connections_;
  std::size_t numbers_ = 0;
  std::map<PeerKey, PeerSum> sums_;
  std::vector<PeerCall> calls_;  // like Catalog::kinds
  std::optional<Error> error_;
};

PeerSum* PeerReader::sum_of(const Connection& connection, Half half, const Moved& write) {
  auto stack = stacks_.find(write.stack);
  if (!stack) {
    fail(stack.error());
    return nullptr;
  }
  const Image* image = catalog_.images.find(write.image);
  // Clients have a port of their own each, servers one for all.
  std::string host = host_of_peer(connection.name);
  if (host.empty() && half == Half::kAnswers) host = host_of_earlier(connection.name);
  const std::string& peer = host.empty() ? connection.name : host;
  const std::string process = image == nullptr ? "?" : image->name;
  PeerSum& sum = sums_[{half, peer, process, (*stack)->trigger}];
  sum.line.peer = peer;
  sum.line.process = process;
  sum.line.at = (*stack)->trigger;
  sum.connections.insert(connection.number);
  sum.names.insert(connection.name);
  return &sum;
}

// The write's function is the one that says what was asked for, or answered.
void PeerReader::end_exchange(const Connection& connection, Half half, const Moved& begun, const Moved& ended) {
  const Moved& write = half == Half::kWaits ? begun : ended;
  const std::int64_t end = half == Half::kWaits ? ended.end_ns : ended.begin_ns;
  if (!write.counted || !scope_.has(end)) return;
  if (PeerSum* sum = sum_of(connection, half, write))
    sum->line.times.add(static_cast<std::uint64_t>(std::max<std::int64_t>(0, difference(end, begun.end_ns))));
}

void PeerReader::end_connection(const Connection& connection, std::int64_t time) {
  if (connection.half != Half::kWaits || !connection.last || !connection.last->writes) return;
  if (!connection.last->counted || !scope_.has(connection.last->end_ns)) return;
  PeerSum* sum = sum_of(connection, Half::kWaits, *connection.last);
  if (sum == nullptr) return;
  sum->line.unfinished++;
  sum->line.unfinished_ns +=
      static_cast<std::uint64_t>(std::max<std::int64_t>(0, difference(time, connection.last->end_ns)));
}

void PeerReader::transfer(Connection& connection, const Moved& moved) {
  found_.transfers++;
  if (!connection.half) connection.half = moved.writes ? Half::kWaits : Half::kAnswers;
  const bool begins = moved.writes == (*connection.half == Half::kWaits);
  if (!begins && connection.last) {
    end_exchange(connection, *connection.half, *connection.last, moved);
    connection.last.reset();
  } else if (begins) {
    connection.last = moved;
  }
}

void PeerReader::duplicate(const Descriptor& from, std::int64_t number) {
  std::shared_ptr<Connection>& connection = connections_[from];
  if (!connection) connection = std::make_shared<Connection>();
  connections_[{from.first, number}] = connection;
}

void PeerReader::forget(const Descriptor& descriptor, std::int64_t time) {
  const auto at = connections_.find(descriptor);
  if (at == connections_.end()) return;
  if (at->second.use_count() == 1) end_connection(*at->second, time);
  connections_.erase(at);
}

void PeerReader::add(const SqlRow& row) {
  const Thread* thread = catalog_.threads.find(ThreadRowId(row.integer(0)));
  const Kind* kind = catalog_.kinds.find(KindRowId(row.integer(1)));
  if (thread == nullptr || kind == nullptr || error_) return;
  const PeerCall& call = calls_[catalog_.kinds.index_of(*kind)];
  const std::int64_t ts = row.integer(2);
  const std::int64_t end = return_of(ts, row.maybe_integer(3).value_or(0));
  const auto result = row.maybe_integer(4);
  const Descriptor first{thread->process_id, argument(row, 0)};
  if (call.does == Does::kClose || call.does == Does::kConnect) return forget(first, end);
  if (!result) return;
  if (call.does == Does::kAccept && *result >= 0) return forget({thread->process_id, *result}, end);
  if (call.does == Does::kDuplicate && *result >= 0 && duplicates(*kind, row)) {
    if (first.second != *result) forget({thread->process_id, *result}, end);
    return duplicate(first, *result);
  }
  if (call.does != Does::kTransfer || row.is_null(kName)) return;
  // What brings nothing ends no exchange; the end of what the peer sends does.
  constexpr std::int64_t kPeek = 2;
  const bool peeks = call.flags >= 0 && (argument(row, call.flags) & kPeek) != 0;
  if (peeks || !(*result > 0 || (*result == 0 && call.transfer.reads))) return;
  const int place = std::max(call.transfer.target, 0);
  const Descriptor descriptor{thread->process_id, argument(row, std::min(place, 2))};
  std::shared_ptr<Connection>& connection = connections_[descriptor];
  std::string name = text(row, kName);
  if (!connection) connection = std::make_shared<Connection>();
  if (has_no_peer(name) || connection->unconnected) {
    found_.unconnected += connection->unconnected ? 0 : 1;
    connection->unconnected = true;
    connection->last.reset();
    return;
  }
  if (connection->name != name) {
    if (!connection->name.empty()) {
      forget(descriptor, end);
      connections_[descriptor] = std::make_shared<Connection>();
    }
    Connection& anew = *connections_[descriptor];
    anew.number = ++numbers_;
    if (is_connected(name)) anew.half = Half::kWaits;
    if (is_accepted(name)) anew.half = Half::kAnswers;
    anew.name = std::move(name);
  }
  transfer(*connections_[descriptor], {.begin_ns = ts,
                                       .end_ns = end,
                                       .writes = call.transfer.writes,
                                       .counted = scope_.chooses(*thread, ts),
                                       .stack = StackRowId(row.integer(5)),
                                       .image = ImageRowId(row.integer(6))});
}

Result<PeerTimes> PeerReader::run() {
  for (const Kind& kind : catalog_.kinds) calls_.push_back(call_of(kind));
  std::string kinds;
  for (const Kind& kind : catalog_.kinds)
    if (calls_[catalog_.kinds.index_of(kind)].does != Does::kNothing)
      kinds += (kinds.empty() ? "" : ",") + to_string(kind.id);
  auto done = each_row(database_, fmt::format(fmt::runtime(kTransfers), kinds), [&](const SqlRow& row) { add(row); });
  if (!done) return done.error();
  while (!connections_.empty()) forget(connections_.begin()->first, catalog_.end_ns);
  if (error_) return *error_;
  std::vector<PeerTime> waits;
  std::vector<PeerTime> answers;
  for (auto& [key, sum] : sums_) {
    sum.line.connections = sum.connections.size();
    sum.line.peers = sum.names.size();
    if (sum.line.peers == 1) sum.line.peer = *sum.names.begin();
    (std::get<0>(key) == Half::kWaits ? waits : answers).push_back(std::move(sum.line));
  }
  const auto longer = [](const PeerTime& a, const PeerTime& b) {
    const auto all = [](const PeerTime& line) { return line.times.total() + line.unfinished_ns; };
    return std::tuple(all(b), a.peer, a.process, a.at) < std::tuple(all(a), b.peer, b.process, b.at);
  };
  found_.waits = top(std::move(waits), query_.lines, longer);
  found_.answers = top(std::move(answers), query_.lines, longer);
  for (const Process& process : catalog_.processes) found_.uring_processes += process.uses_io_uring ? 1 : 0;
  return std::move(found_);
}

}  // namespace

Result<PeerTimes> read_peer_times(const store::Database& database, const Catalog& catalog, const PeerQuery& query) {
  auto stacks = TimeStacks::create(database);
  if (!stacks) return stacks.error();
  return PeerReader(database, catalog, query, *stacks).run();
}

}  // namespace uscope::analyzer
