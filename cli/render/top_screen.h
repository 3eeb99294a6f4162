// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The lines that `uscope top` shows on a terminal: a function of the picture, of what the user has chosen, and of the
// terminal's size. The first two lines are the title and the losses, whatever is below.
#pragma once

#include <cstddef>
#include <vector>

#include "cli/render/top_render.h"
#include "cli/render/top_view.h"
#include "cli/terminal/screen_line.h"

namespace uscope::cli {

// In a smaller terminal, the lines say so.
constexpr ScreenSize kLeastTopSize{60, 15};

// Lines of a picture that a terminal of so many rows shows at once.
[[nodiscard]] std::size_t top_page(const TopView& view, std::size_t rows);

// Of a line's stack: how many of its calls have it. Safe for a terminal.
[[nodiscard]] std::string stack_title(const TopPicture& picture, TopBy by, std::size_t place);

// At most size.rows lines of at most size.columns columns.
[[nodiscard]] std::vector<ScreenLine> top_screen(const TopPicture& picture, const TopView& view, ScreenSize size);

}  // namespace uscope::cli
