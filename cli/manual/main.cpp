// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Prints the verbs and options that the command line is parsed by, as JSON: cli/manual/manual.py makes the man pages of
// it, and the option tables of docs/cli.md. A program of its own, which only a build runs.
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>

#include "cli/options/command_line.h"
#include "cli/verbs/all_verbs.h"

namespace uscope::cli {
namespace {

using Json = nlohmann::ordered_json;

Json declaration(const Option& option) {
  return {{"names", option.names()},
          {"value", option.value_name()},
          {"help", option.description()},
          {"value_may_be_left_out", option.may_stand_alone() && !option.value_name().empty()},
          {"required", option.is_required()},
          {"default", option.default_value()}};
}

Json declaration(const Verb& verb) {
  Json options = Json::array();
  for (const auto& option : verb.options()) options.push_back(declaration(*option));
  return {{"name", verb.name()}, {"description", verb.description()}, {"options", options}};
}

void print_declarations() {
  CommandLine line(kProgram, kPurpose, USCOPE_VERSION);
  add_verbs(line);
  Json verbs = Json::array();
  for (const auto& verb : line.verbs()) verbs.push_back(declaration(*verb));
  const Json all = {{"program", kProgram}, {"purpose", kPurpose}, {"version", USCOPE_VERSION}, {"verbs", verbs}};
  std::fputs((all.dump(1) + "\n").c_str(), stdout);
}

}  // namespace
}  // namespace uscope::cli

int main() {
  try {
    uscope::cli::print_declarations();
    return 0;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "uscope_declarations: %s\n", problem.what());
    return 1;
  }
}
