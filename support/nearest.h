// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which of several names somebody meant who has misspelt one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace uscope {

// The candidates that differ from `word` by few letters or begin with it, the nearest first. At most three.
[[nodiscard]] std::vector<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates);

// "did you mean openat, openat2?"; empty if no candidate is near.
[[nodiscard]] std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace uscope
