// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The image of the vdso: the kernel maps one image into all 64-bit processes of the system, so this process's own image
// stands for all.
#pragma once

#include <cstddef>
#include <span>

namespace uscope::symbolizer {

// Returns the image in this process's memory; empty if the kernel mapped none.
[[nodiscard]] std::span<const std::byte> vdso_image();

}  // namespace uscope::symbolizer
