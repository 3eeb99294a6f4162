// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The first steps of a helper process after fork().
#pragma once

#include <sys/types.h>

namespace uscope {

// Undoes what the child inherited from its parent: signals, all files except `kept`, the terminal. Returns the new
// number of `kept`.
int settle_child(int kept, const char* name);

// Has this process killed when `parent` ends. Returns false if that has ended already.
[[nodiscard]] bool die_with(pid_t parent);

}  // namespace uscope
