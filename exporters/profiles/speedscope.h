// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The file that speedscope reads: JSON with a list of frames, and profiles of stacks.
#pragma once

#include "analyzer/read/catalog.h"
#include "exporters/bytes.h"
#include "exporters/profiles/profile_options.h"
#include "store/db/database.h"
#include "support/result.h"

namespace uscope::exporters {

// A profile for each weight that is not 0 everywhere: events, and nanoseconds of each time. Levels are frames around
// the stack. What is missing from the trace is a profile of its own, with a frame for each cause; the file's name tells
// of it, too. Memory grows with the number of distinct functions and, by 8 bytes, of stacks.
[[nodiscard]] Result<ProfileTotals> write_speedscope(const store::Database& database, const analyzer::Catalog& catalog,
                                                     const ProfileOptions& options, const Bytes& out);

}  // namespace uscope::exporters
