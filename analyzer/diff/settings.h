// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// In which settings the runs of the two sides took place: user, working directory, limits, environment.
//
// A setting has changed if no run of one side has the value that a run of the other has. Of variables whose values are
// not kept, that they are there is compared: in all runs of one side, and in no run of the other. Of a run with several
// processes at its beginning (attached), a value is that of all of them.
#pragma once

#include <string>
#include <vector>

#include "analyzer/diff/run_facts.h"

namespace uscope::analyzer {

struct ChangedSetting {
  enum class What { kUser, kGroup, kFolder, kLimit, kVariable, kVariables };
  What what = What::kUser;
  std::string name;                     // kLimit: "NOFILE"; kVariable: its name
  std::vector<std::string> normal{};    // values, each once; kVariables: names that only normal runs have
  std::vector<std::string> abnormal{};  // empty, of one variable: it is not set
};

// "uid", "gid", "working directory", "limit NOFILE", "variable PATH", "environment".
[[nodiscard]] std::string setting_name(const ChangedSetting& change);

// Nothing if a run's settings are not known.
[[nodiscard]] std::vector<ChangedSetting> compare_settings(const std::vector<RunFacts>& normal,
                                                           const std::vector<RunFacts>& abnormal);

}  // namespace uscope::analyzer
