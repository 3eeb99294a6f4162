// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Files of Debian that tests read as samples.
#pragma once

namespace uscope {

inline constexpr const char* kLibc = "/usr/lib/x86_64-linux-gnu/libc.so.6";
inline constexpr const char* kLibm = "/usr/lib/x86_64-linux-gnu/libm.so.6";
inline constexpr const char* kLoader = "/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2";

}  // namespace uscope
