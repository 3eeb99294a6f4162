// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The running processes according to /proc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/process_names.h"

namespace uscope::tracer {

// What /proc appends to the path of a file that has been deleted.
inline constexpr std::string_view kDeleted = " (deleted)";

// The target of a symbolic link in /proc; empty if the link cannot be read.
[[nodiscard]] std::string link_target(const std::string& link);

// The pids of all running processes, as in uscope's own /proc.
[[nodiscard]] std::vector<std::uint32_t> running_processes();

// Whether it is one of the kernel's own threads. False: it has ended.
[[nodiscard]] bool is_kernel_thread(std::uint32_t pid);

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

// The path that was given to the exec which made its image, from where exec left it in the process's memory. "" if that
// cannot be read. A process can write there, as it can change its arguments.
[[nodiscard]] std::string executed_path_of(std::uint32_t pid);

// The names that a process goes by; all "" for kernel threads and processes that have ended.
[[nodiscard]] trace::ProcessNames names_of(std::uint32_t pid);

// An executable mapping of a file; the path is as from executable_of().
struct ExecutableMapping {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;  // of `start` in the file
  std::string path;
};
[[nodiscard]] std::vector<ExecutableMapping> executable_mappings_of(std::uint32_t pid);

// Where /proc has the file of a mapping: itself, whatever its path leads to by now.
[[nodiscard]] std::string map_files_entry(std::uint32_t pid, std::uint64_t start, std::uint64_t end);

// [start, end)
struct AddressRange {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
};
// Where executable memory lies, by rising address, of files and without; not what the kernel maps into every process
// ([vsyscall]). Empty if it could not be read.
[[nodiscard]] std::vector<AddressRange> executable_ranges_of(std::uint32_t pid);

}  // namespace uscope::tracer
