// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/render/list_render.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/render/json.h"
#include "cli/render/text_table.h"
#include "support/text.h"
#include "tracer/targets/resolve.h"

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

bool can_be_traced(const tracer::TargetMatch& match) {
  return match.why_not.empty();
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
  Json note = nullptr;
  if (!match.note.empty()) note = to_utf8(match.note);
  return {{"target", to_utf8(target)},
          {"class", target.substr(0, target.find(':'))},
          {"name", to_utf8(match.probe.name)},
          {"path", path},
          {"arguments", arguments},
          {"result", result},
          {"why_not", why_not},
          {"note", note}};
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
  return dump({{"classes", classes}, {"targets", nullptr}, {"refused", nullptr}}) + "\n";
}

std::string targets_text(const std::vector<tracer::TargetMatch>& matches, bool refused) {
  const auto reasons = tracer::reasons_of(matches);
  const bool all_refused = std::none_of(matches.begin(), matches.end(), can_be_traced);
  const bool show_refused = refused || all_refused;
  std::vector<std::string> notes;
  std::string text;
  for (const tracer::TargetMatch& match : matches) {
    if (can_be_traced(match) == show_refused) continue;
    std::string line = match.target;
    for (const tracer::ProbeArgument& argument : match.probe.arguments)
      if (!show_refused) line += (&argument == &match.probe.arguments.front() ? "  " : ", ") + declaration(argument);
    if (!show_refused && !match.probe.result_type.empty()) line += "  -> " + match.probe.result_type;
    const std::string note = can_be_traced(match) ? match.note : "cannot be traced: " + match.why_not;
    if (!note.empty()) {
      auto known = std::find(notes.begin(), notes.end(), note);
      if (known == notes.end()) known = notes.insert(notes.end(), note);
      line += fmt::format("  [{}]", known - notes.begin() + 1);
    }
    text += safe(line) + "\n";
  }
  for (std::size_t i = 0; i < notes.size(); i++) text += fmt::format("[{}] {}\n", i + 1, safe(notes[i]));
  if (show_refused || reasons.empty()) return text;
  text += "cannot be traced (`uscope list --refused` names them):\n";
  for (const auto& [reason, count] : reasons) text += fmt::format("{:>9}  {}\n", group_digits(count), safe(reason));
  return text;
}

std::string targets_json(const std::vector<tracer::TargetMatch>& matches, bool refused) {
  Json targets = Json::array();
  Json others = Json::array();
  for (const tracer::TargetMatch& match : matches) {
    if (!can_be_traced(match))
      others.push_back(json_of(match));
    else if (!refused)
      targets.push_back(json_of(match));
  }
  return dump({{"classes", nullptr}, {"targets", targets}, {"refused", others}}) + "\n";
}

}  // namespace uscope::cli
