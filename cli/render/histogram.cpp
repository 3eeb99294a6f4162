// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/render/histogram.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <nlohmann/json.hpp>
#include <utility>

namespace uscope::cli {
namespace {

constexpr std::size_t kBarWidth = 40;

// A step of durations from 2^(n-1) ns on is number n: the first one above 1 µs (1024 ns) is the 11th.
constexpr std::array<std::pair<std::size_t, const char*>, 4> kLabels{
    {{1, "1ns"}, {11, "1µs"}, {21, "1ms"}, {31, "1s"}}};

std::size_t step_of(std::uint64_t up_to_ns) {
  return static_cast<std::size_t>(std::bit_width(up_to_ns));
}

double share_of(std::uint64_t part, std::uint64_t most) {
  return most == 0 ? 0 : static_cast<double>(part) / static_cast<double>(most);
}

}  // namespace

std::string bar(std::uint64_t part, std::uint64_t most, std::size_t width) {
  if (part == 0) return "";
  const auto marks = static_cast<std::size_t>(share_of(part, most) * static_cast<double>(width));
  return std::string(std::clamp<std::size_t>(marks, 1, width), '#');
}

std::vector<std::string> histogram_lines(std::string_view text) {
  if (!text.starts_with("[[")) return {};
  const auto steps = nlohmann::json::parse(text, nullptr, false);
  if (!steps.is_array() || steps.empty()) return {};
  std::uint64_t most = 1;
  std::size_t widest = 0;
  for (const auto& step : steps) {
    if (!step.is_array() || step.size() != 2 || !step[0].is_number_integer() || !step[1].is_number_unsigned())
      return {};
    most = std::max(most, step[1].get<std::uint64_t>());
    widest = std::max(widest, step[0].dump().size());
  }
  std::vector<std::string> lines;
  for (const auto& step : steps) {
    const auto count = step[1].get<std::uint64_t>();
    lines.push_back(
        fmt::format("<= {:>{}}  {:<{}}  {}", step[0].dump(), widest, bar(count, most, kBarWidth), kBarWidth, count));
  }
  return lines;
}

void Spread::include(const std::vector<analyzer::LatencyStep>& steps) {
  if (steps.empty()) return;
  const std::size_t least = std::max<std::size_t>(step_of(steps.front().up_to_ns), 1);
  first_ = first_ == 0 ? least : std::min(first_, least);
  last_ = std::max(last_, step_of(steps.back().up_to_ns));
  // At least one label is seen.
  std::size_t labelled = kLabels.front().first;
  for (const auto& [step, label] : kLabels)
    if (step <= last_) labelled = step;
  first_ = std::min(first_, labelled);
}

std::string Spread::scale() const {
  std::string out;
  std::size_t columns = 0;
  for (const auto& [step, label] : kLabels) {
    if (step < first_ || step > last_) continue;
    out.append(step - first_ - columns, ' ');
    out += label;
    columns = step - first_ + (std::string_view(label) == "1s" ? 2 : 3);
  }
  return out;
}

std::string Spread::draw(const std::vector<analyzer::LatencyStep>& steps) const {
  constexpr std::array kBlocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::uint64_t most = 0;
  for (const auto& step : steps) most = std::max(most, step.events);
  std::string out;
  std::size_t next = first_;
  for (const auto& [up_to_ns, events] : steps) {
    const std::size_t at = std::max<std::size_t>(step_of(up_to_ns), 1);
    if (events == 0 || at < next) continue;
    out.append(at - next, ' ');
    const auto height = static_cast<std::size_t>(share_of(events, most) * static_cast<double>(kBlocks.size() - 1));
    out += kBlocks.at(height);
    next = at + 1;
  }
  return out;
}

}  // namespace uscope::cli
