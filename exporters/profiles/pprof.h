// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The profile that `go tool pprof` reads: profile.proto, compressed by gzip.
#pragma once

#include "analyzer/read/catalog.h"
#include "exporters/bytes.h"
#include "exporters/profiles/profile_options.h"
#include "store/db/database.h"
#include "support/result.h"

namespace uscope::exporters {

// A sample for each stack and its levels, with as values the events, and nanoseconds of each time that the trace's
// kinds have. Levels are labels of the samples. What is missing from the trace stands in the comments. Memory grows
// with the number of distinct functions and places, not with that of stacks or events.
[[nodiscard]] Result<ProfileTotals> write_pprof(const store::Database& database, const analyzer::Catalog& catalog,
                                                const ProfileOptions& options, const Bytes& out);

}  // namespace uscope::exporters
