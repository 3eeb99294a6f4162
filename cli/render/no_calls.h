// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What is said of a recording that has no event although single calls were asked for.
#pragma once

#include <string>

namespace uscope::cli {

// `set` is that of `record -e`. Names related calls if the set is small: "none of the calls of -e open was made;
// related calls: -e creat,openat". Empty if all calls were asked for.
[[nodiscard]] std::string no_calls_text(const std::string& set);

}  // namespace uscope::cli
