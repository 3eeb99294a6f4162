// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/render/part_text.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "cli/render/json.h"
#include "cli/render/text_table.h"
#include "cli/render/units.h"
#include "support/text.h"

namespace uscope::cli {
namespace {

std::string with_numbers(std::string_view one, std::string_view several, const std::vector<std::int64_t>& list) {
  std::string text(list.size() == 1 ? one : several);
  for (const std::int64_t& number : list) text += fmt::format("{}{}", &number == &list.front() ? " " : ", ", number);
  return text;
}

// As they were given: add_globs() has added other forms of names with a backslash.
std::string with_names(std::string_view what, const std::vector<std::string>& globs) {
  std::string text(what);
  for (const std::string& glob : globs) text += (&glob == &globs.front() ? " " : " or ") + printable(glob);
  return text;
}

}  // namespace

std::string part_text(const analyzer::EventFilter& part, std::int64_t trace_ns) {
  std::string text;
  const auto add = [&](const std::string& more) { text += (text.empty() ? "" : ", ") + more; };
  if (!part.tids.empty()) add(with_numbers("thread", "threads", part.tids));
  if (!part.threads.empty())
    add(with_names(part.tids.empty() ? "threads, while they were named" : "while they were named", part.threads));
  if (!part.pids.empty()) add((text.empty() ? "" : "of ") + with_numbers("process", "processes", part.pids));
  if (!part.processes.empty()) add((text.empty() ? "" : "of ") + with_names("processes called", part.processes));
  if (part.since_ns && part.until_ns)
    add(fmt::format("from {} s to {} s of {} s", seconds(*part.since_ns), seconds(*part.until_ns), seconds(trace_ns)));
  else if (part.since_ns)
    add(fmt::format("from {} s on, of {} s", seconds(*part.since_ns), seconds(trace_ns)));
  else if (part.until_ns)
    add(fmt::format("up to {} s of {} s", seconds(*part.until_ns), seconds(trace_ns)));
  return text;
}

std::string part_line(const analyzer::EventFilter& part, std::int64_t trace_ns, const std::string& more,
                      TextWidth width) {
  const std::string text = part_text(part, trace_ns) + (more.empty() ? "" : "; " + more);
  const std::string head = width.paint(Ink::kDoubt, "PART") + "       ";
  return width.cuts ? paragraph(head, text, width.columns) : head + text + "\n";
}

nlohmann::ordered_json part_json(const analyzer::EventFilter& part) {
  nlohmann::ordered_json globs = nlohmann::ordered_json::array();
  for (const std::string& glob : part.threads) globs.push_back(json_value(glob));
  nlohmann::ordered_json processes = nlohmann::ordered_json::array();
  for (const std::string& glob : part.processes) processes.push_back(json_value(glob));
  return {{"pids", part.pids},
          {"tids", part.tids},
          {"threads", globs},
          {"processes", processes},
          {"since_ns", json_value(part.since_ns)},
          {"until_ns", json_value(part.until_ns)}};
}

}  // namespace uscope::cli
