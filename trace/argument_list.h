// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A program's argument list as the store has it.
#pragma once

#include <string>
#include <string_view>

namespace uscope::trace {

// ["echo","a b"]. `arguments`: each with its NUL. `is_cut`: more of them were passed; the last one is cut itself if it
// has no NUL:
// ["echo","a b…",null].
[[nodiscard]] std::string argument_list_json(std::string_view arguments, bool is_cut);

}  // namespace uscope::trace
