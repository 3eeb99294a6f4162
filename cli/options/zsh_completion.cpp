// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// For each verb the script holds the specifications that _arguments of zsh takes.
#include <fmt/core.h>

#include "cli/options/completion.h"
#include "support/text.h"

namespace uscope::cli {
namespace {

// Within a specification, these characters end a part of it.
std::string escaped(const std::string& text, const std::string& ends) {
  std::string out;
  for (const char c : text) out += (ends.find(c) != std::string::npos ? "\\" : "") + std::string(1, c);
  return out;
}

std::string action(const Option& option) {
  if (!option.suggestion_list().empty()) return "_uscope_" + option.suggestion_list();
  switch (completes(option)) {
    case Completes::kWords:
      return "(" + joined(option.words(), " ") + ")";
    case Completes::kDatabase:
      return "_files -g \"*.db\"";
    case Completes::kFile:
      return "_files";
    default:
      return " ";
  }
}

// ":MESSAGE:ACTION" of a value.
std::string value(const Option& option) {
  return ":" + escaped(option.value_name(), ":\\") + ":" + action(option);
}

// One option: '(-o --output)'{-o,--output}'[what it is for]:FILE:_files'. It may be given again.
std::string option_spec(const Option& option) {
  std::string shown = "[" + escaped(option.description(), "[]:\\") + "]";
  if (option.takes_value()) shown += option.may_stand_alone() ? ":" + value(option) : value(option);
  std::string out;
  for (const std::string& name : option.names()) {
    const bool by_equal = option.takes_value() && name.starts_with("--");
    const std::string behind = !by_equal ? "" : option.may_stand_alone() ? "=-" : "=";
    out += " \\\n        ";
    out += shell_quoted(fmt::format("*{}{}{}", name, behind, shown));
  }
  return out;
}

std::string zsh_case(const Verb& verb) {
  std::string out = "      " + verb.name() + ")\n        _arguments -s -S";
  for (const auto& option : verb.options())
    if (!option->names().empty()) out += option_spec(*option);
  const Option* positional = positional_of(verb);
  const bool has_command = takes_command(verb);
  if (positional && completes(*positional) != Completes::kCommand)
    out += " \\\n        " + shell_quoted((has_command ? "1:" : "*:") + value(*positional).substr(1));
  if (has_command) out += " \\\n        '*:::command:_normal'";
  return out + " ;;\n";
}

}  // namespace

namespace {

// A function for each list; databases stand beside ready questions.
std::string zsh_lists(const CommandLine& line) {
  std::string out;
  for (const auto& [name, words] : suggestion_lists(line)) {
    std::string list;
    for (const std::string& word : words) list.append(" ").append(shell_quoted(word));
    out += fmt::format("_uscope_{}() {{\n  compset -P '*,'\n  compadd -S '' --{}\n{}}}\n", name, list,
                       name == "questions" ? "  _files -g \"*.db\"\n" : "");
  }
  return out;
}

}  // namespace

std::string zsh_completion(const CommandLine& line) {
  std::string verbs;
  std::string cases;
  for (const auto& verb : line.verbs()) {
    verbs += "        " + shell_quoted(verb->name() + ":" + escaped(verb->description(), ":\\")) + "\n";
    cases += zsh_case(*verb);
  }
  return R"(#compdef uscope
# zsh completion for uscope, made by `uscope completion zsh`. To use it, behind compinit:
#   source <(uscope completion zsh)
)" + zsh_lists(line) +
         R"(_uscope() {
  local context state state_descr line
  typeset -A opt_args
  _arguments -C '(- *)--help[print a help message]' '(- *)--version[print the version]' '1:verb:->verb' '*::argument:->argument'
  local -a verbs=(
        'help:print the help of a verb'
)" + verbs +
         R"(      )
  case $state in
    verb)
      _describe verb verbs ;;
    argument)
      case $words[1] in
      help)
        _describe verb verbs ;;
)" + cases +
         R"(      esac ;;
  esac
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _uscope "$@"
else
  compdef _uscope uscope
fi
)";
}

}  // namespace uscope::cli
