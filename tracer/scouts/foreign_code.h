// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Processes in which the kernel's breakpoints (uprobes) do harm, whatever stands at their places, by /proc:
//
// - A debugger's own breakpoints are the same byte as the kernel's. The kernel takes each for its own as long as the
// file
//   is probed, and puts the file's instruction there when the probe is removed ("uprobes always wins",
//   kernel/events/uprobes.c). What the debugger reads before, and writes back, is the kernel's breakpoint.
// - A process that translates code as it runs (valgrind, qemu-user) reads the kernel's breakpoint as an instruction of
// the
//   program, and raises SIGTRAP where it is not.
#pragma once

#include <cstdint>
#include <string>

namespace uscope::tracer {

// Who traces a thread (ptrace); 0: nobody.
[[nodiscard]] std::uint32_t tracer_of(std::uint32_t tid);

// Which process that thread is of.
[[nodiscard]] std::uint32_t tracing_process_of(std::uint32_t tid);

// Whether it has another process's memory open for writing: a debugger has, strace has not. False for 0.
[[nodiscard]] bool can_write_memory(std::uint32_t pid);

// Where the kernel has loaded the dynamic loader (AT_BASE); 0: it has loaded the program alone.
[[nodiscard]] std::uint64_t loader_base_of(std::uint32_t tid);

// Whether it translates the code of the files that it has mapped: its program is a static one, so it has not the
// kernel, nor a dynamic loader, to thank for them, and it has executable memory without a file for what it makes of
// them. A translator that is a dynamic program is not known. `maps`: of /proc/PID/maps.
[[nodiscard]] bool translates_code(std::uint32_t tid, const std::string& maps);

}  // namespace uscope::tracer
