// Connections that never came about.
#pragma once

#include "analyzer/diff/matrix.h"
#include "analyzer/diff/run_facts.h"

namespace uscope::analyzer {

// Counts, in every cell of `connect`, the connections begun with EINPROGRESS whose descriptor the same thread closed
// before anything was sent or received by it, as errors of the number kUnconnected. Bounded: some 2000 connections of a
// cell are looked at, and of each the thread's next 2000 calls; one whose end is not among them is not counted. Nothing
// is counted where close or the calls that send were not traced.
[[nodiscard]] Result<void> find_unconnected(const store::Database& database, const RunFacts& facts, Matrix& matrix);

}  // namespace uscope::analyzer
