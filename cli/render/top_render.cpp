// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/render/top_render.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/render/json.h"
#include "cli/render/text_table.h"
#include "support/text.h"
#include "trace/trigger.h"

namespace uscope::cli {
namespace {

constexpr double kMedian = 50;
constexpr double kNearlyAll = 99;

std::string rate(std::uint64_t count, double seconds) {
  if (count == 0 || seconds <= 0) return "";
  const double each = static_cast<double>(count) / seconds;
  return each < 1 ? "< 1" : group_digits(static_cast<std::uint64_t>(std::llround(each)));
}

std::string time(const live::CallLine& line, std::uint64_t nanoseconds) {
  return line.times.count() == 0 ? "" : human_duration(static_cast<double>(nanoseconds));
}

std::string function(const live::CallLine& line) {
  if (line.function.empty()) return "(no application frame)";
  return line.function + (line.fallback && line.function != trace::kCutName ? " *" : "");
}

}  // namespace

std::string top_text(const TopPicture& picture, std::size_t most, std::size_t width, bool quits) {
  const std::string calls = rate(picture.calls, picture.seconds);
  const std::string head =
      fmt::format("{}  {} s  {}  {} calls/s  {} lost{}", picture.target,
                  group_digits(static_cast<std::uint64_t>(picture.at_s)), plural(picture.processes, "process"),
                  calls.empty() ? "0" : calls, group_digits(picture.lost), quits ? "  q quits" : "");
  std::string text = shorten(escape_terminal(head), width, Shrink::kEnd) + "\n\n";
  TextTable table({{"calls/s", Align::kRight},
                   {"errors/s", Align::kRight},
                   {"median", Align::kRight},
                   {"99 %", Align::kRight},
                   {"longest", Align::kRight},
                   {"call"},
                   {"from function", Align::kLeft, Shrink::kEnd, 20},
                   {"in", Align::kLeft, Shrink::kMiddle}});
  const std::size_t shown = std::min(most, picture.lines.size());
  for (std::size_t i = 0; i < shown; i++) {
    const live::CallLine& line = picture.lines[i];
    table.add_row({rate(line.calls, picture.seconds), rate(line.errors, picture.seconds),
                   time(line, line.times.percentile(kMedian)), time(line, line.times.percentile(kNearlyAll)),
                   time(line, line.times.max()), line.call + (line.abi == "x86_64" ? "" : " (" + line.abi + ")"),
                   function(line), std::string(base_name(line.module))});
  }
  if (shown != 0) text += table.render(width);
  if (shown < picture.lines.size()) text += "  " + group_digits(picture.lines.size() - shown) + " more\n";
  return text;
}

std::string top_json(const TopPicture& picture, std::size_t most) {
  nlohmann::ordered_json lines = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < std::min(most, picture.lines.size()); i++) {
    const live::CallLine& line = picture.lines[i];
    const auto spent = [&](std::uint64_t value) {
      return line.times.count() == 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(value);
    };
    lines.push_back({{"call", line.call},
                     {"abi", line.abi},
                     {"function", line.function.empty() ? nlohmann::ordered_json() : json_value(line.function)},
                     {"module", line.module.empty() ? nlohmann::ordered_json() : json_value(line.module)},
                     {"fallback", line.fallback},
                     {"calls", line.calls},
                     {"errors", line.errors},
                     {"total_ns", line.times.total()},
                     {"median_ns", spent(line.times.percentile(kMedian))},
                     {"p99_ns", spent(line.times.percentile(kNearlyAll))},
                     {"max_ns", spent(line.times.max())}});
  }
  const nlohmann::ordered_json document = {
      {"target", json_value(picture.target)}, {"at_s", picture.at_s},     {"seconds", picture.seconds},
      {"processes", picture.processes},       {"calls", picture.calls},   {"lost", picture.lost},
      {"line_count", picture.lines.size()},   {"lines", std::move(lines)}};
  return dump(document, false) + "\n";
}

}  // namespace uscope::cli
