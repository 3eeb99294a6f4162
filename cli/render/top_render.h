// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Renders one picture of `uscope top`, for people and for programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "live/call_counts.h"

namespace uscope::cli {

// One refresh of the display.
struct TopPicture {
  std::string target;
  double at_s = 0;          // since tracing began
  double seconds = 0;       // length of the time that the lines cover
  std::uint64_t calls = 0;  // calls in that time
  std::uint64_t lost = 0;   // since tracing began
  std::uint64_t processes = 0;
  std::string waiting;  // shown while nothing is traced
  std::vector<live::CallLine> lines;
};

// At most `most` lines; `quits`: show how to quit.
[[nodiscard]] std::string top_text(const TopPicture& picture, std::size_t most, std::size_t width, bool quits);
// docs/json/top.schema.json, on one line.
[[nodiscard]] std::string top_json(const TopPicture& picture, std::size_t most);

}  // namespace uscope::cli
