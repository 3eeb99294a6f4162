// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Java's part of a look (include/uscope/records/wait.h): its records MONITOR and LOOK_TROUBLE.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "support/result.h"
#include "trace/sink.h"
#include "tracer/java/java_monitors.h"
#include "tracer/scouts/scouts.h"

namespace uscope::tracer {

// java_monitors_of() as the work of a scout. Without scouts the caller's thread does it. If the process does not
// answer, the result has a trouble that says so.
std::optional<JavaMonitors> ask_java_monitors(Scouts* scouts, std::uint32_t pid);

// As bytes, as a scout answers, and back.
std::vector<std::byte> bytes_of(const std::optional<JavaMonitors>& monitors);
std::optional<JavaMonitors> monitors_in(std::span<const std::byte> bytes);

// Appends the records of one process (its serial) to look number `look`, whose reading began at `time`. `task_of`: the
// serial of a thread by its id, 0 for one that is not traced, which is left out. Returns how many were appended.
Result<std::uint64_t> append_monitors(trace::RecordSink& sink, std::uint32_t look, std::uint64_t time,
                                      std::uint32_t process, const JavaMonitors& monitors,
                                      const std::function<std::uint32_t(std::uint32_t tid)>& task_of);

}  // namespace uscope::tracer
