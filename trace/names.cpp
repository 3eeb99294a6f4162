// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/names.h"

#include <array>

namespace uscope::trace {
namespace {

static_assert(USC_ABI_X86_64 == 0 && USC_ABI_I386 == 1 && USC_ABI_X32 == 2, "the order of kAbis");
constexpr std::array<std::string_view, 3> kAbis{"x86_64", "i386", "x32"};

constexpr std::array<std::string_view, USC_HOW_COUNT> kHows{
#define USC_X(constant, name, meaning) name,
#include "uscope/lists/how.def"
#undef USC_X
};

constexpr std::array kBrokenNames{
#define USC_X(constant, name, meaning) name,
#include "uscope/lists/unwind_error.def"
#undef USC_X
};

constexpr std::array<std::string_view, USC_FILE_STATE_COUNT> kFileStates{
#define USC_X(constant, name, meaning) name,
#include "uscope/lists/file_state.def"
#undef USC_X
};

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

std::string_view source_name(std::uint32_t source) {
  return source < kSources.size() ? kSources[source] : "";
}

std::string unnamed_kind(std::uint32_t source, std::uint32_t kind) {
  return std::string(source < kUnnamed.size() ? kUnnamed[source] : "unknown") + "_" + std::to_string(kind);
}

std::string_view how_name(std::uint32_t how) {
  return how < kHows.size() ? kHows[how] : "";
}

std::string_view mode_name(std::uint32_t mode) {
  return mode >= 1 && mode <= kModes ? kModeNames[mode - 1] : "";
}

std::string ended_text(std::uint8_t ended) {
  switch (ended) {
    case USC_ENDED_ROOT:
      return "root";
    case USC_ENDED_BUDGET:
      return "budget";
    case USC_ENDED_SCOPE:
      return "scope";
    default:
      break;
  }
  const std::size_t reason = ended - USC_ENDED_BROKEN;
  return "broken:" + (reason < kBrokenNames.size() ? std::string(kBrokenNames[reason]) : std::to_string(reason));
}

std::string_view file_state_name(std::uint32_t state) {
  return state < kFileStates.size() ? kFileStates[state] : "";
}

}  // namespace uscope::trace
