// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/read/object_name.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "support/text.h"

namespace uscope::analyzer {
namespace {

// Addresses as the store writes them.
bool is_address(std::string_view text) {
  constexpr std::array<std::string_view, 6> kFamilies{"inet:", "inet6:", "unix:", "netlink:", "packet:", "family "};
  return std::any_of(kFamilies.begin(), kFamilies.end(),
                     [&](std::string_view family) { return text.starts_with(family); });
}

}  // namespace

std::optional<std::string> object_name(const std::string& call, const std::optional<std::string>& folder,
                                       const std::optional<std::string>& name) {
  if (!name) return folder;
  if (folder) return joined_path(*folder, *name);
  const bool to = call == "connect" || call == "sendto" || call == "sendmsg";
  if ((to || call == "bind") && is_address(*name)) return (to ? "socket:[to " : "socket:[at ") + *name + "]";
  return *name;
}

}  // namespace uscope::analyzer
