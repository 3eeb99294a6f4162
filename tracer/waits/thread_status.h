// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What /proc says of a thread: its state, the signals that its process handles, its numbers in namespaces.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace uscope::tracer {

struct ThreadStatus {
  char state = '?';
  std::uint64_t switches = 0;
  std::uint32_t tracer = 0;
  std::optional<std::uint32_t> parent;  // 0: in no pid namespace of uscope's
  std::vector<std::uint32_t> ns_pids;   // outermost first
  std::uint32_t group = 0;              // NSpgid, of uscope's namespace
  std::optional<std::uint64_t> caught;  // signals for which the process has handlers: bit 0 is signal 1
  std::uint64_t ignored = 0;            // signals that the process ignores
  std::uint64_t blocked = 0;  // signals that the thread blocks, as ppoll and the like have set it for their time
  bool operator==(const ThreadStatus& other) const { return state == other.state && switches == other.switches; }
};

[[nodiscard]] std::optional<ThreadStatus> status_of(std::uint32_t pid, std::uint32_t tid);

// Who traces the thread with ptrace, as a thread's number; 0: nobody, or it has ended.
[[nodiscard]] std::uint32_t tracer_of(std::uint32_t pid, std::uint32_t tid);

// The process of a thread; nothing if there is no thread of this number.
[[nodiscard]] std::optional<std::uint32_t> process_of_thread(std::uint32_t tid);

// The number of a thread in its innermost pid namespace.
[[nodiscard]] std::optional<std::uint32_t> inner_number_of(std::uint32_t pid, std::uint32_t tid);

// The threads of a process; empty if it has ended.
[[nodiscard]] std::vector<std::uint32_t> threads_of(std::uint32_t pid);

// Empty: it cannot be read.
[[nodiscard]] std::string first_line(const std::string& path);

// The signal that has stopped a process; 0: that cannot be told.
[[nodiscard]] std::uint8_t stop_signal_of(std::uint32_t pid);

// Whether a thread that sleeps in this function of the kernel waits for something else than what its call is about: for
// the supervisor of a seccomp filter, for who serves a page (userfaultfd) or a file system (FUSE; mounts.h tells
// whether the call is about a file there).
[[nodiscard]] bool sleeps_elsewhere(const std::string& wchan);

// enum usc_thread_state. `wchan`: the kernel's function in which the thread sleeps.
[[nodiscard]] std::uint8_t state_of(const ThreadStatus& status, const std::string& wchan);

}  // namespace uscope::tracer
