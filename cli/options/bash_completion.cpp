// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// For each verb the script holds its options, what the values of options are, and what stands elsewhere. bash takes a
// word apart at `=`, `:` and `@`.
#include <map>
#include <vector>

#include "cli/options/completion.h"

namespace uscope::cli {
namespace {

// What the script's variables say of a place.
std::string of_place(const Option* option) {
  if (!option) return ":";
  if (const std::string& list = option->suggestion_list(); !list.empty())
    return "words=\"$_uscope_" + list + "\" open=1" +
           (completes(*option) == Completes::kDatabase ? " files='*.db'" : "");
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
  std::string lists;
  for (const auto& [name, words] : suggestion_lists(line))
    lists += "_uscope_" + name + "=\"" + joined(words, " ") + "\"\n";
  for (const auto& verb : line.verbs()) {
    verbs.push_back(verb->name());
    cases += bash_case(*verb);
  }
  return R"(# bash completion for uscope, made by `uscope completion bash`. To use it:
#   source <(uscope completion bash)
)" + lists +
         R"(_uscope() {
  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}"
  local verb="" options="" words="" files="" command="" open="" head="" i
  # bash takes --option=value for three words.
  [[ "$current" == "=" ]] && current=""
  [[ "$previous" == "=" ]] && previous="${COMP_WORDS[COMP_CWORD-2]}"
  if [[ "$current" == "@" ]]; then
    current="" head="@"
  elif [[ "$previous" == "@" ]]; then
    head="@" previous="${COMP_WORDS[COMP_CWORD-2]}"
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ "${COMP_WORDS[i]}" != -* ]]; then
      verb="${COMP_WORDS[i]}"
      break
    fi
  done
  COMPREPLY=()
  case "$verb" in
    "") words="help )" +
         joined(verbs, " ") + "\" options=\"" + joined(line.own_options(), " ") + "\" ;;\n    help) words=\"" +
         joined(verbs, " ") + "\" ;;\n" + cases + R"(  esac
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
  elif [[ -n "$words" && -n "$head" ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "@$current")
    COMPREPLY=("${COMPREPLY[@]#@}")
  elif [[ -n "$words" && -n "$open" ]]; then
    [[ "$current" == *,* ]] && head="${current%,*},"
    mapfile -t COMPREPLY < <(compgen -P "$head" -W "$words" -- "${current##*,}")
    [[ ${#COMPREPLY[@]} == 1 && "${COMPREPLY[0]}" == *: ]] && compopt -o nospace 2>/dev/null
  elif [[ -n "$words" ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  fi
  if [[ "$current" != -* && -n "$files" && ${#COMPREPLY[@]} == 0 ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -X "!$files" -- "$current"; compgen -d -- "$current")
    ((${#COMPREPLY[@]} != 0)) || mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}
complete -F _uscope uscope
)";
}

}  // namespace uscope::cli
