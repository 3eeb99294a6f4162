// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Figures drawn with characters: bars, and how durations are spread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/read/event_totals.h"

namespace uscope::cli {

// "#####": as long for `most` as `width` is, at least one mark unless `part` is 0.
[[nodiscard]] std::string bar(std::uint64_t part, std::uint64_t most, std::size_t width);

// The bars of what hist() gives, one line for each step: "<= 4095  ######## 812". Empty if the text is not of that
// form.
[[nodiscard]] std::vector<std::string> histogram_lines(std::string_view text);

// Durations of several calls on one scale: a column for each power of two nanoseconds. "▁▃█▂      ▁": a block is as
// high as its step is frequent, compared with the most frequent one of the same call.
class Spread {
 public:
  // Widens the scale so far that it has these steps, which end at powers of two less one.
  void include(const std::vector<analyzer::LatencyStep>& steps);
  // "  1µs       1ms       1s": each label begins at the column of the durations from there on.
  [[nodiscard]] std::string scale() const;
  [[nodiscard]] std::string draw(const std::vector<analyzer::LatencyStep>& steps) const;

 private:
  std::size_t first_ = 0;  // the power of two that the first column stays below; 0: there is no step
  std::size_t last_ = 0;
};

}  // namespace uscope::cli
