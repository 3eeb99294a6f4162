// Who can have written a file, as far as it matters to whoever reads it: a file that takes its reader over can have it
// lie about what it reads afterwards, and say that a file is another one. So readers, and rows in the cache, are shared
// by files of one owner only.
#pragma once

#include <string>

namespace uscope::symbolizer {

// Equal for files that one user, and nobody else, may write. A file that others may write, or of a file system that is
// a program and says what it likes (FUSE), has an owner of its own.
[[nodiscard]] std::string owner_of(int fd);

// In whose name a file is read, as far as time is concerned: of its user, whom it costs the reading of other files. A
// file of root's counts to root on that file system, so that a container's root takes no time of the host's. Those of a
// FUSE say of themselves whose they are, and are all of one.
[[nodiscard]] std::string payer_of(int fd);

}  // namespace uscope::symbolizer
