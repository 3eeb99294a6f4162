// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/render/list_render.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/render/json.h"
#include "cli/render/text_table.h"
#include "support/text.h"

namespace uscope::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string safe(const std::string& text) {
  return printable(to_utf8(text));
}

// "int fd", "const char *path", "char comm[16]"
std::string declaration(const tracer::ProbeArgument& argument) {
  std::string type = argument.type;
  for (const std::string_view placed : {"__data_loc ", "__rel_loc "})
    if (type.starts_with(placed)) type.erase(0, placed.size());
  const std::size_t bracket = type.find('[');
  const std::string behind = bracket == std::string::npos ? "" : type.substr(bracket);
  type.resize(std::min(bracket, type.size()));
  const bool joins = type.ends_with('*') || type.ends_with('&');
  return type + (joins ? "" : " ") + argument.name + behind;
}

Json json_of(const tracer::TargetMatch& match) {
  Json arguments = Json::array();
  for (const tracer::ProbeArgument& argument : match.probe.arguments)
    arguments.push_back({{"name", to_utf8(argument.name)}, {"type", to_utf8(argument.type)}});
  const std::string& target = match.target;
  Json path = nullptr;
  if (!match.probe.path.empty()) path = trace_text(match.probe.path);
  Json result = nullptr;
  if (!match.probe.result_type.empty()) result = to_utf8(match.probe.result_type);
  Json why_not = nullptr;
  if (!match.why_not.empty()) why_not = to_utf8(match.why_not);
  return {{"target", to_utf8(target)},
          {"class", target.substr(0, target.find(':'))},
          {"name", to_utf8(match.probe.name)},
          {"path", path},
          {"arguments", arguments},
          {"result", result},
          {"why_not", why_not}};
}

}  // namespace

std::string classes_text(const std::vector<ClassLine>& lines, TextWidth width) {
  TextTable table({{"class"}, {"targets", Align::kRight}, {"written as"}, {"", Align::kLeft, Shrink::kEnd}});
  for (const ClassLine& line : lines) {
    const tracer::TargetForm& form = tracer::form_of(line.what);
    const std::string& note = line.why_not.empty() ? line.note : line.why_not;
    table.add_row(
        {form.name, line.targets ? group_digits(*line.targets) : "?", form.form, note.empty() ? form.text : note});
  }
  return table.render(width);
}

std::string classes_json(const std::vector<ClassLine>& lines) {
  Json classes = Json::array();
  for (const ClassLine& line : lines) {
    const tracer::TargetForm& form = tracer::form_of(line.what);
    Json targets = nullptr;
    if (line.targets) targets = *line.targets;
    Json why_not = nullptr;
    if (!line.why_not.empty()) why_not = to_utf8(line.why_not);
    classes.push_back(
        {{"class", form.name}, {"form", form.form}, {"text", form.text}, {"targets", targets}, {"why_not", why_not}});
  }
  return dump({{"classes", classes}, {"targets", nullptr}}) + "\n";
}

std::string targets_text(const std::vector<tracer::TargetMatch>& matches) {
  std::vector<std::string> reasons;
  std::string text;
  for (const tracer::TargetMatch& match : matches) {
    std::string line = match.target;
    for (const tracer::ProbeArgument& argument : match.probe.arguments)
      line += (&argument == &match.probe.arguments.front() ? "  " : ", ") + declaration(argument);
    if (!match.probe.result_type.empty()) line += "  -> " + match.probe.result_type;
    if (!match.why_not.empty()) {
      auto reason = std::find(reasons.begin(), reasons.end(), match.why_not);
      if (reason == reasons.end()) reason = reasons.insert(reasons.end(), match.why_not);
      line += fmt::format("  [{}]", reason - reasons.begin() + 1);
    }
    text += safe(line) + "\n";
  }
  for (std::size_t i = 0; i < reasons.size(); i++)
    text += fmt::format("[{}] cannot be traced: {}\n", i + 1, safe(reasons[i]));
  return text;
}

std::string targets_json(const std::vector<tracer::TargetMatch>& matches) {
  Json targets = Json::array();
  for (const tracer::TargetMatch& match : matches) targets.push_back(json_of(match));
  return dump({{"classes", nullptr}, {"targets", targets}}) + "\n";
}

}  // namespace uscope::cli
