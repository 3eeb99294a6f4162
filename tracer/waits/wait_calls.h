// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a system call that waits waits for, by its number and arguments. Memory is asked of the caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tracer/waits/held_locks.h"
#include "uscope/record.h"

namespace uscope::tracer {

struct CallFound {
  std::uint64_t args[6] = {};
  std::uint32_t nr = 0;
  std::uint8_t abi = USC_ABI_NATIVE;
  std::uint64_t stack_pointer = 0;
  std::uint64_t pc = 0;  // behind the instruction that made the call
};

// Reads memory of the thread.
using ReadMemory = std::function<bool(std::uint64_t from, void* to, std::size_t bytes)>;

// A text of the thread's memory; nothing if it cannot be read, or is longer than any path.
[[nodiscard]] std::optional<std::string> text_at(std::uint64_t at, const ReadMemory& read);

// /proc/PID/task/TID/syscall: "running", "-1 SP PC", or a number, six arguments, SP and PC. Nothing but for the last.
// `wchan`: the kernel's function in which the thread sleeps. A call that goes on by restart_syscall(2), after SIGSTOP
// and SIGCONT, is the one that it goes on with, where that can be told: its arguments are still there.
[[nodiscard]] std::optional<CallFound> parse_call(const std::string& line, const std::string& wchan,
                                                  const ReadMemory& read);

struct WaitedThing {
  usc_waited_kind what = USC_WAITED_DESCRIPTOR;
  usc_wants_kind wants = USC_WANTS_OTHER;
  int fd = -1;
  std::uint32_t pid = 0;   // as the thread's own namespace numbers it
  std::uint32_t pgid = 0;  // the same
};

struct OpenedPath {
  std::string path;
  int folder = -1;  // descriptor of the folder that a relative path begins at; below 0: the working directory
  bool reads = false;
  bool writes = false;
};

struct CallWaits {
  std::vector<WaitedThing> things;
  std::uint8_t timed = USC_TIMED_UNKNOWN;
  int epoll_fd = -1;                     // it waits for the set of this descriptor
  int semaphores = -1;                   // id of a System V set
  std::vector<SemaphoreChange> changes;  // what it asks of that set
  int messages = -1;                     // id of a System V message queue
  std::optional<std::uint64_t> bytes;    // that it asks to read or write, in all its buffers
  std::uint32_t parts = 0;               // so many buffers, where the call has a list of them
  std::optional<OpenedPath> path;        // that it opens
  bool own_group = false;                // for children of its own process group
  bool on_queue = false;                 // its one descriptor is that of a POSIX message queue
  bool is_followed = false;              // `things` is all that it waits for
  bool unreadable = false;               // memory that would tell could not be read
};

// Of a set's descriptor for whose input, or for room for output, a call waits.
[[nodiscard]] usc_wants_kind wants_of(bool in, bool out);

[[nodiscard]] CallWaits waits_of(const CallFound& call, const ReadMemory& read);

}  // namespace uscope::tracer
