// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The search for running processes by name (--app), and which names come near one that no process has.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "trace/process_names.h"

namespace uscope::tracer {

// A name that no running process has.
struct MissingName {
  std::string name;
  std::vector<std::pair<std::string, std::uint32_t>> near;  // similar names of running processes, with a pid; at most 3
};

class NameSearch {
 public:
  explicit NameSearch(const std::vector<std::string>& wanted);

  // Takes a running process; returns whether it goes by one of the names.
  bool take(std::uint32_t pid, const trace::ProcessNames& names);

  // The names that no process had which was taken.
  [[nodiscard]] std::vector<MissingName> missing() const;

 private:
  struct Wanted {
    std::string name;
    bool found = false;
  };
  std::vector<Wanted> wanted_;
  std::vector<std::pair<std::string, std::uint32_t>> running_;  // every name of every process
};

}  // namespace uscope::tracer
