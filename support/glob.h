// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Patterns as fnmatch(3) has them, for texts that hold any byte and need not end with a NUL.
#pragma once

#include <string_view>

namespace uscope {

// Whether a pattern stands for the whole text: `*` for any bytes, `?` for one, `[set]` for one of a set (`a-z`,
// `[:digit:]`, `!` or `^` in front: one that is not in it); there is no escape character. Like fnmatch() with
// FNM_NOESCAPE in the C locale, but for `[=a=]` and `[.a.]`, which mean nothing here. With a given pattern, the time
// grows in proportion to the text.
[[nodiscard]] bool glob_matches(std::string_view pattern, std::string_view text);

}  // namespace uscope
