// Who can have written a file, as far as it matters to whoever reads it: a file that takes its reader over can have it
// lie about what it reads afterwards, and say that a file is another one. So readers, and rows in the cache, are shared
// by files of one owner only.
#pragma once

#include <string>

namespace uscope::symbolizer {

// Equal for files that one user, and nobody else, may write. A file that others may write, or of a file system that is
// a program and says what it likes (FUSE), has an owner of its own.
[[nodiscard]] std::string owner_of(int fd);

}  // namespace uscope::symbolizer
