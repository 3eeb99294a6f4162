// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// For each verb the script holds its options, what the values of options are, and what stands elsewhere.
#include <map>
#include <vector>

#include "cli/options/completion.h"

namespace uscope::cli {
namespace {

// What the script's variables say of a place.
std::string of_place(const Option* option) {
  if (!option) return ":";
  switch (completes(*option)) {
    case Completes::kWords:
      return "words=\"" + joined(option->words(), " ") + "\"";
    case Completes::kDatabase:
      return "files='*.db'";
    case Completes::kFile:
      return "files='*'";
    default:
      return ":";
  }
}

std::string bash_case(const Verb& verb) {
  Words options;
  std::map<std::string, Words> with_value;  // by what the value is
  for (const auto& option : verb.options()) {
    const Words names = option->names();
    options.insert(options.end(), names.begin(), names.end());
    if (names.empty() || !option->takes_value() || option->may_stand_alone()) continue;
    Words& same = with_value[of_place(option.get())];
    same.insert(same.end(), names.begin(), names.end());
  }
  std::string out = "    " + verb.name() + ")\n      case \"$previous\" in\n";
  for (const auto& [place, names] : with_value) out += "        " + joined(names, "|") + ") " + place + " ;;\n";
  out += "        *) options=\"" + joined(options, " ") + "\"\n           " + of_place(positional_of(verb)) + " ;;\n";
  out += "      esac";
  return out + (takes_command(verb) ? "\n      command=1 ;;\n" : " ;;\n");
}

}  // namespace

std::string bash_completion(const CommandLine& line) {
  Words verbs;
  std::string cases;
  for (const auto& verb : line.verbs()) {
    verbs.push_back(verb->name());
    cases += bash_case(*verb);
  }
  return R"(# bash completion for uscope, made by `uscope completion bash`. To use it:
#   source <(uscope completion bash)
_uscope() {
  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}"
  local verb="" options="" words="" files="" command="" i
  # bash takes --option=value for three words.
  [[ "$current" == "=" ]] && current=""
  [[ "$previous" == "=" ]] && previous="${COMP_WORDS[COMP_CWORD-2]}"
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ "${COMP_WORDS[i]}" != -* ]]; then
      verb="${COMP_WORDS[i]}"
      break
    fi
  done
  COMPREPLY=()
  case "$verb" in
    "") words=")" +
         joined(verbs, " ") + "\" options=\"" + joined(line.own_options(), " ") + "\" ;;\n" + cases + R"(  esac
  for ((i++; i < COMP_CWORD; i++)); do
    [[ "${COMP_WORDS[i]}" == "--" ]] || continue
    if [[ -n "$command" ]] && declare -F _command_offset >/dev/null; then
      _command_offset $((i + 1))
      return
    fi
    options="" words="" files='*'
    [[ -n "$command" ]] && ((COMP_CWORD == i + 1)) && mapfile -t COMPREPLY < <(compgen -c -- "$current")
    break
  done
  if [[ "$current" == -* && -n "$options" ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
  elif [[ -n "$words" ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  elif [[ -n "$files" && ${#COMPREPLY[@]} == 0 ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -X "!$files" -- "$current"; compgen -d -- "$current")
    ((${#COMPREPLY[@]} != 0)) || mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}
complete -F _uscope uscope
)";
}

}  // namespace uscope::cli
