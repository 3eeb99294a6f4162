// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The last proof that a place in a file may be probed (symbolizer/probes/probe_proof.h has the others): each process
// that is to be traced and runs already executes the file's bytes there. A process that has changed its copy of the
// page (text relocations, code that patches itself) would execute the file's instruction in its stead.
#pragma once

#include <cstdint>
#include <vector>

#include "tracer/targets/target_search.h"

namespace uscope::tracer {

// Refuses matches in files, of which a process has other bytes at one of the places. Only pages that a process has for
// itself are read; a breakpoint there, of whatever tracer, is no other byte. What a process changes later is not seen.
void refuse_changed_code(const std::vector<std::uint32_t>& pids, std::vector<TargetAnswer>& answers);

}  // namespace uscope::tracer
