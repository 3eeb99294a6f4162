// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "store/db/path_match.h"

#include <sqlite3.h>

#include <algorithm>
#include <string_view>

#include "support/text.h"

namespace uscope::store {
namespace {

bool fits(const std::string& glob, const std::string& text) {
  return sqlite3_strglob(glob.c_str(), text.c_str()) == 0;
}

// "socket:[to inet:127.0.0.1:80]": "inet:127.0.0.1:80". Empty: the name has no address.
std::string_view address_in(std::string_view name) {
  constexpr std::string_view kSocket = "socket:[";
  const std::size_t space = name.find(' ');
  if (!name.starts_with(kSocket) || !name.ends_with(']') || space == std::string_view::npos) return {};
  return name.substr(space + 1, name.size() - space - 2);
}

}  // namespace

bool path_matches(const std::vector<std::string>& globs, const std::string& name) {
  return std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) {
    const std::string_view address = address_in(name);
    const std::string base(base_name(address.empty() ? name : address));
    const std::string_view bare =
        address.substr(std::min(address.find(':') + 1, address.size()));  // without its family
    return fits(glob, name) ||
           (!address.empty() && (fits(glob, std::string(address)) || fits(glob, std::string(bare)))) ||
           (glob.find('/') == std::string::npos && fits(glob, base));
  });
}

}  // namespace uscope::store
