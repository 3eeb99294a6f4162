// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Whether a file has been written since the kernel saw it.
#pragma once

#include <sys/stat.h>

#include "uscope/record.h"

namespace uscope::symbolizer {

// Size and time of the last change equal those of the key: nothing at all has happened to the file.
[[nodiscard]] bool is_untouched(const struct stat& status, const usc_file_key& key);

// The size is the same, and the last write was before the key's time of change: since then the file can only have been
// renamed, deleted, or given another owner, mode or number of links. But tools can set back the time of the last write.
[[nodiscard]] bool is_unwritten(const struct stat& status, const usc_file_key& key);

}  // namespace uscope::symbolizer
