// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What `uscope query` shows on a terminal, and what keys do there.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/terminal/screen_line.h"

namespace uscope::cli {

struct QueryPicture {
  std::string target;
  std::string waiting;             // shown until there is an answer
  std::vector<std::string> lines;  // of the last answer, as AnswerPrinter writes it
};

struct QueryView {
  std::size_t first = 0;  // number of the first row that is shown
  bool paused = false;
  bool keys = true;  // keys can be typed
};

enum class QueryKey { kNothing, kChanged, kQuit };

QueryKey press_query(QueryView& view, const Key& key, const QueryPicture& picture, std::size_t rows);

[[nodiscard]] std::vector<ScreenLine> query_screen(const QueryPicture& picture, const QueryView& view, ScreenSize size);

}  // namespace uscope::cli
