// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Names of the bits and numbers that system calls take: open flags, socket families, futex operations and so on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace uscope::syscalls {

struct FlagName {
  std::uint64_t value;
  const char* name;
};

// A number of which the bits of `part` are an enumeration, and all others flags. An enumeration alone has all bits in
// `part`, flags alone have none.
struct FlagSet {
  std::uint64_t part;
  std::span<const FlagName> numbers;  // of `part`
  std::span<const FlagName> flags;    // of the rest; a name of several bits before those of one of them
  bool hides_zero = false;            // the enumeration's 0 is not worth a name beside flags
};

// How an argument of a call is written; null where it has no names. `call` as in syscalls/syscalls.def.
[[nodiscard]] const FlagSet* flags_of(std::string_view call, std::size_t arg);

// The sets that depend on another argument: fcntl's third, and a socket option's number.
[[nodiscard]] const FlagSet* flags_of_fcntl(std::uint64_t command);
[[nodiscard]] const FlagSet* flags_of_option(std::uint64_t level);

// Of fields of structures: `events` of struct pollfd and of struct epoll_event, and si_code of a child's siginfo_t.
[[nodiscard]] const FlagSet& poll_events();
[[nodiscard]] const FlagSet& epoll_events();
[[nodiscard]] const FlagSet& child_codes();

// "O_WRONLY|O_CREAT|0x800000": what has no name is a hexadecimal number. "0" for nothing.
[[nodiscard]] std::string flags_text(const FlagSet& set, std::uint64_t value);

}  // namespace uscope::syscalls
