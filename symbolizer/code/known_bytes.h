// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Bytes of code by which some functions are known. Another machine has its own here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#if !defined(__x86_64__)
#error "uscope reads code of x86-64 only"
#endif

namespace uscope::symbolizer {

// How a function sets its frame pointer up: push %rbp; mov %rsp,%rbp.
inline constexpr std::array<unsigned char, 4> kFramePrologue = {0x55, 0x48, 0x89, 0xe5};

// glibc's __start_context: mov %rbx,%rsp; mov (%rsp),%rdi; test %rdi,%rdi; je.
inline constexpr std::array<unsigned char, 11> kStartContext = {0x48, 0x89, 0xdc, 0x48, 0x8b, 0x3c,
                                                                0x24, 0x48, 0x85, 0xff, 0x74};

// `lea PLACE(%rip),REGISTER`, which loads an address.
inline constexpr std::size_t kAddressLoadBytes = 7;

// The address that the instruction at `address` loads, of whose bytes `code` has kAddressLoadBytes.
inline std::optional<std::uint64_t> loaded_address(std::span<const std::uint8_t> code, std::uint64_t address) {
  if ((code[0] & 0xfb) != 0x48 || code[1] != 0x8d || (code[2] & 0xc7) != 0x05) return std::nullopt;
  std::int32_t displacement = 0;
  std::memcpy(&displacement, &code[3], sizeof(displacement));
  return address + kAddressLoadBytes + static_cast<std::uint64_t>(std::int64_t{displacement});
}

}  // namespace uscope::symbolizer
