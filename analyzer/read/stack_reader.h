// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Stacks as rows of frames.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/read/row_ids.h"
#include "store/db/database.h"
#include "support/result.h"

namespace uscope::analyzer {

struct StackFrame {
  std::int64_t position = 0;  // 0 = innermost
  std::int64_t inline_depth = 0;
  bool kernel = false;
  bool inlined = false;
  bool app = false;    // its module is the application's
  std::string module;  // path
  std::string function;
  std::int64_t function_offset = 0;
  std::int64_t rel_pc = 0;
  std::string file;
  std::int64_t line = 0;  // 0 = unknown
};

// Reads stacks by id and caches the most used ones.
class StackReader {
 public:
  static Result<StackReader> create(const store::Database& database);
  StackReader(StackReader&&) noexcept;
  StackReader& operator=(StackReader&&) noexcept;
  ~StackReader();

  // Innermost first. The pointer is valid until the next call.
  [[nodiscard]] Result<const std::vector<StackFrame>*> frames(StackRowId stack_id);

 private:
  struct State;
  explicit StackReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace uscope::analyzer
