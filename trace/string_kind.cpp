// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/string_kind.h"

#include <array>

namespace uscope::trace {
namespace {

struct Kind {
  StringHolds holds;
  bool by_kernel;
};

constexpr std::array kKinds{
#define USC_X(name, text, letters, at_entry, by_kernel, holds, on_demand, meaning) \
  Kind{StringHolds::holds, (by_kernel) != 0},
#include "uscope/lists/string_kind.def"
#undef USC_X
};

}  // namespace

StringHolds string_holds(std::uint32_t kind) {
  return kind < kKinds.size() ? kKinds[kind].holds : StringHolds::NOTHING;
}

bool is_content(std::uint32_t kind) {
  const StringHolds holds = string_holds(kind);
  return holds == StringHolds::DATA || holds == StringHolds::VECTOR || holds == StringHolds::STRUCTURE ||
         holds == StringHolds::MESSAGES;
}

bool is_from_kernel(std::uint32_t kind) {
  return kind < kKinds.size() && kKinds[kind].by_kernel;
}

}  // namespace uscope::trace
