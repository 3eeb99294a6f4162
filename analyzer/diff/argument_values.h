// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Flags, commands and numbers that calls were given: O_SYNC of an open, TCP_NODELAY of a setsockopt, the backlog of a
// listen. A cell may make as many calls as before, of the same length, and yet ask for something else.
//
// A flag or command has changed if calls of all runs of one side have it, and no call of the other side's runs. A
// number (an int without names) has changed if all calls of a run have one of at most kMostNumbers values, and every
// value of one side is at least kLeastFactor times every value of the other, or of the other sign; numbers of the run's
// own tasks are none. Calls that wait are not compared: what they ask for depends on who comes first. The first
// kMostExamined calls of a run that have such arguments are examined.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/diff/matrix.h"
#include "analyzer/diff/run_facts.h"
#include "store/db/database.h"
#include "support/result.h"

namespace uscope::analyzer {

constexpr std::uint64_t kMostExamined = 200'000;
constexpr std::size_t kMostNumbers = 3;

// A flag or command of one cell's calls.
struct NamedValue {
  std::uint64_t calls = 0;
  EventRowId first_event_id{};
};

struct CellArguments {
  std::uint64_t calls = 0;                                          // examined
  std::map<std::pair<std::size_t, std::string>, NamedValue> names;  // by argument, from 0, and name
  std::map<std::size_t, std::set<std::int64_t>> numbers;            // by argument
  std::set<std::size_t> varied;                                     // arguments of too many numbers
};

struct RunArguments {
  std::map<CellKey, CellArguments> cells;
  bool is_cut = false;  // there were more than kMostExamined calls
};

struct ArgumentCalls {
  std::uint64_t calls = 0;     // that have the flag
  std::uint64_t examined = 0;  // of the cell
};

struct ChangedArgument {
  CellKey key;
  std::size_t arg = 0;  // from 0
  std::string name{};   // "O_SYNC"; empty: it is a number
  ArgumentCalls normal{};
  ArgumentCalls abnormal{};
  std::vector<std::int64_t> numbers_before{};
  std::vector<std::int64_t> numbers_after{};
  std::string file{};  // of a flag: the run with its first call, the call, and what that is about
  EventRowId event_id{};
  std::vector<std::string> objects{};
};

[[nodiscard]] Result<RunArguments> read_arguments(const store::Database& database, const RunFacts& facts,
                                                  const MatrixBy& by, const ModuleNames& names,
                                                  const OffsetTrust& trust);

// Those of cells that both sides have: first flags of abnormal runs, by the share of calls. Without `file` and
// `objects`; `event_id` is that of the first run with the flag.
[[nodiscard]] std::vector<ChangedArgument> compare_arguments(const std::vector<RunArguments>& normal,
                                                             const std::vector<RunArguments>& abnormal);

// The flags and commands of a cell's calls in these runs, most calls first.
[[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> flags_of_cell(const std::vector<RunArguments>& runs,
                                                                               const CellKey& key);

}  // namespace uscope::analyzer
