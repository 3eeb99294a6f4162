// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Targets in programs and libraries: reads these files in this process.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "support/regular_file.h"
#include "support/unique_fd.h"
#include "symbolizer/probes/file_probes.h"
#include "tracer/targets/application_files.h"
#include "tracer/targets/target.h"
#include "tracer/targets/target_search.h"

namespace uscope::tracer {

class BinarySearch {
 public:
  // `may_use_nop5`: whether a uprobe may stand on a nop of five bytes.
  BinarySearch(std::vector<ApplicationFile> files, bool with_arguments, bool may_use_nop5)
      : files_(std::move(files)), with_arguments_(with_arguments), may_use_nop5_(may_use_nop5) {}

  // For targets of the classes usdt and ufunction.
  [[nodiscard]] TargetAnswer find(const Target& target);
  // In the files of the application alone, without a word on what was not found.
  [[nodiscard]] TargetAnswer find_in_files(const Target& target);

 private:
  struct Open {
    UniqueFd fd;
    FileIdentity id;
    Result<std::unique_ptr<symbolizer::ProbedFile>> file = Error{};
  };
  Open& open(const ApplicationFile& file);
  TargetAnswer find_in(const Target& target, const std::vector<const ApplicationFile*>& files);
  [[nodiscard]] std::vector<const ApplicationFile*> files_for(const Target& target);
  [[nodiscard]] Error no_file(const Target& target) const;
  [[nodiscard]] Error no_name(const Target& target, const std::vector<const ApplicationFile*>& files);

  std::vector<ApplicationFile> files_;
  std::vector<std::unique_ptr<ApplicationFile>> named_;  // beside those of the application
  bool with_arguments_;
  bool may_use_nop5_;
  std::unordered_map<std::string, Open> open_;  // by path
};

}  // namespace uscope::tracer
