// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/deadlock/stack_lines.h"

#include <map>

#include "analyzer/deadlock/generated_code.h"
#include "analyzer/read/query.h"
#include "support/text.h"

namespace uscope::analyzer {

Result<StackLineReader> StackLineReader::create(const store::Database& database) {
  auto stacks = StackReader::create(database);
  if (!stacks) return stacks.error();
  auto locks = database.prepare(
      "SELECT sf.position, l.address FROM stack_frame sf JOIN frame_lock l ON l.frame_id = sf.frame_id "
      "WHERE sf.stack_id = ?1 ORDER BY sf.position, l.address");
  if (!locks) return locks.error();
  return StackLineReader(std::move(*stacks), std::move(*locks));
}

Result<StackLines> StackLineReader::lines(std::optional<StackRowId> id) {
  constexpr std::size_t kMost = 512;
  if (!id) return StackLines{};
  const auto frames = stacks_.frames(*id);
  if (!frames) return frames.error();
  std::map<std::int64_t, std::vector<std::uint64_t>> locks;  // by the frame's position
  locks_.bind(1, *id);
  auto done = each(
      locks_, [&](const SqlRow& row) { locks[row.integer(0)].push_back(static_cast<std::uint64_t>(row.integer(1))); });
  if (!done) return done.error();
  StackLines lines;
  for (const StackFrame& frame : **frames) {
    if (frame.kernel || lines.size() >= kMost) continue;
    lines.push_back({frame.function, std::string(base_name(frame.module)), frame.app, frame.file, frame.line});
    if (const auto taken = locks.find(frame.position); taken != locks.end() && !frame.inlined)
      lines.back().locks = taken->second;
  }
  mark_generated_code(lines);
  return lines;
}

}  // namespace uscope::analyzer
