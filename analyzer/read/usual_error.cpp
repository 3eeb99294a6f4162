// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/read/usual_error.h"

#include <algorithm>
#include <array>
#include <cerrno>

namespace uscope::analyzer {

bool is_usual_error(std::string_view call, std::int64_t error) {
  constexpr std::array<std::int64_t, 8> kUsual{EAGAIN, EINTR, EINPROGRESS, EALREADY, ENOTTY, ESPIPE, EEXIST, ENODATA};
  return std::find(kUsual.begin(), kUsual.end(), error) != kUsual.end() ||
         (error == EINVAL && call.starts_with("readlink"));
}

}  // namespace uscope::analyzer
