// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Names of frames that are found once, for a process that loads one trace after the other.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "symbolizer/names/frame_namer.h"

namespace uscope::query {

class KeptNames : public symbolizer::FrameNamer {
 public:
  explicit KeptNames(std::unique_ptr<symbolizer::FrameNamer> namer) : namer_(std::move(namer)) {}

  symbolizer::ModuleState state_of(const symbolizer::ModuleRequest& module) override {
    return namer_->state_of(module);
  }
  std::vector<symbolizer::NamedFrame> name(const symbolizer::ModuleRequest& module, std::uint64_t address,
                                           bool exact) override {
    const Place place{module.file, address, exact};
    if (const auto known = names_.find(place); known != names_.end()) return known->second;
    // Code is limited, but what programs load in weeks is not.
    constexpr std::size_t kMostNames = 1'000'000;
    if (names_.size() >= kMostNames) names_.clear();
    return names_.emplace(place, namer_->name(module, address, exact)).first->second;
  }
  void close_files() override { namer_->close_files(); }

 private:
  using Place = std::tuple<trace::FileId, std::uint64_t, bool>;

  std::unique_ptr<symbolizer::FrameNamer> namer_;
  std::map<Place, std::vector<symbolizer::NamedFrame>> names_;
};

}  // namespace uscope::query
