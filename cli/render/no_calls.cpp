// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/render/no_calls.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "support/text.h"
#include "syscalls/call_set.h"
#include "syscalls/call_traits.h"
#include "syscalls/syscall_table.h"

namespace uscope::cli {

std::string no_calls_text(const std::string& set) {
  constexpr std::string_view kAll = "all";
  constexpr std::size_t kMostNamed = 3;  // a user who names more knows what they ask for
  if (set.empty() || set == kAll) return "";
  if (const auto calls = syscalls::parse_syscall_set(set); calls && calls->none()) return "";
  std::string text = "none of the calls of -e " + printable(set) + " was made";
  const auto asked = syscalls::parse_call_set(set);
  const auto all = syscalls::parse_call_set(std::string(kAll));
  if (!asked || !all) return text;
  const std::set<std::string> names(asked->begin(), asked->end());
  if (names.size() > kMostNamed) return text;
  std::set<std::string> related;
  for (const std::string& call : *all)
    if (!names.contains(call) && std::any_of(names.begin(), names.end(), [&](const std::string& name) {
          return syscalls::are_related(name, call);
        }))
      related.insert(call);
  std::string list;
  for (const std::string& call : related) list += (list.empty() ? "" : ",") + call;
  return list.empty() ? text : text + "; related calls: -e " + list;
}

}  // namespace uscope::cli
