// How wide a text is on a terminal, and what is left of it where that is too much.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace uscope::cli {

// What a text loses where it is too wide.
enum class Shrink { kNever, kMiddle, kEnd };

// Columns that a text takes: code points of UTF-8 (wide characters count as one).
[[nodiscard]] std::size_t display_width(std::string_view text);

// At most `width` columns, with "…" for what is left out.
[[nodiscard]] std::string shorten(const std::string& text, std::size_t width, Shrink shrink);

}  // namespace uscope::cli
