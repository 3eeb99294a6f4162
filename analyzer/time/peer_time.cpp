// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One pass over the events by time. A connection is a descriptor of a process for as long as it has one name: what is
// closed, or connected anew, begins anew.
#include "analyzer/time/peer_time.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/read/peer_name.h"
#include "analyzer/read/process_filter.h"
#include "analyzer/read/query.h"
#include "analyzer/time/time_scope.h"
#include "syscalls/call_traits.h"

namespace uscope::analyzer {
namespace {

constexpr std::string_view kTransfers =
    "SELECT e.thread_id, e.kind_id, e.ts_ns, e.dur_ns, e.result, e.stack_id, e.a0, e.image_id, o.name "
    "FROM event e LEFT JOIN object o ON o.id = e.object_id AND o.kind IN ('inet', 'inet6', 'unix', 'vsock', 'socket') ";

// What a call does to a connection.
enum class Does { kNothing, kTransfer, kConnect, kAccept, kClose };

struct PeerCall {
  Does does = Does::kNothing;
  syscalls::Transfer transfer;
};

PeerCall call_of(const Kind& kind) {
  if (!kind.is_call()) return {};
  const syscalls::Transfer transfer = syscalls::transfer_of(kind.name);
  if (transfer.reads || transfer.writes) return {Does::kTransfer, transfer};
  if (kind.name == "connect") return {Does::kConnect, {}};
  if (kind.name == "close") return {Does::kClose, {}};
  if (kind.name == "accept" || kind.name == "accept4") return {Does::kAccept, {}};
  return {};
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

struct Connection {
  std::string name;
  std::optional<Half> half;   // that is somebody's wait
  std::optional<Moved> last;  // in that half the transfer that began it
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
  void add(const SqlRow& row);
  void transfer(Connection& connection, const Moved& moved);
  void end_exchange(const Connection& connection, Half half, const Moved& begun, const Moved& ended);
  void end_connection(const Connection& connection, std::int64_t time);
  PeerSum* sum_of(const Connection& connection, Half half, const Moved& write);
  void fail(const Error& error) { error_ = error_ ? error_ : error; }

  const Catalog& catalog_;
  const PeerQuery& query_;
  const store::Database& database_;
  TimeStacks& stacks_;
  TimeScope scope_;
  PeerTimes found_;
  std::map<std::pair<ProcessRowId, std::int64_t>, Connection> connections_;
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

void PeerReader::add(const SqlRow& row) {
  const Thread* thread = catalog_.threads.find(ThreadRowId(row.integer(0)));
  const Kind* kind = catalog_.kinds.find(KindRowId(row.integer(1)));
  if (thread == nullptr || kind == nullptr || error_) return;
  const PeerCall& call = calls_[catalog_.kinds.index_of(*kind)];
  const std::int64_t ts = row.integer(2);
  const auto result = row.maybe_integer(4);
  const std::pair<ProcessRowId, std::int64_t> key{thread->process_id, row.integer(6)};
  if (call.does == Does::kClose || call.does == Does::kConnect) {
    const auto at = connections_.find(key);
    if (at == connections_.end()) return;
    end_connection(at->second, ts);
    connections_.erase(at);
    return;
  }
  if (call.does == Does::kAccept) {
    if (result && *result >= 0) connections_.erase({thread->process_id, *result});
    return;
  }
  if (call.does != Does::kTransfer || row.is_null(8)) return;
  // What brings nothing ends no exchange; the end of what the peer sends does.
  const bool moves = result && (*result > 0 || (*result == 0 && call.transfer.reads));
  if (!moves) return;
  Connection& connection = connections_[key];
  if (std::string name = text(row, 8); connection.name != name) {
    end_connection(connection, ts);
    connection = {.name = std::move(name), .half = {}, .last = {}, .number = ++numbers_};
    if (is_connected(connection.name)) connection.half = Half::kWaits;
    if (is_accepted(connection.name)) connection.half = Half::kAnswers;
  }
  transfer(connection, {.begin_ns = ts,
                        .end_ns = ts + row.maybe_integer(3).value_or(0),
                        .writes = call.transfer.writes,
                        .counted = scope_.has(*thread),
                        .stack = StackRowId(row.integer(5)),
                        .image = ImageRowId(row.integer(7))});
}

Result<PeerTimes> PeerReader::run() {
  for (const Kind& kind : catalog_.kinds) calls_.push_back(call_of(kind));
  auto done =
      each_row(database_, std::string(kTransfers) + "ORDER BY e.ts_ns, e.id", [&](const SqlRow& row) { add(row); });
  if (!done) return done.error();
  for (const auto& [key, connection] : connections_) end_connection(connection, catalog_.end_ns);
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
