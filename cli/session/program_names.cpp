// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/session/program_names.h"

#include "support/text.h"

namespace uscope::cli {

void ProgramNames::define(trace::ImageId image, std::string_view bytes) {
  if (!image) return;
  const std::string name = trace_text(bytes);
  auto at = numbers_.find(name);
  if (at == numbers_.end()) {
    if (names_.size() >= most_) {
      is_full_ = true;
      return;
    }
    at = numbers_.emplace(name, static_cast<std::uint32_t>(names_.size() + 1)).first;
    names_.push_back(&at->first);
  }
  images_.insert(image, at->second);
}

void ProgramNames::inherit(trace::ProcessId process, trace::ImageId image) {
  if (process && image) first_.insert(process, image);
}

std::uint32_t ProgramNames::find(trace::ImageId image, trace::ProcessId process) const {
  if (!image) image = first_.find(process);
  return image ? images_.find(image) : 0;
}

const std::string& ProgramNames::of(trace::ImageId image, trace::ProcessId process) const {
  static const std::string kUnknown;
  const std::uint32_t number = find(image, process);
  return number == 0 ? kUnknown : *names_[number - 1];
}

bool ProgramNames::knows(trace::ImageId image, trace::ProcessId process) const {
  return find(image, process) != 0;
}

}  // namespace uscope::cli
