// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "live/query/folded_rows.h"

#include <algorithm>
#include <utility>

#include "live/query/key_words.h"

namespace uscope::query {

FoldedRows fold(PartialRows rows, const Plan& plan) {
  const auto in_steps = [](const KeyWord& word) { return word.in_steps; };
  if (std::none_of(plan.keys.begin(), plan.keys.end(), in_steps)) return {std::move(rows), {}};
  FoldedRows folded{PartialRows(plan.keys.size(), plan.measures.size()), {}};
  KeyMap<std::size_t> known;
  for (std::size_t row = 0; row < rows.size(); row++) {
    PartialRow first;
    first.key = key_without(rows.key(row), plan.keys, in_steps);
    const auto [found, is_new] = known.try_emplace(first.key, folded.rows.size());
    if (is_new) {
      folded.rows.push_back(first);
      folded.steps.emplace_back(plan.keys.size());
    }
    const std::size_t into = found->second;
    folded.rows.add_events(into, rows.events(row));
    for (std::size_t i = 0; i < plan.measures.size(); i++) folded.rows.add_sum(into, i, rows.sum(row, i));
    for (std::size_t word = 0; word < plan.keys.size(); word++) {
      const auto end = rows.word(row, word);
      if (in_steps(plan.keys[word]) && end) folded.steps[into][word].push_back({*end, rows.events(row)});
    }
  }
  return folded;
}

}  // namespace uscope::query
