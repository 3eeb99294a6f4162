// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "support/redactor.h"

#include <algorithm>

#include "support/glob.h"

namespace uscope {

bool Redactor::hides(std::string_view text, bool is_cut) const {
  if (patterns_.empty()) return false;
  if (is_cut) return true;
  return std::any_of(patterns_.begin(), patterns_.end(),
                     [&](const std::string& pattern) { return glob_matches(pattern, text); });
}

std::string Redactor::redact_list(std::string_view list, bool is_cut) const {
  std::string out;
  while (!list.empty()) {
    const std::size_t end = list.find('\0');
    const std::string_view item = list.substr(0, end);
    const bool is_last = end == std::string_view::npos;
    out += hides(item, is_cut && is_last) ? kRedacted : item;
    if (is_last) break;
    out += '\0';
    list.remove_prefix(end + 1);
  }
  return out;
}

}  // namespace uscope
