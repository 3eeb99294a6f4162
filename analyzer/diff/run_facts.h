// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The facts that decide whether two runs' calls can be compared: how the runs were traced, for how long, and what is
// missing.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analyzer/diff/identity.h"
#include "store/db/database.h"
#include "support/result.h"
#include "trace/process_setting.h"

namespace uscope::analyzer {

struct RunLoss {
  std::string cause;
  std::uint64_t count = 0;
};

// How processes of one program ended; without both numbers they were running when tracing ended.
struct Ending {
  std::string program;  // name of the last image
  std::optional<std::int64_t> exit_code{};
  std::optional<std::int64_t> exit_signal{};

  friend auto operator<=>(const Ending&,
                          const Ending&) = default;  // NOLINT(modernize-use-nullptr): of what the compiler makes
};

struct RunFacts {
  std::string file;                         // as the user named it
  std::int32_t schema = 0;                  // of the database
  std::string lacks;                        // what an older one does not tell (store::lacking_text)
  std::map<std::string, std::string> meta;  // copy of the meta table
  std::int64_t start_ns = 0;                // CLOCK_MONOTONIC
  std::int64_t duration_ns = 0;
  std::uint64_t events = 0;
  bool complete = true;            // tracing ended in an orderly way
  std::uint64_t lost = 0;          // events that are missing
  std::vector<RunLoss> losses;     // all causes that change what is compared, largest first
  std::set<std::string> programs;  // names of all images
  bool uses_io_uring = false;
  std::map<Ending, std::uint64_t> endings;      // processes, by how they ended
  TaskNumbers tasks;                            // of all its processes and threads, in each namespace
  std::vector<trace::ProcessSetting> settings;  // of the command, or of those that it attached to; empty: not known
};

[[nodiscard]] Result<RunFacts> read_run_facts(const store::Database& database);

// Reasons to doubt a comparison, and facts to know before reading it; one sentence each.
[[nodiscard]] std::vector<std::string> comparison_warnings(const std::vector<RunFacts>& normal,
                                                           const std::vector<RunFacts>& abnormal);

}  // namespace uscope::analyzer
