// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the user of `uscope top` has chosen to see, and what each key changes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "cli/render/top_render.h"
#include "cli/terminal/screen_line.h"

namespace uscope::cli {

struct TopView {
  TopChoice choice;
  std::size_t most = 0;  // lines at once, where there is room for more; 0: as many as there is room for
  bool keys = true;      // keys can be typed
  bool paused = false;
  bool help = false;
  bool typing = false;                  // the filter, after `/`
  std::string filter_before;            // while typing: what Esc brings back
  std::optional<std::size_t> selected;  // the number of a line among those that are chosen
};

enum class KeyEffect { kNothing, kChanged, kQuit };

// `lines` can be selected, `page` of them at once are on the screen.
KeyEffect press(TopView& view, const Key& key, std::size_t lines, std::size_t page);

}  // namespace uscope::cli
