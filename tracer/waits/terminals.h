// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the kernel tells of a terminal that a process has open. The terminal is not opened: the process's descriptor is
// copied, asked, and given back, which the process does not notice.
#pragma once

#include <cstdint>
#include <optional>

namespace uscope::tracer {

struct TerminalFacts {
  std::optional<std::uint32_t> number;  // of a pseudo-terminal: N of /dev/pts/N
  bool limits_reads = false;            // a read ends after a time, if nothing comes (VMIN 0 and VTIME)
};

// Nothing: it cannot be asked, or is no terminal.
[[nodiscard]] std::optional<TerminalFacts> terminal_of(std::uint32_t pid, int fd);

// `fd`: of a pseudo-terminal's master. The process that leads its session; 0: it has none. Nothing: it cannot be asked.
[[nodiscard]] std::optional<std::uint32_t> session_of_terminal(std::uint32_t pid, int fd);

// The number of the pseudo-terminal with this device number, as stat(2) and TIOCGDEV have it.
[[nodiscard]] std::optional<std::uint32_t> pseudo_terminal(std::uint32_t major, std::uint32_t minor);

}  // namespace uscope::tracer
