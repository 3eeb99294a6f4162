// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/session/ready_questions.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace uscope::cli {
namespace {

constexpr std::pair<std::string_view, std::string_view> kFiles[] = {
#include "ready_questions.inc"  // made by CMake of query/ready/*.sql
};

std::vector<ReadyQuestion> read_questions() {
  std::vector<ReadyQuestion> all;
  for (const auto& [name, sql] : kFiles) {
    std::string_view about = sql.substr(0, sql.find('\n'));
    about.remove_prefix(std::min(about.size(), about.find_first_not_of("- ")));
    all.push_back({name, about, sql});
  }
  return all;
}

}  // namespace

std::span<const ReadyQuestion> ready_questions() {
  static const std::vector<ReadyQuestion> kAll = read_questions();
  return kAll;
}

}  // namespace uscope::cli
