// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Scripts with which shells complete uscope's command line: verbs, options, values of options, databases and other
// files, and the command that is to be traced. They are made from the declarations that also parse the command line.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/options/command_line.h"

namespace uscope::cli {

// For `source <(uscope completion bash)`, or a file of bash-completion.
[[nodiscard]] std::string bash_completion(const CommandLine& line);
// For `source <(uscope completion zsh)` behind compinit, or the file _uscope in a folder of $fpath.
[[nodiscard]] std::string zsh_completion(const CommandLine& line);
// For `uscope completion fish | source`, or the file uscope.fish in a folder of $fish_complete_path.
[[nodiscard]] std::string fish_completion(const CommandLine& line);

// What can stand at a place of a command line.
enum class Completes {
  kNothing,   // a word that nobody can list
  kWords,     // one of Option::words()
  kDatabase,  // a file *.db
  kFile,
  kCommand,  // a program and its arguments
};
[[nodiscard]] Completes completes(const Option& option);
// What stands where no option does: the first positional; for a verb without one, what its options take one after the
// other. Nullptr: nothing does.
[[nodiscard]] const Option* positional_of(const Verb& verb);
// Whether a verb takes a command behind `--`.
[[nodiscard]] bool takes_command(const Verb& verb);

// The lists that options suggest words of, by name.
[[nodiscard]] std::map<std::string, Words> suggestion_lists(const CommandLine& line);

[[nodiscard]] std::string joined(const Words& words, const std::string& separator);

}  // namespace uscope::cli
