// The options that say what is traced, shared by the verbs that trace.
#pragma once

#include "cli/session/record_plan.h"

namespace CLI {
class App;
}

namespace uscope::cli {

// --app, --pid, --cgroup and --follow: applications that run already.
void add_running_target(CLI::App& verb, RecordVerbOptions& options);
// The same, or a command after --.
void add_target(CLI::App& verb, RecordVerbOptions& options);

}  // namespace uscope::cli
