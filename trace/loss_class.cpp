// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/loss_class.h"

#include <algorithm>
#include <array>

namespace uscope::trace {
namespace {

struct Cause {
  std::string_view name;
  std::string_view meaning;
  LossClass missing = LossClass::EVENTS;
};

// By number; a number that is not taken has no name.
constexpr auto kCauses = [] {
  std::array<Cause, USC_LOSS_COUNT + 1> causes{};
#define USC_X(constant, number, name, meaning, numbered, missing) causes[number] = {name, meaning, LossClass::missing};
#include "uscope/lists/loss.def"
#undef USC_X
  causes[USC_LOSS_COUNT] = {
      kFileChanged,
      "binaries that were changed or replaced after they were mapped: what they hold now is not what ran, and "
      "names nothing",
      LossClass::FACTS};
  return causes;
}();

struct Remedy {
  std::string_view cause;
  std::string_view text;
};

constexpr std::array kRemedies{
#define USC_X(cause, text) Remedy{cause, text},
#include "trace/loss_remedy.def"
#undef USC_X
};

struct Class {
  bool loses_events;
  bool counts_events;
};

constexpr std::array kClasses{
#define USC_X(name, loses_events, counts_events, meaning) Class{(loses_events) != 0, (counts_events) != 0},
#include "uscope/lists/loss_class.def"
#undef USC_X
};

const Cause* find(std::string_view name) {
  if (name.empty()) return nullptr;
  const auto* const found =
      std::find_if(kCauses.begin(), kCauses.end(), [&](const Cause& known) { return name == known.name; });
  return found == kCauses.end() ? nullptr : found;
}

}  // namespace

std::string_view loss_name(std::uint32_t cause) {
  return cause < USC_LOSS_COUNT ? kCauses[cause].name : "";
}

std::string_view loss_meaning(std::string_view cause) {
  const Cause* const found = find(cause);
  return found ? found->meaning : "";
}

std::string_view loss_remedy(std::string_view cause) {
  const auto* const found =
      std::find_if(kRemedies.begin(), kRemedies.end(), [&](const Remedy& known) { return cause == known.cause; });
  return found == kRemedies.end() ? "" : found->text;
}

LossClass loss_class(std::uint32_t cause) {
  return cause < USC_LOSS_COUNT ? kCauses[cause].missing : LossClass::EVENTS;
}

LossClass loss_class(std::string_view cause) {
  const Cause* const found = find(cause);
  return found ? found->missing : LossClass::EVENTS;
}

bool loses_events(LossClass missing) {
  return kClasses[static_cast<std::size_t>(missing)].loses_events;
}

bool leaves_out(LossClass missing) {
  return missing != LossClass::CHECKS && missing != LossClass::NOTHING;
}

bool counts_events(LossClass missing) {
  return kClasses[static_cast<std::size_t>(missing)].counts_events;
}

}  // namespace uscope::trace
