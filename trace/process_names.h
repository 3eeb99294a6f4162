// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How a process is called: the one name under which it is shown, and all the names by which --app and --process find
// it. They are the same for a process that uscope attached to and for one that it saw begin (docs/cli.md, "Names of
// processes").
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace uscope::trace {

// Whether the path is that of a descriptor or of "my own executable", so that its base name names nothing.
[[nodiscard]] bool names_nothing(std::string_view path);

// All "" for kernel threads and processes that have ended.
struct ProcessNames {
  std::string executable;  // base name of its executable, whatever link led to it
  std::string comm;        // of its first thread, at most 15 bytes: at first that of the file that it executed
  std::string title;       // its argument number 0, which some programs change into a description of themselves
  std::string script;      // base name of what it interprets (script_of)
  std::string path{};      // that was given to exec

  // The name under which it is shown: the base name of the path that was given to exec. Where that path says only by
  // which descriptor the file was found (/dev/fd/3, /proc/self/exe), or is not known, it is the title's first word,
  // or else the name of the first thread, or the executable's.
  [[nodiscard]] std::string name() const;
  // Whether it goes by this name. Of the title, the part behind the last slash counts, or that of its first word:
  // "redis-server" of "/usr/bin/redis-server *:6379".
  [[nodiscard]] bool has(std::string_view name) const;
  // Those names, each once, name() first.
  [[nodiscard]] std::vector<std::string> all() const;
};

// What a program of this name interprets by its arguments, each of which ends with NUL: the base name of a script, or
// the name of a module or class. "" if it is no interpreter, or is given no script (uscope/interpreter.h).
[[nodiscard]] std::string script_of(const std::string& executable, std::string_view arguments);

}  // namespace uscope::trace
