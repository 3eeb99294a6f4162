// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What `uscope export` writes, by format, and what it says of that.
#pragma once

#include <cstdio>

#include "cli/verbs/export.h"
#include "store/db/database.h"
#include "support/result.h"

namespace uscope::cli {

// An error if options were given that the format has no place for, or if it is one that a terminal cannot show.
[[nodiscard]] Result<void> check_format(const ExportOptions& options);

// Writes to `stream`; of CTF the stream of events, and to `metadata` what describes it.
[[nodiscard]] Result<void> write_format(const ExportOptions& options, const store::Database& database,
                                        std::FILE* stream, std::FILE* metadata);

}  // namespace uscope::cli
