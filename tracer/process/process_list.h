// What /proc says of the processes that run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace uscope::tracer {

// The processes that run now, by the numbers that our own /proc gives them.
[[nodiscard]] std::vector<std::uint32_t> running_processes();

// A thread of it that lives, by whose number /proc tells of its memory and files: `pid` itself, unless its first thread
// has ended before others.
[[nodiscard]] std::uint32_t living_thread_of(std::uint32_t pid);

// Its arguments, each ended by NUL, at most `most` bytes; empty where it has gone, or for kernel threads.
[[nodiscard]] std::string command_line_of(std::uint32_t pid, std::size_t most = 4096);

// The name of its first thread, at most 15 bytes; "" where it has gone.
[[nodiscard]] std::string name_of(std::uint32_t pid);

// The path of its executable as it was started, in its own root; "" where it has gone, or for kernel threads. Of a
// deleted one, the path it had.
[[nodiscard]] std::string executable_of(std::uint32_t pid);

// Whether a process goes by one of these names: its executable's base name or, where that is an interpreter
// (include/uscope/target.h), that of the script it was given.
[[nodiscard]] bool goes_by_name(std::uint32_t pid, const std::vector<std::string>& names);

// An executable mapping of a file; the path as executable_of gives it.
struct ExecutableMapping {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::string path;
};
[[nodiscard]] std::vector<ExecutableMapping> executable_mappings_of(std::uint32_t pid);

}  // namespace uscope::tracer
