// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The kind of a file by its first bytes, determined before SQLite or the raw reader sees it.
#pragma once

#include <cstdint>
#include <string>

#include "support/result.h"

namespace uscope::store {

// PRAGMA user_version: changes whenever a reader's SQL could break, by a line in store/db/schema_history.h.
constexpr std::int32_t kSchemaVersion = 21;

// Databases from this version on are read.
constexpr std::int32_t kOldestSchema = 15;

// PRAGMA application_id: "uscp".
constexpr std::int32_t kApplicationId = 0x75736370;

enum class FileKind { kEmpty, kDatabase, kForeignDatabase, kRawTrace, kOther };

struct FileStart {
  FileKind kind = FileKind::kEmpty;
  std::int32_t schema = 0;       // for a database: its user_version
  bool write_ahead_log = false;  // for a database: it is in SQLite's WAL mode
};

// Reads the start of the file with pread: the file offset does not move.
Result<FileStart> look_at_start(int fd);

// "a database of uscope", "an empty file" …
[[nodiscard]] std::string describe(FileKind kind);

}  // namespace uscope::store
