// Where a verb's result goes, and how wide it may be.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string_view>

#include "support/result.h"

namespace uscope::cli {

enum class Format { kText, kJson };

// Writes to a stdio stream and remembers whether that failed (a full disk).
class Output {
 public:
  explicit Output(std::FILE* stream) : stream_(stream) {}

  void write(std::string_view text);

  // Flushes; an error where anything did not reach the stream.
  [[nodiscard]] Result<void> finish();

 private:
  std::FILE* stream_;
  int error_ = 0;
};

// "uscope: WHAT" and, on a line of its own, the remedy, to stderr. They may hold names from a traced program.
void print_error(const Error& error);

constexpr std::size_t kPlainWidth = 110;  // columns of text that does not go to a terminal

// Columns of the terminal behind a stream, at least 80; kPlainWidth where it is none.
[[nodiscard]] std::size_t text_width(std::FILE* stream);

}  // namespace uscope::cli
