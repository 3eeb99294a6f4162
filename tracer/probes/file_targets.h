// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What targets mean in a file that a traced process maps while tracing goes on: one that was put in the place of
// another one, or a library that is loaded late.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "support/result.h"
#include "tracer/probes/probe_plan.h"

namespace uscope::tracer {

class FileTargets {
 public:
  virtual ~FileTargets() = default;
  // Whether a target means a file of this path, as the process that maps it sees it, by the path alone.
  [[nodiscard]] virtual bool means(const std::string& path) const = 0;
  // Paths that targets name: each means what it leads to, by whatever path that is mapped.
  [[nodiscard]] virtual std::vector<std::string> paths() const = 0;
  // Looks for targets in an open file; never before the last search has ended.
  virtual Result<void> begin(int fd, const std::string& path) = 0;
  // The probes that were found, with their kinds: those of the plan, and new ones. Nothing: there is no answer yet.
  virtual std::optional<std::vector<Probe>> poll() = 0;
};

}  // namespace uscope::tracer
