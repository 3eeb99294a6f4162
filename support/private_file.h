// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Opens files by descriptor, not twice by name, so that no other process can exchange them in between.
#pragma once

#include "support/result.h"
#include "support/unique_fd.h"

namespace uscope {

// Returns another descriptor of the same open file, close-on-exec.
Result<UniqueFd> duplicate(int fd);

// Opens a file without a name in this folder, mode 0600, for reading and writing; it disappears when its last
// descriptor is closed. On a file system without such files, creates one with a name and removes that at once.
Result<UniqueFd> open_nameless(int folder);

// Opens the folder for temporary files, as SQLite chooses it: the first of $SQLITE_TMPDIR, $TMPDIR, /var/tmp, /tmp that
// is writable. O_PATH.
Result<UniqueFd> open_temporary_folder();
// Opens $SQLITE_TMPDIR; without it, duplicates `otherwise`.
Result<UniqueFd> open_sorting_folder(int otherwise);

}  // namespace uscope
