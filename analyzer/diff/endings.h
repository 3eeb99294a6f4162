// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How the processes of a program ended on one side and on the other: with which exit status, or by which signal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/diff/run_facts.h"

namespace uscope::analyzer {

struct EndedProcesses {
  std::uint64_t ended = 0;      // processes of the program that ended so
  std::uint64_t processes = 0;  // of the program
  std::size_t runs = 0;         // that have such a process
};

struct ChangedEnding {
  Ending ending;
  EndedProcesses normal;
  EndedProcesses abnormal;
};

// Endings that only one side has, and those whose share of the program's processes has shifted as a cell's share of
// errors must (kLeastFactor, kLeastEvents). Programs that ran on one side only are left out. First what abnormal runs
// have more of, signals before failures.
[[nodiscard]] std::vector<ChangedEnding> compare_endings(const std::vector<RunFacts>& normal,
                                                         const std::vector<RunFacts>& abnormal);

}  // namespace uscope::analyzer
