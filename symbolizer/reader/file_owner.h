// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Groups files by who can have written them. A file that takes over its reader can make it lie about the files that it
// reads afterwards, and pass one file off as another. So readers, and rows in the cache, are shared only between files
// of one owner.
#pragma once

#include <string>

namespace uscope::symbolizer {

// Equal for files that one and the same user, and no other, may write. A file that others may write, or whose file
// system is a program and can claim anything (FUSE), has an owner of its own.
[[nodiscard]] std::string owner_of(int fd);

// The user to whom the time of reading a file is charged, and whose other files then get less. Root's files count to
// root on that file system, so that a container's root takes no time from the host's. Files on FUSE declare their own
// owner, so they all count as one user's.
[[nodiscard]] std::string payer_of(int fd);

}  // namespace uscope::symbolizer
