// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Calls on descriptors, one after the other, in a synthetic raw trace.
#pragma once

#include <fcntl.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "syscalls/syscall_table.h"
#include "tests/unit/trace/raw_trace.h"

namespace uscope {

// `Base` has the trace, std::optional<RawTrace> trace_.
template <typename Base>
class CallsOf : public Base {
 protected:
  // Task 1 made another one by the last call.
  void make(std::uint32_t task, std::uint32_t process, std::uint32_t shares = 0) {
    this->trace_->task({.task = task,
                        .process = process,
                        .parent_task = 1,
                        .pid = 99 + process,
                        .tid = 99 + task,
                        .flags = USC_TASK_FORKED | shares | (process != 1 ? USC_TASK_PROCESS : 0U),
                        .time = next_ + 3});
  }
  // The task of the calls that follow; the first ones are task 1's.
  void of_task(std::uint32_t task) { task_ = task; }

  // A call that is entered at the next moment and returns 5 ns later.
  void call(const char* name, std::int64_t result, std::uint64_t a0 = 0, std::uint64_t a1 = 0, std::uint64_t a2 = 0) {
    next_ += 10;
    this->trace_->event({.task = task_,
                         .entry = next_,
                         .end = next_ + 5,
                         .result = result,
                         .nr = syscalls::syscall_number(USC_ABI_X86_64, name).value_or(999),
                         .flags = flags_,
                         .a0 = a0,
                         .a1 = a1,
                         .a2 = a2});
  }
  void text(std::uint8_t arg, const std::string& text) { this->trace_->string(task_, next_, arg, text); }
  void open(const std::string& path, std::int64_t fd, std::uint64_t flags = 0) {
    call("openat", fd, static_cast<std::uint64_t>(AT_FDCWD), 0, flags);
    text(1, path);
  }
  void read(std::uint64_t fd) { call("read", 0, fd); }

  // The kernel side's words on the descriptor `fd` of the last call's message, in its argument 1.
  void carries(std::uint8_t kind, int fd, std::uint64_t ino, std::uint32_t mode, const std::string& components,
               std::uint16_t flags = 0) {
    usc_passed file{};
    file.dev = 1;
    file.ino = ino;
    file.fd = fd;
    file.mode = mode;
    file.links = 1;
    file.path_bytes = static_cast<decltype(file.path_bytes)>(components.size());
    std::string bytes(sizeof(file), '\0');
    std::memcpy(bytes.data(), &file, sizeof(file));
    this->trace_->string(task_, next_, 1, bytes + components, kind, flags);
  }

  std::uint32_t task_ = 1;
  std::uint32_t image_ = 100;
  std::uint8_t flags_ = 0;  // USC_EVENT_* of the calls that follow
  std::uint64_t next_ = kStart + 1000;
};

}  // namespace uscope
