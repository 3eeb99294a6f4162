// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The questions that uscope brings along: the files of query/ready, built into the program.
#pragma once

#include <span>
#include <string_view>

namespace uscope::cli {

struct ReadyQuestion {
  std::string_view name;   // the file's, without .sql
  std::string_view about;  // its first line, a comment
  std::string_view sql;    // the whole text
};

// By name.
[[nodiscard]] std::span<const ReadyQuestion> ready_questions();

}  // namespace uscope::cli
