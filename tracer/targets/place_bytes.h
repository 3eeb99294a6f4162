// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The last proof that a place in a file may be probed (symbolizer/probes/probe_proof.h has the others): each process of
// this machine that has the file mapped, traced or not, has the file's instruction there (tracer/scouts/code_look.h).
// A process that has changed its copy of the page (text relocations, code that patches itself) would execute the file's
// instruction in its stead; one that is debugged would execute it in place of the debugger's breakpoint. Nothing is
// probed while a process that has one of the files mapped does not let its memory be looked at.
#pragma once

#include <vector>

#include "tracer/targets/target_search.h"

namespace uscope::tracer {

class Scouts;

// Refuses matches in files, of which a process has something else at one of the places. `scouts`: null: the caller's
// thread looks.
void refuse_changed_code(Scouts* scouts, std::vector<TargetAnswer>& answers);

}  // namespace uscope::tracer
