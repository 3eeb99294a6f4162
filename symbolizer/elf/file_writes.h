// Whether a file has been written to since the kernel saw it.
#pragma once

#include <sys/stat.h>

#include "uscope/record.h"

namespace uscope::symbolizer {

// Size and time of the last change are those of the key: nothing at all has happened to it.
[[nodiscard]] bool is_untouched(const struct stat& status, const usc_file_key& key);

// The size is the same, and the last write was before the change that the key tells of: since then the file was renamed
// or deleted, or has another owner, mode or number of links. Tools can set the time of the last write back.
[[nodiscard]] bool is_unwritten(const struct stat& status, const usc_file_key& key);

}  // namespace uscope::symbolizer
