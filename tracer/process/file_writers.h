// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Who has a file open for writing, according to /proc.
#pragma once

#include <cstdint>

#include "support/regular_file.h"

namespace uscope::tracer {

// A process that has a descriptor of the file for writing; 0: none is found. Not found are what has only mapped it, a
// descriptor that lies in a message, and the kernel (a loop device). Nothing that another process could hold up is
// asked for.
[[nodiscard]] std::uint32_t writer_of(const FileIdentity& file);

}  // namespace uscope::tracer
