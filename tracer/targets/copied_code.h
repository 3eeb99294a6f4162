// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Running processes in which probes would not be hit: probes are in files, and such a process executes something else.
// A program may have put a copy of its code in the place of the file's (node --use-largepages=on), or map it in a way
// in which the kernel puts no breakpoints there.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tracer/probes/probe_plan.h"

namespace uscope::tracer {

// A process, and a sentence on it.
using WithoutProbes = std::pair<std::uint32_t, std::string>;

// Of these processes those that have loaded a file of the plan, and execute a place of it from elsewhere.
[[nodiscard]] std::vector<WithoutProbes> processes_without_probes(const ProbePlan& plan,
                                                                  std::span<const std::uint32_t> pids);

// Why a process executes one of the places (file offsets, by rising number) without probes, by its /proc/PID/maps;
// empty: it does not, or has not loaded the file. `file`: its path, as the process sees it; `is_its_program`: it
// executes it.
[[nodiscard]] std::string why_without_probes(std::string_view maps, const std::string& file, bool is_its_program,
                                             std::span<const std::uint64_t> places);

}  // namespace uscope::tracer
