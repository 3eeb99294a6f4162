// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Names of the bits and numbers that system calls take: open flags, socket families, futex operations and so on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace uscope::syscalls {

struct FlagName {
  std::uint64_t value;
  const char* name;
};

// A value of some bits which says nothing, and which the kernel drops.
struct FlagMagic {
  std::uint64_t mask = 0;
  FlagName value = {0, nullptr};
};

// A number within the flags, written as "21<<MAP_HUGE_SHIFT".
struct FlagField {
  unsigned shift = 0;
  std::uint64_t mask = 0;  // of the number
  const char* shift_name = nullptr;
};

// A number of which the bits of `part` are an enumeration, and all others flags. An enumeration alone has all bits in
// `part`, flags alone have none.
struct FlagSet {
  std::uint64_t part;
  std::span<const FlagName> numbers;  // of `part`
  std::span<const FlagName> flags;    // of the rest; a name of several bits before those of one of them
  bool hides_zero = false;            // the enumeration's 0 is not worth a name beside flags
  FlagMagic magic = {};
  FlagField field = {};
  bool part_in_octal = false;  // the part is a file's permissions
};

// How an argument of a call is written; null where it has no names. `call` as in syscalls/syscalls.def.
[[nodiscard]] const FlagSet* flags_of(std::string_view call, std::size_t arg);

// The set of a socket option's number, which depends on the level; `gets`: of getsockopt. And of a socket's protocol,
// by its family.
[[nodiscard]] const FlagSet* flags_of_option(std::uint64_t level, std::uint64_t option, bool gets);
[[nodiscard]] const FlagSet* flags_of_protocol(std::uint64_t family);

// The two parts of quotactl's command.
[[nodiscard]] const FlagSet& quota_commands();
[[nodiscard]] const FlagSet& quota_types();

// Parts of what FUTEX_WAKE_OP does to the second futex.
[[nodiscard]] const FlagSet& futex_operations();
[[nodiscard]] const FlagSet& futex_comparisons();

// Of fields of structures: `events` of struct pollfd and of struct epoll_event, and si_code of a child's siginfo_t.
[[nodiscard]] const FlagSet& poll_events();
[[nodiscard]] const FlagSet& epoll_events();
[[nodiscard]] const FlagSet& child_codes();

// Whether the set says more of a number than its digits: not of an enumeration that does not have it.
[[nodiscard]] bool has_name(const FlagSet& set, std::uint64_t value);

// The number that a set has under a name.
[[nodiscard]] std::optional<std::uint64_t> flag_value(const FlagSet& set, std::string_view name);

// "O_WRONLY|O_CREAT|0x800000": what has no name is a hexadecimal number. "0" for nothing.
[[nodiscard]] std::string flags_text(const FlagSet& set, std::uint64_t value);

}  // namespace uscope::syscalls
