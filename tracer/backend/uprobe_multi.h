// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One program at many places of a file at once: uprobe.multi, from Linux 6.6 on, which libbpf knows later than Debian
// 12's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/result.h"
#include "support/unique_fd.h"

namespace uscope::tracer {

constexpr int kAttachUprobeMulti = 48;  // enum bpf_attach_type: how a program for this is loaded

// Places in one file: of each its offset, the cookie of its hits, and its semaphore's offset (0: none).
struct UprobePlaces {
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint64_t> cookies;
  std::vector<std::uint64_t> semaphores;

  [[nodiscard]] std::size_t size() const { return offsets.size(); }
  [[nodiscard]] UprobePlaces part(std::size_t first, std::size_t count) const;
};

// Tries it: attaches a program to nothing.
[[nodiscard]] bool kernel_has_uprobe_multi();

// A link, which lasts as long as its descriptor; none (errno says why) if a place cannot be probed: then there is none
// of them.
UniqueFd attach_uprobe_multi(int program, const std::string& path, const UprobePlaces& places);

}  // namespace uscope::tracer
