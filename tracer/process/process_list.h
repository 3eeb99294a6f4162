// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The running processes according to /proc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace uscope::tracer {

// What /proc appends to the path of a file that has been deleted.
inline constexpr std::string_view kDeleted = " (deleted)";

// The target of a symbolic link in /proc; empty if the link cannot be read.
[[nodiscard]] std::string link_target(const std::string& link);

// The pids of all running processes, as in uscope's own /proc.
[[nodiscard]] std::vector<std::uint32_t> running_processes();

// Whether it is this process, or one that this process or a descendant of it has started: uscope's own helpers.
[[nodiscard]] bool is_own_process(std::uint32_t pid);

// A living thread of the process, through whose tid /proc shows memory and files: `pid` itself, unless its first thread
// has ended before others.
[[nodiscard]] std::uint32_t living_thread_of(std::uint32_t pid);

// Its arguments, each ended by NUL, at most `most` bytes; empty if it has ended, and for kernel threads.
[[nodiscard]] std::string command_line_of(std::uint32_t pid, std::size_t most = 4096);

// The name of its first thread, at most 15 bytes; "" if it has ended.
[[nodiscard]] std::string name_of(std::uint32_t pid);

// The path of its executable as it was started, in its own root; "" if it has ended, and for kernel threads. For a
// deleted file, the path that it had.
[[nodiscard]] std::string executable_of(std::uint32_t pid);

// The names that a process goes by (include/uscope/target.h), all "" for kernel threads and processes that have ended.
struct ProcessNames {
  std::string executable;  // base name of its executable, whatever link led to it
  std::string comm;        // of its first thread, at most 15 bytes: at first that of the file that it executed
  std::string title;       // its argument number 0, which some programs change into a description of themselves
  std::string script;      // base name of what it interprets (script_of)

  // Whether it goes by this name. Of the title, the part behind the last slash counts, or that of its first word:
  // "redis-server" of "/usr/bin/redis-server *:6379".
  [[nodiscard]] bool has(std::string_view name) const;
  // Those names, each once. The name of the first thread may be cut, and is not the first one.
  [[nodiscard]] std::vector<std::string> all() const;
};
[[nodiscard]] ProcessNames names_of(std::uint32_t pid);

// What a program of this name interprets by its arguments, each of which ends with NUL: the base name of a script, or
// the name of a module or class. "" if it is no interpreter, or is given no script (uscope/interpreter.h).
[[nodiscard]] std::string script_of(const std::string& executable, std::string_view arguments);

// An executable mapping of a file; the path is as from executable_of().
struct ExecutableMapping {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::string path;
};
[[nodiscard]] std::vector<ExecutableMapping> executable_mappings_of(std::uint32_t pid);

}  // namespace uscope::tracer
