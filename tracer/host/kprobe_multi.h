// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One BPF program at many functions of the kernel at once: kprobe.multi (Linux 5.18, with CONFIG_FPROBE). Functions are
// given by address: names would be looked up among all symbols, which takes minutes for thousands of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "support/unique_fd.h"

namespace uscope::tracer {

// enum bpf_attach_type: how a program for this is loaded. A session's program is run at the entry, and at the return
// too if it has said 0 at the entry (Linux 6.10; the headers of Debian 12 end before).
constexpr int kAttachKprobeMulti = 42;
constexpr int kAttachKprobeSession = 56;

// Functions by where they begin, as /proc/kallsyms has it, each with the cookie of its hits.
struct KprobePlaces {
  std::vector<std::uint64_t> addresses;
  std::vector<std::uint64_t> cookies;

  [[nodiscard]] std::size_t size() const { return addresses.size(); }
  [[nodiscard]] KprobePlaces part(std::size_t first, std::size_t count) const;
};

// Some of a list, in the same order.
[[nodiscard]] std::vector<std::uint64_t> part_of(const std::vector<std::uint64_t>& all, std::size_t first,
                                                 std::size_t count);

// A link, which lasts as long as its descriptor; none (errno says why) if one of the functions cannot be probed: then
// there is none of them.
UniqueFd attach_kprobe_multi(int program, int attach_type, const KprobePlaces& places);

// Hits of a link for which the kernel did not run its program, whoever they were of. Linux counts them from 6.7 on.
[[nodiscard]] std::uint64_t missed_at_kprobes(int link);

// A program for functions and places in files that does nothing; none where the kernel loads none for this.
UniqueFd load_empty_probe_program(int attach_type);

// Tries it, without attaching anything. "": this kernel has it, and this process may use it.
[[nodiscard]] std::string why_no_kprobe_multi(int attach_type);

}  // namespace uscope::tracer
