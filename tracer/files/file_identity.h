// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Whether an open file is the one that was mapped, and still holds what was mapped: it is mapped again, and the kernel
// tells whether the key of that mapping is the key that it recorded. Device and inode numbers of stat are not compared:
// on btrfs and overlayfs they differ. Of a file on FUSE there is only a copy (process_looks.h); such a file is
// identified by these numbers, which are the same there.
#pragma once

#include <optional>

#include "tracer/backend/backend.h"
#include "tracer/scouts/process_looks.h"
#include "uscope/control.h"

namespace uscope::tracer {

// Why a file that is open is not used.
inline constexpr const char* kChanged = "changed after it was mapped: what it holds now is something else";

// The kernel's key of an open file.
[[nodiscard]] std::optional<usc_file_key> key_of(Backend& backend, int fd);

// Whether two keys are those of one file with one content, or of one file.
[[nodiscard]] bool is_same(const usc_file_key& a, const usc_file_key& b);
[[nodiscard]] bool is_same_inode(const usc_file_key& a, const usc_file_key& b);

// Whether this is the file with that key. For memory (`deleted`) the same inode is enough: its content may have changed
// since.
[[nodiscard]] bool is_mapped_file(Backend& backend, const OpenedFile& opened, const usc_file_key& key, bool deleted);

// Whether an open file still holds what had that key when it was mapped.
[[nodiscard]] bool is_unwritten_since(Backend& backend, int fd, const usc_file_key& key, bool has_build_id);

}  // namespace uscope::tracer
