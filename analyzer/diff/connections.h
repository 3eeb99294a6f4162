// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Connections that were never established.
#pragma once

#include "analyzer/diff/matrix.h"
#include "analyzer/diff/run_facts.h"

namespace uscope::analyzer {

// Counts, in every cell of `connect`, the connections that began with EINPROGRESS and whose descriptor the same thread
// closed before it sent or received anything; they are added as errors with the number kUnconnected. Bounded: about
// 2000 connections of a cell are examined, and the thread's next 2000 calls after each; a connection whose end is not
// among these is not counted. Nothing is counted if close or the calls that send were not traced.
[[nodiscard]] Result<void> find_unconnected(const store::Database& database, const RunFacts& facts, Matrix& matrix);

}  // namespace uscope::analyzer
