// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/cfi/landing_pads.h"

#include <dwarf.h>

#include <algorithm>
#include <span>

#include "support/byte_reader.h"
#include "symbolizer/cfi/cfi_program.h"

namespace uscope::symbolizer {
namespace {

constexpr std::uint64_t kMostFrames = std::uint64_t{256} << 20;  // bytes of .eh_frame, and of .gcc_except_table
constexpr std::size_t kMostPads = std::size_t{8} << 20;
constexpr std::uint8_t kNoField = 0xff;

// A number of a call site table; compilers write uleb128, GCC with -mno-… and others udata4.
std::uint64_t read_offset(ByteReader& in, std::uint8_t encoding) {
  switch (encoding) {
    case DW_EH_PE_uleb128:
      return in.uleb();
    case DW_EH_PE_udata2:
      return in.fixed<std::uint16_t>();
    case DW_EH_PE_udata4:
    case DW_EH_PE_sdata4:
      return in.fixed<std::uint32_t>();
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
    case DW_EH_PE_absptr:
      return in.fixed<std::uint64_t>();
    default:
      in.fail("a call site table in a known encoding");
      return 0;
  }
}

// The table of one function: LPStart, TType, then call sites of start, length, landing pad and action.
void read_table(ByteReader in, std::uint64_t here, std::uint64_t function, std::vector<std::uint64_t>& out) {
  std::uint64_t start = function;
  if (const auto encoding = in.fixed<std::uint8_t>(); encoding != kNoField) {
    const std::uint64_t at = here + in.offset();
    start = read_offset(in, encoding & 0x0f);
    if ((encoding & 0x70) == DW_EH_PE_pcrel) start += at;
  }
  if (in.fixed<std::uint8_t>() != kNoField) in.uleb();
  const auto encoding = in.fixed<std::uint8_t>();
  ByteReader sites(in.bytes(in.uleb()));
  std::vector<std::uint64_t> found;
  while (sites.ok() && sites.left() != 0 && out.size() + found.size() < kMostPads) {
    read_offset(sites, encoding);
    read_offset(sites, encoding);
    const std::uint64_t pad = read_offset(sites, encoding);
    sites.uleb();
    if (pad != 0) found.push_back(start + pad);
  }
  if (in.ok() && sites.ok()) out.insert(out.end(), found.begin(), found.end());
}

}  // namespace

LandingPads::LandingPads(const std::vector<ElfSection>& sections) {
  for (const ElfSection& frames : sections) {
    if (frames.name != ".eh_frame") continue;
    const Elf_Data* data = section_data(frames, kMostFrames);
    if (data == nullptr) continue;
    const auto* bytes = static_cast<const std::uint8_t*>(data->d_buf);
    CfiSource source;
    source.bytes.assign(bytes, bytes + data->d_size);
    source.address = frames.header.sh_addr;
    for (const Fde& fde : CfiSection(source).fdes()) {
      if (fde.lsda == 0) continue;
      const auto table = std::find_if(sections.begin(), sections.end(), [&](const ElfSection& one) {
        return one.header.sh_type == SHT_PROGBITS && !one.executable() && fde.lsda >= one.header.sh_addr &&
               fde.lsda < one.end();
      });
      const Elf_Data* tables = table == sections.end() ? nullptr : section_data(*table, kMostFrames);
      if (tables == nullptr || fde.lsda - table->header.sh_addr >= tables->d_size) continue;
      const ByteReader::Bytes all(static_cast<const std::uint8_t*>(tables->d_buf), tables->d_size);
      read_table(ByteReader(all.subspan(fde.lsda - table->header.sh_addr)), fde.lsda, fde.address, all_);
    }
    break;
  }
  std::sort(all_.begin(), all_.end());
  all_.erase(std::unique(all_.begin(), all_.end()), all_.end());
}

std::vector<std::uint64_t> LandingPads::within(std::uint64_t low, std::uint64_t high) const {
  return {std::lower_bound(all_.begin(), all_.end(), low), std::lower_bound(all_.begin(), all_.end(), high)};
}

}  // namespace uscope::symbolizer
