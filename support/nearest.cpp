// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "support/nearest.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <tuple>
#include <utility>

namespace uscope {
namespace {

// Edits that turn `a` into `b`: insert, delete, replace, swap two neighbours.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); i++) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); j++) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] != b[j - 1] ? 1 : 0);
      row[j] = std::min({replaced, row[j - 1] + 1, last[j] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

std::vector<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates) {
  constexpr std::size_t kOffered = 3;
  constexpr std::size_t kLongest = 64;
  constexpr std::size_t kShortest = 2;     // that a name is known by its beginning
  constexpr std::size_t kOfBeginning = 1;  // edits that such a name counts as, if it has more
  if (word.size() > kLongest) return {};
  const std::size_t allowed = word.size() <= 3 ? 1 : 2 + word.size() / 8;
  std::vector<std::tuple<std::size_t, std::size_t, std::string>> near;  // edits, length, name
  for (const std::string& candidate : candidates) {
    const bool begins = word.size() >= kShortest && candidate.starts_with(word);
    if (!begins && candidate.size() > word.size() + allowed) continue;
    const std::size_t edits = candidate.size() > kLongest ? kLongest : distance(word, candidate);
    if (begins)
      near.emplace_back(std::min(edits, kOfBeginning), candidate.size(), candidate);
    else if (edits <= allowed)
      near.emplace_back(edits, candidate.size(), candidate);
  }
  std::sort(near.begin(), near.end());
  near.erase(std::unique(near.begin(), near.end()), near.end());
  std::vector<std::string> offered;
  for (std::size_t i = 0; i < near.size() && i < kOffered; i++) offered.push_back(std::move(std::get<2>(near[i])));
  return offered;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  std::string offered;
  for (const std::string& name : nearest(word, candidates)) offered += (offered.empty() ? "" : ", ") + name;
  return offered.empty() ? "" : "did you mean " + offered + "?";
}

}  // namespace uscope
