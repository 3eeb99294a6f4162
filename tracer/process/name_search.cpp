// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/process/name_search.h"

#include <algorithm>
#include <cctype>
#include <cstddef>

#include "support/nearest.h"

namespace uscope::tracer {
namespace {

constexpr std::size_t kMostNear = 3;
constexpr std::size_t kLongestComm = 15;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// Whether one name holds the other, as `redis-server` holds `redis`.
bool holds(const std::string& name, const std::string& wanted) {
  constexpr std::size_t kShortest = 3;
  const std::string& part = name.size() < wanted.size() ? name : wanted;
  const std::string& whole = name.size() < wanted.size() ? wanted : name;
  return part.size() >= kShortest && lower(whole).find(lower(part)) != std::string::npos;
}

}  // namespace

NameSearch::NameSearch(const std::vector<std::string>& wanted) {
  for (const std::string& name : wanted) wanted_.push_back({name, false});
}

bool NameSearch::take(std::uint32_t pid, const trace::ProcessNames& names) {
  bool matches = false;
  for (Wanted& wanted : wanted_) {
    if (!names.has(wanted.name)) continue;
    wanted.found = true;
    matches = true;
  }
  // A thread's name that was cut is not offered beside the whole one.
  const std::vector<std::string> all = names.all();
  const auto is_cut = [&](const std::string& name) {
    return name == names.comm && std::any_of(all.begin(), all.end(), [&](const std::string& other) {
             return other.size() > name.size() && name.size() == kLongestComm && other.starts_with(name);
           });
  };
  for (const std::string& name : all)
    if (!is_cut(name)) running_.emplace_back(name, pid);
  return matches;
}

std::vector<MissingName> NameSearch::missing() const {
  std::vector<MissingName> missing;
  for (const Wanted& wanted : wanted_) {
    if (wanted.found) continue;
    MissingName& out = missing.emplace_back(MissingName{wanted.name, {}});
    const auto offer = [&](const std::pair<std::string, std::uint32_t>& process) {
      const bool known = std::any_of(out.near.begin(), out.near.end(), [&](const auto& offered) {
        return offered.first == process.first || offered.second == process.second;
      });
      if (!known && out.near.size() < kMostNear) out.near.push_back(process);
    };
    std::vector<std::string> names;
    for (const auto& process : running_) names.push_back(process.first);
    const std::vector<std::string> close = nearest(wanted.name, names);
    for (const std::string& name : close)
      for (const auto& process : running_)
        if (process.first == name) offer(process);
    for (const auto& process : running_)
      if (holds(process.first, wanted.name)) offer(process);
  }
  return missing;
}

}  // namespace uscope::tracer
