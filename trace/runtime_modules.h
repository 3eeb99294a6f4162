// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The modules of the C run time, by name: the one list that triggers and the deadlock diagnosis use.
#pragma once

#include <string_view>

namespace uscope::trace {

// Returns true if a module of this path or base name is part of every program's run time: the loader, libc and
// libpthread of glibc and musl. Such a module is never the code that asked for a call. The vdso has no path; its file
// number marks it as a run-time module.
[[nodiscard]] bool is_runtime(std::string_view path);

}  // namespace uscope::trace
