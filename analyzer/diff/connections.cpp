// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/diff/connections.h"

#include <cerrno>

#include "analyzer/diff/cell_example.h"
#include "analyzer/read/query.h"

namespace uscope::analyzer {
namespace {

// The fate of a descriptor: the thread's first call that closes it, or that transfers bytes.
constexpr std::string_view kFate =
    "SELECT k.name FROM (SELECT kind_id, a0, result FROM event WHERE thread_id = ?1 AND ts_ns > ?2 "
    "ORDER BY ts_ns LIMIT 2000) e JOIN kind k ON k.id = e.kind_id WHERE k.class = 'syscall' AND e.a0 = ?3 AND (k.name "
    "= 'close' OR "
    "(e.result >= 0 AND k.name IN ('write', 'writev', 'send', 'sendto', 'sendmsg', 'sendmmsg', 'sendfile', 'splice', "
    "'read', 'readv', 'recv', 'recvfrom', 'recvmsg', 'recvmmsg'))) LIMIT 1";

Result<void> look_at(const store::Database& database, CellLookup& lookup, Cell& cell) {
  auto events = lookup.events({.cell = &cell, .error = EINPROGRESS});
  if (!events) return events.error();
  auto begun = database.prepare("SELECT thread_id, ts_ns, a0 FROM event WHERE id = ?1");
  if (!begun) return begun.error();
  auto fate = database.prepare(kFate);
  if (!fate) return fate.error();
  for (const SampledEvent& event : *events) {
    begun->bind(1, event.id);
    bool closed = false;
    Result<void> inner;
    auto done = each(*begun, [&](const SqlRow& row) {
      for (int column = 0; column < 3; column++) fate->bind(column + 1, row.integer(column));
      inner = each(*fate, [&](const SqlRow& end) { closed = end.text(0) == "close"; });
    });
    if (!done) return done;
    if (!inner) return inner;
    if (closed) cell.unconnected.push_back(event.id);
  }
  if (cell.unconnected.empty()) return {};
  cell.errnos[kUnconnected] = {cell.unconnected.size(), cell.unconnected.front()};
  return {};
}

}  // namespace

Result<void> find_unconnected(const store::Database& database, const RunFacts& facts, Matrix& matrix) {
  CellLookup lookup(database, facts);
  for (auto& [key, cell] : matrix.cells) {
    const bool connects = key.kind == "connect" || key.kind.ends_with(":connect");
    if (!connects || cell.errnos.count(EINPROGRESS) == 0) continue;
    if (auto done = look_at(database, lookup, cell); !done) return done;
  }
  return {};
}

}  // namespace uscope::analyzer
