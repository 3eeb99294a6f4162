// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// For each verb the script holds its options, the options that take a value, and the choices of those that have some.
// Everything else that can follow (files, commands) is completed as a file name.
#include "cli/verbs/completion.h"

#include <cstdio>
#include <memory>
#include <vector>

#include "cli/terminal/output.h"

namespace uscope::cli {
namespace {

std::string join(const std::vector<std::string>& words, const char* separator) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : separator) + word;
  return text;
}

// The words that may appear at the cursor within one verb.
struct VerbWords {
  std::vector<std::string> options;
  std::vector<std::string> with_file;  // take a value without choices
  std::vector<std::pair<std::vector<std::string>, std::string>> with_choices;
  std::string positional;  // choices of a positional, else empty
};

VerbWords words_of(const Verb& verb) {
  VerbWords words;
  for (const auto& option : verb.options()) {
    const Words names = option->names();
    const std::string values = join(option->words(), " ");
    if (names.empty()) {
      if (!values.empty()) words.positional = values;
      continue;
    }
    words.options.insert(words.options.end(), names.begin(), names.end());
    if (!option->takes_value()) continue;
    if (values.empty()) {
      words.with_file.insert(words.with_file.end(), names.begin(), names.end());
    } else {
      words.with_choices.emplace_back(names, values);
    }
  }
  return words;
}

std::string verb_case(const std::string& name, const VerbWords& words) {
  std::string out = "    " + name + ")\n      case \"$previous\" in\n";
  for (const auto& [names, values] : words.with_choices)
    out += "        " + join(names, "|") + ") words=\"" + values + "\" ;;\n";
  if (!words.with_file.empty()) out += "        " + join(words.with_file, "|") + ") files=1 ;;\n";
  out += "        *) options=\"" + join(words.options, " ") + "\"\n";
  out += words.positional.empty() ? "           files=1 ;;\n" : "           words=\"" + words.positional + "\" ;;\n";
  return out + "      esac ;;\n";
}

}  // namespace

std::string bash_completion(const CommandLine& line) {
  std::vector<std::string> verbs;
  std::string cases;
  for (const auto& verb : line.verbs()) {
    verbs.push_back(verb->name());
    cases += verb_case(verb->name(), words_of(*verb));
  }
  return R"(# bash completion for uscope, made by `uscope completion bash`. To use it:
#   source <(uscope completion bash)
_uscope() {
  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}"
  local verb="" options="" words="" files="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ "${COMP_WORDS[i]}" != -* ]]; then
      verb="${COMP_WORDS[i]}"
      break
    fi
  done
  case "$verb" in
    "") words=")" +
         join(verbs, " ") + "\" options=\"" + join(line.own_options(), " ") + "\" ;;\n" + cases + R"(  esac
  COMPREPLY=()
  if [[ "$current" == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
  elif [[ -n "$words" ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  elif [[ -n "$files" ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}
complete -F _uscope uscope
)";
}

void add_completion(CommandLine& line) {
  const auto shell = std::make_shared<std::string>();
  Verb* verb = line.add_verb("completion", "print a script with which the shell completes uscope's command line");
  verb->add_option("SHELL", *shell, "the shell")->required()->one_of({"bash"});
  verb->runs([&line, shell]() -> Result<int> {
    Output out(stdout);
    out.write(bash_completion(line));
    if (auto done = out.finish(); !done) return done.error();
    return 0;
  });
}

}  // namespace uscope::cli
