// What `uscope record` is asked to trace: a command, or applications by name, process or control group.
#pragma once

#include <string>

#include "cli/verbs/record.h"
#include "support/result.h"
#include "tracer/recorder/recorder.h"

namespace CLI {
class App;
}

namespace uscope::cli {

// Applications that run already; add_target: or a command.
void add_running_target(CLI::App& verb, RecordVerbOptions& options);
void add_target(CLI::App& verb, RecordVerbOptions& options);

// Fills launch, target and config.target. Errors: none or several kinds of target, a process or control group that is
// not there.
Result<void> set_target(const RecordVerbOptions& options, tracer::RecordOptions& out);

// For people and the store: "make", "app nginx, php-fpm", "pid 1, 2", "cgroup /system.slice/x".
[[nodiscard]] std::string describe_target(const RecordVerbOptions& options);

}  // namespace uscope::cli
