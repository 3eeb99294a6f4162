// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "syscalls/argument_reading.h"

#include <algorithm>

#include "syscalls/syscall_table.h"

namespace uscope::syscalls {
namespace {

bool is_socket_option(std::string_view call) {
  return call == "setsockopt" || call == "getsockopt";
}

bool makes_socket(std::string_view call) {
  return call == "socket" || call == "socketpair";
}

}  // namespace

std::optional<ArgumentReading> argument_reading(const CallNumbers& numbers) {
  const auto letters = syscall_arguments(numbers.abi, numbers.nr);
  if (!letters) return std::nullopt;
  ArgumentReading reading{*letters, syscall_wide_name(numbers.abi, numbers.name)};
  reading.command = command_arguments(reading.call, numbers.args);
  if (reading.command) reading.letters = reading.command->letters;
  reading.has_halves =
      numbers.abi == USC_ABI_COMPAT && !reading.call.starts_with("preadv2") && !reading.call.starts_with("pwritev2");
  return reading;
}

const FlagSet* names_of_argument(const ArgumentReading& reading, const std::array<std::int64_t, 6>& args,
                                 std::size_t arg) {
  const auto word = [&](std::size_t i) { return static_cast<std::uint32_t>(args.at(i)); };
  if (reading.command)
    for (const ArgumentSet& one : reading.command->sets)
      if (one.set && one.arg == arg) return one.set;
  if (is_socket_option(reading.call) && arg == 2)
    return flags_of_option(word(1), word(2), reading.call == "getsockopt");
  if (makes_socket(reading.call) && arg == 2) return flags_of_protocol(word(0));
  if (reading.has_halves) {
    const std::string_view before = reading.letters.substr(0, arg);
    arg -= static_cast<std::size_t>(std::count(before.begin(), before.end(), 'H'));
  }
  return flags_of(reading.call, arg);
}

bool reads_by_values(std::string_view call) {
  const auto all = all_command_arguments();
  return is_socket_option(call) || makes_socket(call) ||
         std::any_of(all.begin(), all.end(), [&](const CommandArguments& one) { return one.call == call; });
}

std::uint64_t kernel_bits(char letter, std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  if (letter == 'm' || letter == 'J') return bits & 0xffffU;
  return std::string_view("diuDgfM").find(letter) != std::string_view::npos ? bits & 0xffffffffU : bits;
}

}  // namespace uscope::syscalls
