// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "support/type_text.h"

#include <fmt/core.h>

namespace uscope {

// What stands after a pointer's sign belongs to the pointer itself: "char *const".
void TypeText::point(std::string_view sign) {
  const bool apart = !words_.empty() && !behind_.empty();
  behind_ = fmt::format("{}{}{}{}", sign, words_, apart ? " " : "", behind_);
  words_.clear();
}

void TypeText::qualify(std::string_view word) {
  if (words_.find(word) != std::string::npos) return;
  words_ = words_.empty() ? std::string(word) : fmt::format("{} {}", words_, word);
}

std::string TypeText::of(std::string_view name) const {
  return fmt::format("{}{}{}{}{}", words_, words_.empty() ? "" : " ", name, behind_.empty() ? "" : " ", behind_);
}

}  // namespace uscope
