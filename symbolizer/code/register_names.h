// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Registers as assemblers name them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace uscope::symbolizer {

// The DWARF number of an integer register, or of a part of one, by its name without a leading %; USC_REG_PC of the pc.
[[nodiscard]] std::optional<std::uint8_t> register_of_name(std::string_view name);

}  // namespace uscope::symbolizer
