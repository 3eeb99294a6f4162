// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// User stacks of events, as diagnoses show them.
#pragma once

#include <optional>
#include <utility>

#include "analyzer/deadlock/futex_wait.h"
#include "analyzer/read/row_ids.h"
#include "analyzer/read/stack_reader.h"
#include "store/db/database.h"
#include "store/db/statement.h"
#include "support/result.h"

namespace uscope::analyzer {

class StackLineReader {
 public:
  static Result<StackLineReader> create(const store::Database& database);

  // At most 512 lines; none for nullopt.
  Result<StackLines> lines(std::optional<StackRowId> id);

 private:
  StackLineReader(StackReader stacks, store::Statement locks) : stacks_(std::move(stacks)), locks_(std::move(locks)) {}

  StackReader stacks_;
  store::Statement locks_;  // of the frames of a stack
};

}  // namespace uscope::analyzer
