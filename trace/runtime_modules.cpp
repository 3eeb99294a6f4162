// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/runtime_modules.h"

#include <algorithm>
#include <array>

#include "support/text.h"

namespace uscope::trace {

bool is_runtime(std::string_view path) {
  const std::string_view base = base_name(path);
  constexpr std::array<std::string_view, 8> kStarts{"libc.so", "libc-2.", "libpthread.so", "libpthread-2.",
                                                    "ld-",     "ld64.so", "ld.so",         "libc.musl-"};
  return std::any_of(kStarts.begin(), kStarts.end(), [&](std::string_view start) { return base.starts_with(start); });
}

}  // namespace uscope::trace
