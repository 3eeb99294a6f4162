// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/verbs/completion.h"

#include <cstdio>
#include <memory>
#include <string>

#include "cli/options/completion.h"
#include "cli/terminal/output.h"

namespace uscope::cli {
namespace {

enum class Shell { kBash, kZsh, kFish };

std::string script_of(Shell shell, const CommandLine& line) {
  switch (shell) {
    case Shell::kZsh:
      return zsh_completion(line);
    case Shell::kFish:
      return fish_completion(line);
    default:
      return bash_completion(line);
  }
}

void define_completion(Verb& verb, const CommandLine& line) {
  const auto shell = std::make_shared<Shell>(Shell::kBash);
  verb.add_choice("SHELL", *shell, "the shell", {{"bash", Shell::kBash}, {"zsh", Shell::kZsh}, {"fish", Shell::kFish}})
      ->required();
  verb.runs([&line, shell]() -> Result<int> {
    Output out(stdout);
    out.write(script_of(*shell, line));
    if (auto done = out.finish(); !done) return done.error();
    return 0;
  });
}

}  // namespace

void add_completion(CommandLine& line) {
  line.add_verb("completion", "print a script with which the shell completes uscope's command line",
                [&line](Verb& verb) { define_completion(verb, line); });
}

}  // namespace uscope::cli
