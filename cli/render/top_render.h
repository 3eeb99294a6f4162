// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Renders one picture of `uscope top` for outputs that are no terminal: for people and for programs. What a terminal
// shows is in top_screen.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/terminal/text_width.h"
#include "live/call_counts.h"
#include "live/line_choice.h"

namespace uscope::cli {

// One refresh of the display.
struct TopPicture {
  std::string target;
  double at_s = 0;          // since tracing began
  double seconds = 0;       // length of the time that the lines cover; 0: nothing was counted yet
  std::uint64_t calls = 0;  // calls in that time
  std::uint64_t lost = 0;   // since tracing began
  std::uint64_t processes = 0;
  std::uint64_t stopped = 0;  // of these, by a signal
  std::string waiting;        // shown while nothing is traced
  std::vector<live::CallLine> lines;
  std::vector<live::ThreadLine> threads;
};

enum class TopBy { kFunction, kThread };

// Which of a picture's lines are wanted.
struct TopChoice {
  TopBy by = TopBy::kFunction;
  live::LineChoice lines;
};

// At most `most` lines.
[[nodiscard]] std::string top_text(const TopPicture& picture, const TopChoice& choice, std::size_t most,
                                   TextWidth width);
// docs/json/top.schema.json, on one line.
[[nodiscard]] std::string top_json(const TopPicture& picture, const TopChoice& choice, std::size_t most);

// The parts of a picture, for both kinds of outputs.

// The places of the chosen lines in picture.lines or picture.threads, in their order.
[[nodiscard]] std::vector<std::size_t> top_places(const TopPicture& picture, const TopChoice& choice);
[[nodiscard]] std::size_t top_line_count(const TopPicture& picture, TopBy by);
// Target, time, processes, calls a second, and `more`, in at most `width` columns: the target gives way.
[[nodiscard]] std::string top_title(const TopPicture& picture, const std::string& more, std::size_t width);
// A line of titles, and one for each place; none is longer than `width`, if that cuts. Where not all columns have room,
// those that tell the least are left out. Empty where `places` is.
[[nodiscard]] std::vector<std::string> top_table(const TopPicture& picture, TopBy by,
                                                 const std::vector<std::size_t>& places, TextWidth width);
// The first of these places whose call waits; nothing where none does, and of threads.
[[nodiscard]] std::optional<std::size_t> first_wait(const TopPicture& picture, TopBy by,
                                                    const std::vector<std::size_t>& places);
constexpr std::string_view kWaitsTitle = "calls that wait";
// Why no line is shown.
[[nodiscard]] std::string top_empty(const TopPicture& picture, const TopChoice& choice);
// "call (i386)"; without the ABI where it is the usual one.
[[nodiscard]] std::string top_call(const std::string& call, const std::string& abi);
[[nodiscard]] std::string top_function(const live::CallLine& line);
// "calls", "time" or "errors", "function" or "thread", "apart", "no" or "only": as the options name them.
[[nodiscard]] std::string order_name(live::Order order);
[[nodiscard]] std::string by_name(TopBy by);
[[nodiscard]] std::string waits_name(live::Waits waits);

}  // namespace uscope::cli
