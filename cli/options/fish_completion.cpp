// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Each line of the script is one `complete` of fish.
#include "cli/options/completion.h"

namespace uscope::cli {
namespace {

// In single quotes, fish takes a backslash only before a quote or another one.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += (c == '\'' || c == '\\' ? "\\" : "") + std::string(1, c);
  return out + "'";
}

std::string words_of_place(const Option& option) {
  if (!option.suggestion_list().empty())
    return " -f -a '(__fish_uscope_" + option.suggestion_list() + ")'" +
           (completes(option) == Completes::kDatabase ? " -a '(__fish_complete_suffix .db)'" : "");
  switch (completes(option)) {
    case Completes::kWords:
      return " -f -a " + quoted(joined(option.words(), " "));
    case Completes::kDatabase:
      return " -f -a '(__fish_complete_suffix .db)'";
    case Completes::kFile:
      return " -F";
    case Completes::kCommand:
      return " -f -a '(__fish_uscope_command)'";
    default:
      return " -f";
  }
}

std::string verb_lines(const Verb& verb) {
  const std::string start = "complete -c uscope -n '__fish_uscope_verb " + verb.name() + "'";
  std::string out;
  for (const auto& option : verb.options()) {
    if (option->names().empty()) continue;
    out += start;
    for (const std::string& name : option->names())
      out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    if (option->takes_value() && !option->may_stand_alone()) out += " -r" + words_of_place(*option);
    out += " -d " + quoted(option->description()) + "\n";
  }
  const Option* positional = positional_of(verb);
  if (positional) out += start + words_of_place(*positional) + "\n";
  if (takes_command(verb) && positional && completes(*positional) != Completes::kCommand)
    out += start + " -f -a '(__fish_uscope_command)'\n";
  return out;
}

}  // namespace

std::string fish_completion(const CommandLine& line) {
  std::string out = R"(# fish completion for uscope, made by `uscope completion fish`. To use it:
#   uscope completion fish | source
function __fish_uscope_verb
  set -l words (commandline -opc)
  for word in $words[2..-1]
    string match -q -- '-*' $word; and continue
    test (count $argv) -eq 1; and test $word = $argv[1]
    return
  end
  test (count $argv) -eq 0
end
# The command behind `--`, and its arguments.
function __fish_uscope_command
  set -l words (commandline -opc)
  set -l at (contains -i -- -- $words); or return
  if test $at -eq (count $words)
    __fish_complete_command
  else
    complete -C (string join ' ' -- (string escape -- $words[(math $at + 1)..-1]) (commandline -ct))
  end
end
)";
  for (const auto& [name, words] : suggestion_lists(line)) {
    out += "function __fish_uscope_" + name +
           "\n  set -l head (string match -r -- '^.*,' (commandline -ct))\n  for word in";
    for (const std::string& word : words) out += " " + quoted(word);
    out += "\n    echo -- $head$word\n  end\nend\n";
  }
  out += R"(complete -c uscope -f
complete -c uscope -n __fish_uscope_verb -l help -d 'print a help message'
complete -c uscope -n __fish_uscope_verb -l version -d 'print the version'
)";
  for (const auto& verb : line.verbs())
    out += "complete -c uscope -n __fish_uscope_verb -a " + verb->name() + " -d " + quoted(verb->description()) + "\n";
  out += "complete -c uscope -n __fish_uscope_verb -a help -d 'print the help of a verb'\n";
  for (const auto& verb : line.verbs())
    out += "complete -c uscope -n '__fish_uscope_verb help' -f -a " + verb->name() + "\n";
  for (const auto& verb : line.verbs()) out += verb_lines(*verb);
  return out;
}

}  // namespace uscope::cli
