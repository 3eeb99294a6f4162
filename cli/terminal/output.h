// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The output stream of a verb's result, and its width.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <string_view>

#include "cli/terminal/text_width.h"
#include "support/result.h"

namespace uscope::cli {

enum class Format { kText, kJson };

// Writes to a stdio stream and remembers whether that failed (a full disk).
class Output {
 public:
  explicit Output(std::FILE* stream) : stream_(stream) {}

  void write(std::string_view text);

  // Flushes. Returns an error if any output did not reach the stream, unless the user has quit the pager.
  [[nodiscard]] Result<void> finish();

  // Whether output failed because its reader has gone (`| head`).
  [[nodiscard]] bool has_no_reader() const { return error_ == EPIPE; }

 private:
  std::FILE* stream_;
  int error_ = 0;
};

// Prints "uscope: WHAT" and, on a line of its own, the remedy, to stderr. Both may hold names from a traced program. On
// a terminal, lines that are wider than it are broken at spaces.
void print_error(const Error& error);

constexpr std::size_t kPlainWidth = 110;  // columns, if the output is not a terminal

// Columns of the terminal behind a stream, at least 80; kPlainWidth, and nothing is cut, if it is not a terminal. And
// its colours.
[[nodiscard]] TextWidth text_width(std::FILE* stream);

}  // namespace uscope::cli
