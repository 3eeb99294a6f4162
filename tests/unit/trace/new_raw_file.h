// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A new file for a RawWriter, as its caller makes one.
#pragma once

#include <fcntl.h>

#include <string>

#include "support/unique_fd.h"

namespace uscope {

inline UniqueFd new_raw_file(const std::string& path) {
  return UniqueFd(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
}

}  // namespace uscope
