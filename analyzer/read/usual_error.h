// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Errors by which the kernel answers questions of programs that do what they should: isatty() of a file gives ENOTTY,
// a seek in a pipe ESPIPE. Whoever ranks errors by how much they explain puts them behind all others.
#pragma once

#include <cstdint>
#include <string_view>

namespace uscope::analyzer {

// `call`: its name, without an ABI.
[[nodiscard]] bool is_usual_error(std::string_view call, std::int64_t error);

}  // namespace uscope::analyzer
