// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/raw_header.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>

namespace uscope::trace {
namespace {

constexpr std::array<std::string_view, USC_ISA_COUNT> kIsas{
#define USC_X(name, text) text,
#include "uscope/lists/isa.def"
#undef USC_X
};

std::uint32_t isa_of(std::string_view machine) {
  const auto found = std::find(kIsas.begin(), kIsas.end(), machine);
  return found == kIsas.end() ? std::uint32_t{USC_ISA_UNKNOWN} : static_cast<std::uint32_t>(found - kIsas.begin());
}

// Hexadecimal digits with dashes between them.
void read_boot_id(std::span<__u8, 16> boot_id) {
  std::string text;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> text;
  std::erase(text, '-');
  if (text.size() != 2 * boot_id.size() ||
      !std::all_of(text.begin(), text.end(), [](unsigned char digit) { return std::isxdigit(digit) != 0; }))
    return;
  for (std::size_t i = 0; i < boot_id.size(); i++)
    boot_id[i] = static_cast<__u8>(std::stoul(text.substr(2 * i, 2), nullptr, 16));
}

}  // namespace

usc_raw_header header_of_this_machine(std::uint64_t start_ns, std::int64_t utc_offset_ns, std::uint32_t cpus) {
  usc_raw_header header{};
  header.start_ns = start_ns;
  header.utc_offset_ns = utc_offset_ns;
  header.cpus = cpus;
  header.page_bytes = static_cast<__u32>(std::max(sysconf(_SC_PAGESIZE), 0L));
  utsname names{};
  if (uname(&names) == 0) {
    header.isa = isa_of(names.machine);
    std::string_view(names.release).copy(header.kernel, sizeof(header.kernel) - 1);
  }
  read_boot_id(header.boot_id);
  return header;
}

std::string_view isa_name(std::uint32_t isa) {
  return isa == USC_ISA_UNKNOWN || isa >= kIsas.size() ? std::string_view() : kIsas[isa];
}

std::string boot_id_text(std::span<const __u8, 16> boot_id) {
  if (std::all_of(boot_id.begin(), boot_id.end(), [](__u8 byte) { return byte == 0; })) return "";
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < boot_id.size(); i++) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += {kDigits[boot_id[i] >> 4], kDigits[boot_id[i] & 15]};
  }
  return text;
}

}  // namespace uscope::trace
