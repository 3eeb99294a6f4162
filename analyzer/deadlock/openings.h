// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How a process came to a descriptor: the call that made it, and the calls that handed it on since (dup, fork).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/deadlock/stack_lines.h"
#include "analyzer/read/row_ids.h"
#include "store/db/database.h"
#include "store/db/statement.h"
#include "support/result.h"

namespace uscope::analyzer {

struct OpeningStep {
  std::string call;  // "pipe2", "dup2", "clone"
  std::int64_t pid = 0;
  std::int64_t tid = 0;
  std::int64_t fd = -1;  // the descriptor that it gave; -1: a fork, whose child got all descriptors
  std::int64_t ts_ns = 0;
  StackLines stack;
};

struct Opening {
  ProcessRowId process_id;
  std::int64_t pid = 0;
  std::string process;  // base name of the program; empty: unknown
  std::int64_t fd = 0;
  std::string object;  // "pipe:[4711]"; names in it may hold any byte
  std::vector<OpeningStep> steps;
};

class OpeningSearch {
 public:
  static Result<OpeningSearch> open(const store::Database& database);

  // Of a descriptor that is open at the end of the trace, oldest step first. Empty if not all of it is in the trace:
  // the descriptor was there before, or may have come in a message. The trace must have all calls.
  Result<std::vector<OpeningStep>> steps_of(ProcessRowId process, std::int64_t fd);

 private:
  struct Place {
    ProcessRowId process;
    std::int64_t fd = 0;
    std::int64_t until_ns = 0;
  };

  OpeningSearch(StackLineReader stacks, store::Statement openers, store::Statement losers, store::Statement forks)
      : stacks_(std::move(stacks)),
        openers_(std::move(openers)),
        losers_(std::move(losers)),
        forks_(std::move(forks)) {}

  // The last row of a bound statement; `rest` takes the columns from 5 on.
  Result<std::optional<OpeningStep>> read_step(store::Statement& bound,
                                               const std::function<void(const store::Statement&)>& rest);
  Result<std::optional<OpeningStep>> opener(const Place& place, std::optional<std::int64_t>* copied);
  Result<std::optional<OpeningStep>> fork(Place& place);
  Result<bool> lost_since(const Place& place, std::int64_t from_ns);

  StackLineReader stacks_;
  store::Statement openers_;
  store::Statement losers_;
  store::Statement forks_;
};

}  // namespace uscope::analyzer
