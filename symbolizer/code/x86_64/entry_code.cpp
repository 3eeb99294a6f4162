// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/code/entry_code.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <initializer_list>

namespace uscope::symbolizer {
namespace {

// Reads instructions from the front of the code.
class Reader {
 public:
  Reader(std::span<const std::byte> code, std::uint64_t address) : code_(code), address_(address) {}

  // Passes over these bytes if they come next.
  bool take(std::initializer_list<std::uint8_t> bytes) {
    if (code_.size() - at_ < bytes.size()) return false;
    const auto same = [](std::uint8_t a, std::byte b) { return std::byte{a} == b; };
    if (!std::equal(bytes.begin(), bytes.end(), code_.begin() + static_cast<std::ptrdiff_t>(at_), same)) return false;
    at_ += bytes.size();
    return true;
  }

  // The four bytes that come next, with their sign.
  std::optional<std::int32_t> number() {
    static_assert(std::endian::native == std::endian::little);
    std::int32_t value = 0;
    if (code_.size() - at_ < sizeof(value)) return std::nullopt;
    std::memcpy(&value, &code_[at_], sizeof(value));
    at_ += sizeof(value);
    return value;
  }

  [[nodiscard]] std::uint64_t address() const { return address_ + at_; }

 private:
  std::span<const std::byte> code_;
  std::uint64_t address_;
  std::size_t at_ = 0;
};

// What is passed in r8 and rcx: nothing since glibc 2.34; before that, addresses of __libc_csu_fini and
// __libc_csu_init.
bool take_older_arguments(Reader& code) {
  if (code.take({0x45, 0x31, 0xc0})) return code.take({0x31, 0xc9});  // xor %r8d,%r8d; xor %ecx,%ecx
  if (code.take({0x4c, 0x8d, 0x05})) return code.number() && code.take({0x48, 0x8d, 0x0d}) && code.number();  // lea
  return code.take({0x49, 0xc7, 0xc0}) && code.number() && code.take({0x48, 0xc7, 0xc1}) && code.number();    // mov
}

}  // namespace

std::optional<EntryCode> read_entry_code(std::span<const std::byte> bytes, std::uint64_t address) {
  Reader code(bytes, address);
  (void)code.take({0xf3, 0x0f, 0x1e, 0xfa});  // endbr64
  // xor %ebp,%ebp; mov %rdx,%r9; pop %rsi; mov %rsp,%rdx; and $-16,%rsp; push %rax; push %rsp
  if (!code.take({0x31, 0xed, 0x49, 0x89, 0xd1, 0x5e, 0x48, 0x89, 0xe2, 0x48, 0x83, 0xe4, 0xf0, 0x50, 0x54}))
    return std::nullopt;
  if (!take_older_arguments(code)) return std::nullopt;
  EntryCode entry;
  if (code.take({0x48, 0x8d, 0x3d})) {  // lea main(%rip),%rdi
    const auto displacement = code.number();
    if (!displacement) return std::nullopt;
    entry.main = code.address() + static_cast<std::uint64_t>(std::int64_t{*displacement});
  } else if (code.take({0x48, 0xc7, 0xc7})) {  // mov $main,%rdi
    const auto value = code.number();
    if (!value) return std::nullopt;
    entry.main = static_cast<std::uint64_t>(std::int64_t{*value});
  } else if (!code.take({0x48, 0x8b, 0x3d}) || !code.number()) {  // mov main@GOTPCREL(%rip),%rdi
    return std::nullopt;
  }
  // call *__libc_start_main@GOTPCREL(%rip), or the same without the table, with or without a prefix in its place.
  const bool calls = code.take({0xff, 0x15}) || code.take({0x67, 0xe8}) || code.take({0xe8});
  return calls ? std::optional(entry) : std::nullopt;
}

}  // namespace uscope::symbolizer
