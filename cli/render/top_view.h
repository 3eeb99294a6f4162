// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the user of `uscope top` has chosen to see, and what each key changes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/render/top_render.h"
#include "cli/terminal/screen_line.h"

namespace uscope::cli {

// The stack of a line, which is shown in place of the lines.
struct OpenStack {
  std::string title;  // safe for a terminal
  trace::StackId stack = {};
  std::vector<live::StackFunction> functions;  // innermost first
  bool complete = false;                       // all have the names that will ever be known
  std::size_t first = 0;                       // function on the screen
};

struct TopView {
  TopChoice choice;
  std::size_t most = 0;  // lines at once, where there is room for more; 0: as many as there is room for
  bool keys = true;      // keys can be typed
  bool paused = false;
  bool help = false;
  bool typing = false;                  // the filter, after `/`
  std::string filter_before;            // while typing: what Esc brings back
  std::optional<std::size_t> selected;  // the number of a line among those that are chosen
  std::optional<OpenStack> open;
};

// kOpen: the selected line's stack is wanted.
enum class KeyEffect { kNothing, kChanged, kOpen, kQuit };

// `lines` can be selected, `page` of them at once are on the screen.
KeyEffect press(TopView& view, const Key& key, std::size_t lines, std::size_t page);

}  // namespace uscope::cli
