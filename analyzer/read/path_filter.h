// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What `--path GLOB` of the readers means.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "store/db/database.h"
#include "store/db/path_match.h"
#include "support/result.h"

namespace uscope::analyzer {

using store::path_matches;

// A name is a text of the store, or a folder's with the one that begins there.
struct PathIds {
  std::optional<std::int64_t> folder;
  std::int64_t text = 0;
};

// Every text and every such pair: the store has far fewer of them than events.
[[nodiscard]] Result<void> each_path(const store::Database& database,
                                     const std::function<void(const std::string& name, const PathIds& ids)>& use);

// Of names that no GLOB matches, those that were perhaps meant: with the base name of a GLOB in another folder, or
// with a base name that differs from it by few letters.
class NearPaths {
 public:
  explicit NearPaths(const std::vector<std::string>& globs);
  void add(const std::string& name);
  [[nodiscard]] std::vector<std::string> found() const;  // at most three

 private:
  std::vector<std::string> base_globs_;
  std::vector<std::string> same_;              // names with a GLOB's base name
  std::map<std::string, std::string> others_;  // names by base name, up to a limit
};

// "no name in the trace matches --path x; near it are /a/xy, /b/x". `near` is NearPaths::found().
[[nodiscard]] std::string no_such_path(const std::vector<std::string>& globs, const std::vector<std::string>& near);

}  // namespace uscope::analyzer
