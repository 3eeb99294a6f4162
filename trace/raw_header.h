// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The first bytes of a raw trace: what is said of the machine.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "uscope/record.h"

namespace uscope::trace {

// The header of a trace that is recorded on this machine, now. What cannot be read is left as not known.
[[nodiscard]] usc_raw_header header_of_this_machine(std::uint64_t start_ns, std::int64_t utc_offset_ns,
                                                    std::uint32_t cpus);

// As uname(2) names the machine; empty for a number that this version does not know, and for USC_ISA_UNKNOWN.
[[nodiscard]] std::string_view isa_name(std::uint32_t isa);

// As /proc/sys/kernel/random/boot_id has it: "0f5c8a52-…"; empty where it is not known.
[[nodiscard]] std::string boot_id_text(std::span<const __u8, 16> boot_id);

}  // namespace uscope::trace
