// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One program at one place of a file: perf's event of a uprobe, for kernels without uprobe.multi.
#pragma once

#include <cstdint>
#include <string>

#include "support/unique_fd.h"

namespace uscope::tracer {

// Both last as long as their descriptors. None of them, and errno says why: the place cannot be probed.
struct SingleUprobe {
  UniqueFd event;
  UniqueFd link;
};
SingleUprobe attach_single_uprobe(int program, const std::string& path, std::uint64_t offset, std::uint64_t cookie,
                                  std::uint64_t semaphore);

}  // namespace uscope::tracer
