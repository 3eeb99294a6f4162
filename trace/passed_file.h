// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A descriptor in a message, as struct usc_passed describes it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "uscope/record.h"

namespace uscope::trace {

struct PassedFile {
  int fd = -1;
  std::uint64_t dev = 0;
  std::uint64_t ino = 0;
  std::uint32_t space = 0;  // of a file that was opened: the task's mount namespace, by its inode
  bool is_socket = false;
  bool is_anonymous = false;  // an anonymous inode, which may stand for several files
  bool is_pidfd = false;      // the kernel has put it into the message (SCM_PIDFD)
  std::string name;           // in the notation of /proc/PID/fd, as the trace has it: any bytes; empty: not known
};

// The numbers of a PassedFile as an OrderedString keeps them.
[[nodiscard]] std::array<std::uint64_t, 3> passed_numbers(const PassedFile& file);
[[nodiscard]] PassedFile passed_file(const std::array<std::uint64_t, 3>& numbers);

// `bytes` are those of a usc_string that holds DESCRIPTOR. They are not trusted; too few of them say nothing.
[[nodiscard]] PassedFile passed_file(std::string_view bytes);

// The same record's bytes without the path, for one that is to be hidden.
[[nodiscard]] std::string without_path(std::string_view bytes);

}  // namespace uscope::trace
