// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/waits/terminals.h"

#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <termios.h>

#include "tracer/process/copied_descriptor.h"
#include "tracer/waits/descriptors.h"

namespace uscope::tracer {
std::optional<std::uint32_t> pseudo_terminal(std::uint32_t major, std::uint32_t minor) {
  constexpr std::uint32_t kMajor = 136;  // UNIX98_PTY_SLAVE_MAJOR
  return major == kMajor ? std::optional(minor) : std::nullopt;
}

std::optional<TerminalFacts> terminal_of(std::uint32_t pid, int fd) {
  const UniqueFd terminal = copy_of(pid, fd);
  std::uint32_t device = 0;
  termios settings{};
  if (!terminal || ioctl(terminal.get(), TIOCGDEV, &device) != 0 || tcgetattr(terminal.get(), &settings) != 0)
    return std::nullopt;
  TerminalFacts facts;
  facts.number = pseudo_terminal(major(device), minor(device));
  facts.limits_reads = (settings.c_lflag & ICANON) == 0 && settings.c_cc[VMIN] == 0 && settings.c_cc[VTIME] != 0;
  return facts;
}

std::optional<std::uint32_t> session_of_terminal(std::uint32_t pid, int fd) {
  const UniqueFd master = copy_of(pid, fd);
  pid_t leader = 0;
  if (!master) return std::nullopt;
  // The kernel refuses where the terminal is nobody's. The leader may be in a pid namespace that is not seen from here.
  if (ioctl(master.get(), TIOCGSID, &leader) != 0) return 0;
  return leader > 0 ? std::optional(static_cast<std::uint32_t>(leader)) : std::nullopt;
}

}  // namespace uscope::tracer
