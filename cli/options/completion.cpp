// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/options/completion.h"

#include <algorithm>

namespace uscope::cli {

Completes completes(const Option& option) {
  if (!option.words().empty()) return Completes::kWords;
  const std::string name = option.value_name();
  if (name.starts_with("FILE.db") || name == "QUESTION") return Completes::kDatabase;
  if (name.starts_with("FILE") || name == "RAW" || name == "PATH" || name == "PATTERN") return Completes::kFile;
  return name == "COMMAND" ? Completes::kCommand : Completes::kNothing;
}

const Option* positional_of(const Verb& verb) {
  const Option* many = nullptr;
  for (const auto& option : verb.options()) {
    if (option->names().empty()) return option.get();
    if (option->value_name().ends_with("...")) many = option.get();
  }
  return many;
}

bool takes_command(const Verb& verb) {
  return std::any_of(verb.options().begin(), verb.options().end(),
                     [](const auto& option) { return completes(*option) == Completes::kCommand; });
}

std::map<std::string, Words> suggestion_lists(const CommandLine& line) {
  std::map<std::string, Words> lists;
  for (const auto& verb : line.verbs())
    for (const auto& option : verb->options())
      if (!option->suggestion_list().empty()) lists.emplace(option->suggestion_list(), option->suggestions());
  return lists;
}

std::string joined(const Words& words, const std::string& separator) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : separator) + word;
  return text;
}

}  // namespace uscope::cli
