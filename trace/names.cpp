// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/names.h"

#include <algorithm>
#include <array>

namespace uscope::trace {
namespace {

constexpr std::array<std::string_view, USC_ABI_COUNT> kAbis{
#define USC_X(constant, name, meaning) name,
#include "uscope/lists/abi.def"
#undef USC_X
};

constexpr std::array<std::string_view, USC_HOW_COUNT> kHows{
#define USC_X(constant, name, meaning) name,
#include "uscope/lists/how.def"
#undef USC_X
};

constexpr std::array<std::string_view, USC_ENDED_BROKEN> kEnds{
#define USC_X(constant, name, meaning) name,
#include "uscope/lists/ended.def"
#undef USC_X
};

constexpr std::array<std::string_view, USC_BROKEN_COUNT> kBrokenNames{
#define USC_X(constant, name, meaning) name,
#include "uscope/lists/unwind_error.def"
#undef USC_X
};

constexpr std::array<std::string_view, USC_FILE_STATE_COUNT> kFileStates{
#define USC_X(constant, name, meaning) name,
#include "uscope/lists/file_state.def"
#undef USC_X
};

struct DeferReason {
  std::string_view name;
  bool counted;
};

constexpr std::array<DeferReason, USC_DEFER_COUNT> kDeferReasons{{
#define USC_X(constant, name, counted, meaning) {name, (counted) != 0},
#include "uscope/lists/defer_reason.def"
#undef USC_X
}};

constexpr std::array<std::string_view, USC_SOURCE_COUNT> kSources{
#define USC_X(constant, name, unnamed, meaning) name,
#include "uscope/lists/source.def"
#undef USC_X
};

constexpr std::array<std::string_view, USC_SOURCE_COUNT> kUnnamed{
#define USC_X(constant, name, unnamed, meaning) unnamed,
#include "uscope/lists/source.def"
#undef USC_X
};

constexpr std::array<std::string_view, kModes> kModeNames{"app-last", "app-all", "all-last", "all-all"};

}  // namespace

std::string_view abi_name(std::uint32_t abi) {
  return abi < kAbis.size() ? kAbis[abi] : "";
}

bool is_native_abi(std::string_view name) {
  return name == abi_name(USC_ABI_NATIVE);
}

std::optional<usc_abi> abi_of_name(std::string_view name) {
  const auto* const found = std::find(kAbis.begin(), kAbis.end(), name);
  if (found == kAbis.end()) return std::nullopt;
  return static_cast<usc_abi>(found - kAbis.begin());
}

std::string_view source_name(std::uint32_t source) {
  return source < kSources.size() ? kSources[source] : "";
}

std::string unnamed_kind(std::uint32_t source, std::uint32_t kind) {
  return std::string(source < kUnnamed.size() ? kUnnamed[source] : "unknown") + "_" + std::to_string(kind);
}

std::string_view how_name(std::uint32_t how) {
  return how < kHows.size() ? kHows[how] : "";
}

std::string ended_name(std::uint32_t ended) {
  if (ended < kEnds.size()) return std::string(kEnds[ended]);
  const std::size_t reason = ended - kEnds.size();
  return "broken:" + (reason < kBrokenNames.size() ? std::string(kBrokenNames[reason]) : std::to_string(reason));
}

std::string_view counted_defer_reason(std::uint32_t reason) {
  return reason < kDeferReasons.size() && kDeferReasons[reason].counted ? kDeferReasons[reason].name : "";
}

std::string_view mode_name(std::uint32_t mode) {
  return mode >= 1 && mode <= kModes ? kModeNames[mode - 1] : "";
}

std::string_view file_state_name(std::uint32_t state) {
  return state < kFileStates.size() ? kFileStates[state] : "";
}

}  // namespace uscope::trace
