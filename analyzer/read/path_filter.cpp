// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/read/path_filter.h"

#include <algorithm>
#include <string_view>

#include "analyzer/read/query.h"
#include "support/nearest.h"
#include "support/text.h"

namespace uscope::analyzer {
namespace {

constexpr std::string_view kArgumentList = "[\"";  // how the arguments of an exec begin in the table `string`
constexpr std::size_t kMostShown = 3;
constexpr std::size_t kMostCompared = 20'000;

bool has_name(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

Result<void> each_path(const store::Database& database,
                       const std::function<void(const std::string& name, const PathIds& ids)>& use) {
  auto done = each_row(database, "SELECT id, value FROM string", [&](const SqlRow& row) {
    const std::string name = text(row, 1);
    if (!name.starts_with(kArgumentList)) use(name, {std::nullopt, row.integer(0)});
  });
  if (!done) return done;
  return each_row(database,
                  "SELECT DISTINCT o.folder_id, o.string_id, f.value, s.value FROM object_total o "
                  "JOIN string f ON f.id = o.folder_id JOIN string s ON s.id = o.string_id",
                  [&](const SqlRow& row) {
                    use(joined_path(text(row, 2), text(row, 3)), {row.integer(0), row.integer(1)});
                  });
}

NearPaths::NearPaths(const std::vector<std::string>& globs) {
  for (const std::string& glob : globs)
    if (const std::string_view base = base_name(glob); base.find_first_not_of("*?[]") != std::string_view::npos)
      base_globs_.emplace_back(base);
}

void NearPaths::add(const std::string& name) {
  if (base_globs_.empty() || base_name(name).empty()) return;
  if (path_matches(base_globs_, name)) {
    if (same_.size() < kMostShown && !has_name(same_, name)) same_.push_back(name);
  } else if (others_.size() < kMostCompared) {
    others_.try_emplace(std::string(base_name(name)), name);
  }
}

std::vector<std::string> NearPaths::found() const {
  std::vector<std::string> found = same_;
  std::vector<std::string> bases;
  for (const auto& [base, name] : others_) bases.push_back(base);
  for (const std::string& glob : base_globs_)
    for (const std::string& base : nearest(glob, bases))
      if (const std::string& name = others_.at(base); found.size() < kMostShown && !has_name(found, name))
        found.push_back(name);
  return found;
}

std::string no_such_path(const std::vector<std::string>& globs, const std::vector<std::string>& near) {
  std::string out = "no name in the trace matches --path " + trace_text(globs.front());
  for (const std::string& name : near)
    out += (&name != &near.front() ? ", " : near.size() == 1 ? "; near it is " : "; near it are ") + name;
  return out;
}

}  // namespace uscope::analyzer
