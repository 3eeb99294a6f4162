// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// FileTargets of a recording's targets. Files are read in a child process without privileges, like those before
// tracing, and nobody waits for it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/process/child_work.h"
#include "support/unique_fd.h"
#include "tracer/probes/file_targets.h"
#include "tracer/targets/target.h"
#include "tracer/targets/target_search.h"

namespace uscope::tracer {

class MetFiles final : public FileTargets {
 public:
  // `plan`: what was found before tracing.
  MetFiles(std::vector<Target> targets, const TargetSearch& search, const ProbePlan& plan);

  [[nodiscard]] bool means(const std::string& path) const override;
  [[nodiscard]] std::vector<std::string> paths() const override;
  Result<void> begin(int fd, const std::string& path) override;
  std::optional<std::vector<Probe>> poll() override;

 private:
  std::vector<Probe> take_probes(const std::string& bytes);

  std::vector<Target> targets_;  // in files
  bool with_arguments_;
  bool may_use_nop5_;
  // Numbers of kinds, by source and what must be equal in one kind.
  std::map<std::pair<std::uint8_t, std::string>, std::uint32_t> kinds_;
  std::map<std::uint8_t, std::uint32_t> last_kind_;
  std::optional<ChildWork> child_;
  UniqueFd answer_;
  std::string bytes_;
  std::string path_;
};

}  // namespace uscope::tracer
