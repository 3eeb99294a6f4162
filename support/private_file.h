// Files opened so that nobody else decides what they are: by descriptor, not again by name.
#pragma once

#include <filesystem>
#include <string>

#include "support/result.h"
#include "support/unique_fd.h"

namespace uscope {

// Another descriptor of the same open file, close-on-exec.
Result<UniqueFd> duplicate(int fd);

// For reading, a regular file. A FIFO, device, socket or folder in its place is an error and is never opened itself,
// so that nothing waits and no device notices. `give`: the way out of every error but a missing permission.
Result<UniqueFd> open_regular(const std::filesystem::path& path, const std::string& give);

// A file of this folder without a name, mode 0600, for reading and writing: gone when its last descriptor is closed.
// Where the file system knows no such files, one with a name that is removed at once.
Result<UniqueFd> open_nameless(int folder);

// The folder for temporary files, as SQLite chooses it: $SQLITE_TMPDIR, $TMPDIR, /var/tmp, /tmp, the first that can be
// written to. O_PATH.
Result<UniqueFd> open_temporary_folder();
// $SQLITE_TMPDIR, else another descriptor of `otherwise`.
Result<UniqueFd> open_sorting_folder(int otherwise);

}  // namespace uscope
