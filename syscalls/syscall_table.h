// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The system calls of Linux by number and name, in strace's classes, and sets of them as `-e` names them.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.h"
#include "uscope/record.h"

namespace uscope::syscalls {

// Bits of a class mask. The last two are not strace's.
enum SyscallClass : std::uint16_t {
  kClassFile = 1,     // %file: take a path
  kClassProcess = 2,  // %process: life of processes
  kClassNetwork = 4,  // %network
  kClassDesc = 8,     // %desc: take or give a descriptor
  kClassMemory = 16,  // %memory: mappings
  kClassSignal = 32,  // %signal
  kClassIpc = 64,     // %ipc: System V IPC
  kClassWait = 128,   // %wait: wait for other threads, peers and timers
  kClassSync = 256,   // %sync: write to the disk what was written to files
};

// Numbers above this are no calls of any ABI.
inline constexpr std::size_t kSyscallNumbers = 512;

// The ABIs that have a table of their own.
inline constexpr std::array kTableAbis = {USC_ABI_NATIVE, USC_ABI_COMPAT};

// "openat"; "syscall_<nr>" for a number without a name. With or without the mark of an ABI (USC_PLAIN_NUMBER).
[[nodiscard]] std::string syscall_name(usc_abi abi, std::uint32_t nr);

// Without the mark of an ABI.
[[nodiscard]] std::optional<std::uint32_t> syscall_number(usc_abi abi, std::string_view name);

// A mask of SyscallClass; 0 for a number without a name.
[[nodiscard]] std::uint16_t syscall_classes(usc_abi abi, std::uint32_t nr);
[[nodiscard]] std::uint16_t syscall_classes(std::string_view name);  // of either ABI

// What each argument is: a letter for each, explained in syscalls.def. Most COMPAT calls have the arguments of the
// 64-bit call of that name, or of the name without the width of its numbers (stat64). Nothing for calls that are not
// known.
[[nodiscard]] std::optional<std::string_view> syscall_arguments(usc_abi abi, std::uint32_t nr);

// The 64-bit call that a 32-bit one of this name is ("fcntl64": "fcntl"); the name itself where there is none, and in
// other ABIs.
[[nodiscard]] std::string_view syscall_wide_name(usc_abi abi, std::string_view name);

// What the arguments of a call point to, as usc_config has it (usc_string_slot). 0 = nothing
// is recorded. `contents`: also the kinds that are recorded on demand.
[[nodiscard]] std::uint64_t syscall_strings(usc_abi abi, std::uint32_t nr, bool contents = false);

// "file", "process" …: what stands behind % in a set.
[[nodiscard]] std::vector<std::string_view> syscall_class_names();

// The calls of a set, by number; the same names in both ABIs, and what has no name.
struct SyscallSet {
  std::array<std::bitset<kSyscallNumbers>, USC_CALL_TABLES> tables;  // by USC_CALL_TABLE()

  [[nodiscard]] bool none() const;

  // Calls of an ABI without a table of its own (x32) are in the set with the native call of their name.
  [[nodiscard]] bool contains(usc_abi abi, std::uint32_t nr) const;

  bool operator==(const SyscallSet&) const = default;
};

// The set that an option's text names: items with commas between them, each a call's name (of either ABI), a class
// (%file, %process, %network, %desc, %memory, %signal, %ipc, %wait, %sync), `all`, or `none`.
// - "!" before the whole text, as with strace: everything but the items. "!read,%file" leaves out read and %file.
// - "!" before later items: left out, wherever they stand. "%file,!stat" is "!stat" taken from %file.
// - `none`: no call; only a set with it may be empty.
// Numbers without a name are in `all` and in "!…" sets. Errors: an unknown item (the remedy offers the nearest names),
// an empty item, a set without any call.
[[nodiscard]] Result<SyscallSet> parse_syscall_set(const std::string& text);

}  // namespace uscope::syscalls
