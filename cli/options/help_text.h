// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Help within 80 columns.
#pragma once

#include <string>

namespace uscope::cli {

// An option or a verb, and what it is for. Two columns: a name that is too long for its own has lines for itself.
[[nodiscard]] std::string help_line(const std::string& name, const std::string& text);

// What the command or a verb does, above its options.
[[nodiscard]] std::string help_heading(const std::string& text);

}  // namespace uscope::cli
