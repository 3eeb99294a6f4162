// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/render/peer_render.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/render/json.h"
#include "cli/render/text_table.h"
#include "cli/render/trigger_cell.h"
#include "support/text.h"

namespace uscope::cli {
namespace {

using analyzer::PeerTime;
using analyzer::PeerTimes;
using analyzer::TopList;
using nlohmann::ordered_json;

constexpr double kMedian = 50;
constexpr double kNearlyAll = 99;

std::string shown_time(const PeerTime& line, std::uint64_t ns) {
  return line.times.count() == 0 ? "" : human_duration(static_cast<double>(ns));
}

std::string peer_cell(const PeerTime& line) {
  return line.peers > 1 ? fmt::format("{}  {} clients", line.peer, group_digits(line.peers)) : line.peer;
}

std::string peer_list_text(const std::string& title, const TopList<PeerTime>& list, TextWidth width) {
  TextTable table({{"total", Align::kRight},
                   {"times", Align::kRight},
                   {"mean", Align::kRight, Shrink::kNever, 0, 3},
                   {"median", Align::kRight},
                   {"99 %", Align::kRight, Shrink::kNever, 0, 2},
                   {"longest", Align::kRight},
                   {"unfinished", Align::kRight, Shrink::kNever, 0, 1},
                   {"peer", Align::kLeft, Shrink::kMiddle, 24},
                   {"from function", Align::kLeft, Shrink::kMiddle},
                   {"process", Align::kLeft, Shrink::kMiddle, 8, 4}});
  for (const PeerTime& line : list.lines)
    table.add_row({shown_time(line, line.times.total()), group_digits(line.times.count()),
                   shown_time(line, line.times.count() == 0 ? 0 : line.times.total() / line.times.count()),
                   shown_time(line, line.times.percentile(kMedian)),
                   shown_time(line, line.times.percentile(kNearlyAll)), shown_time(line, line.times.max()),
                   line.unfinished == 0 ? "" : group_digits(line.unfinished), printable(peer_cell(line)),
                   trigger_cell(line.at), printable(line.process)});
  return section_head(title, list, "with most time", width.paint) + table.render(width);
}

ordered_json peer_list_json(const TopList<PeerTime>& list) {
  ordered_json lines = ordered_json::array();
  for (const PeerTime& line : list.lines)
    lines.push_back({{"peer", json_value(line.peer)},
                     {"process", json_value(line.process)},
                     {"function", json_value(line.at.function)},
                     {"module", json_value(line.at.module)},
                     {"fallback", line.at.fallback},
                     {"connections", line.connections},
                     {"peers", line.peers},
                     {"times", line.times.count()},
                     {"total_ns", line.times.total()},
                     {"median_ns", line.times.percentile(kMedian)},
                     {"p99_ns", line.times.percentile(kNearlyAll)},
                     {"max_ns", line.times.max()},
                     {"unfinished", line.unfinished},
                     {"unfinished_ns", line.unfinished_ns}});
  return {{"total", list.total}, {"lines", std::move(lines)}};
}

}  // namespace

ordered_json peers_json(const PeerTimes& times) {
  return {{"transfers", times.transfers},
          {"unconnected", times.unconnected},
          {"io_uring_processes", times.uring_processes},
          {"waits", peer_list_json(times.waits)},
          {"answers", peer_list_json(times.answers)}};
}

std::string peers_text(const PeerTimes& times, TextWidth width) {
  std::string out;
  if (!times.waits.lines.empty())
    out += peer_list_text("WAITS FOR PEERS, from a write to the next read", times.waits, width);
  if (!times.answers.lines.empty())
    out += (out.empty() ? "" : "\n") +
           peer_list_text("ANSWERS TO PEERS, from a read to the next write", times.answers, width);
  if (out.empty())
    out = times.transfers == 0 ? "no read or write of a socket was recorded\n"
                               : fmt::format("no exchange: {} on sockets, and none has an answer\n",
                                             plural(times.transfers, "transfer"));
  if (times.unconnected != 0)
    out += fmt::format("\n{} without one peer (datagrams): left out\n", plural(times.unconnected, "socket"));
  if (times.uring_processes != 0)
    out += fmt::format(
        "\n{} io_uring: what it transfers is not seen\n",
        times.uring_processes == 1 ? "1 process uses" : group_digits(times.uring_processes) + " processes use");
  const auto any = [&](const auto& has) {
    return std::any_of(times.waits.lines.begin(), times.waits.lines.end(), has) ||
           std::any_of(times.answers.lines.begin(), times.answers.lines.end(), has);
  };
  if (any([](const PeerTime& line) { return line.at.fallback && line.at.function != trace::kCutName; }))
    out += kFallbackLegend;
  if (any([](const PeerTime& line) { return line.at.function == trace::kCutName; })) out += kCutLegend;
  return out;
}

}  // namespace uscope::cli
