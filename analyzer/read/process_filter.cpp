// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/read/process_filter.h"

#include <sqlite3.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

namespace uscope::analyzer {
namespace {

bool matches(const std::vector<std::string>& globs, const std::string& name) {
  return std::any_of(globs.begin(), globs.end(),
                     [&](const std::string& glob) { return sqlite3_strglob(glob.c_str(), name.c_str()) == 0; });
}

}  // namespace

bool goes_by(const Image& image, const std::vector<std::string>& globs) {
  if (globs.empty() || matches(globs, image.name)) return true;
  const auto names = nlohmann::json::parse(image.names, nullptr, false);
  return names.is_array() && std::any_of(names.begin(), names.end(), [&](const nlohmann::json& name) {
           return name.is_string() && matches(globs, name.get_ref<const std::string&>());
         });
}

std::vector<std::string> names_instead_of(const std::vector<std::string>& globs, const Catalog& catalog) {
  std::set<std::string> names;
  for (const Image& image : catalog.images) {
    if (goes_by(image, globs)) return {};
    if (!image.name.empty()) names.insert(image.name);
  }
  return {names.begin(), names.end()};
}

}  // namespace uscope::analyzer
