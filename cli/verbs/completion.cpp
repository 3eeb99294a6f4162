// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// For each verb the script holds its options, the options that take a value, and the choices of those that have some.
// Everything else that can follow (files, commands) is completed as a file name. Choices are read from the text that
// CLI11 shows for IsMember in its help: {a,b}.
#include "cli/verbs/completion.h"

#include <CLI/CLI.hpp>
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

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  return names;
}

// "a b" for an option whose type reads "TEXT:{a,b}"; empty if it has no choices.
std::string choices(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t open = type.find('{');
  const std::size_t close = type.rfind('}');
  if (open == std::string::npos || close == std::string::npos || close < open) return "";
  std::string words = type.substr(open + 1, close - open - 1);
  for (char& c : words)
    if (c == ',') c = ' ';
  return words;
}

// The words that may appear at the cursor within one verb.
struct VerbWords {
  std::vector<std::string> options;
  std::vector<std::string> with_file;  // take a value without choices
  std::vector<std::pair<std::vector<std::string>, std::string>> with_choices;
  std::string positional;  // choices of a positional, else empty
};

VerbWords words_of(const CLI::App& app) {
  VerbWords words;
  for (const CLI::Option* option : app.get_options()) {
    const std::vector<std::string> names = names_of(*option);
    const std::string values = choices(*option);
    if (names.empty()) {
      if (!values.empty()) words.positional = values;
      continue;
    }
    words.options.insert(words.options.end(), names.begin(), names.end());
    if (option->get_items_expected_max() == 0) continue;
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

std::string bash_completion(const CLI::App& app) {
  std::vector<std::string> verbs;
  std::string cases;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    verbs.push_back(verb->get_name());
    cases += verb_case(verb->get_name(), words_of(*verb));
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
         join(verbs, " ") + "\" options=\"" + join(words_of(app).options, " ") + "\" ;;\n" + cases + R"(  esac
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

void add_completion(CLI::App& app, Invocation& invocation) {
  CLI::App* verb =
      app.add_subcommand("completion", "print a script with which the shell completes uscope's command line");
  verb->add_option("SHELL", "the shell")->required()->check(CLI::IsMember({"bash"}));
  verb->callback([&app, &invocation] {
    invocation.run = [&app]() -> Result<int> {
      Output out(stdout);
      out.write(bash_completion(app));
      if (auto done = out.finish(); !done) return done.error();
      return 0;
    };
  });
}

}  // namespace uscope::cli
