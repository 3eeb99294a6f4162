// The options that select what is traced, shared by the verbs that trace.
#pragma once

#include "cli/session/record_plan.h"

namespace CLI {
class App;
}

namespace uscope::cli {

// Adds --app, --pid, --cgroup and --follow: applications that already run.
void add_running_target(CLI::App& verb, RecordVerbOptions& options);
// Adds the same, and a command after --.
void add_target(CLI::App& verb, RecordVerbOptions& options);

}  // namespace uscope::cli
