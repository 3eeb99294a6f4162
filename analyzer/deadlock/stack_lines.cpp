// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/deadlock/stack_lines.h"

#include "analyzer/deadlock/generated_code.h"
#include "support/text.h"

namespace uscope::analyzer {

Result<StackLineReader> StackLineReader::create(const store::Database& database) {
  auto stacks = StackReader::create(database);
  if (!stacks) return stacks.error();
  return StackLineReader(std::move(*stacks));
}

Result<StackLines> StackLineReader::lines(std::optional<StackRowId> id) {
  constexpr std::size_t kMost = 512;
  if (!id) return StackLines{};
  const auto frames = stacks_.frames(*id);
  if (!frames) return frames.error();
  StackLines lines;
  for (const StackFrame& frame : **frames)
    if (!frame.kernel && lines.size() < kMost)
      lines.push_back({frame.function, std::string(base_name(frame.module)), frame.app, frame.file, frame.line});
  mark_generated_code(lines);
  return lines;
}

}  // namespace uscope::analyzer
