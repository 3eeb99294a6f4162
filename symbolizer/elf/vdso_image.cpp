// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/elf/vdso_image.h"

#include <elf.h>
#include <sys/auxv.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace uscope::symbolizer {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20;

}  // namespace

std::span<const std::byte> vdso_image() {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel hands the address over as a number
  const auto* start = reinterpret_cast<const std::byte*>(getauxval(AT_SYSINFO_EHDR));
  if (start == nullptr) return {};
  Elf64_Ehdr header{};
  std::memcpy(&header, start, sizeof(header));
  // Section headers are the last thing in the image.
  const std::size_t bytes = header.e_shoff + std::size_t{header.e_shnum} * header.e_shentsize;
  return {start, std::min(bytes, kMostBytes)};
}

}  // namespace uscope::symbolizer
