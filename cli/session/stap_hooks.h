// A SystemTap script within a recording: loaded when that begins, unloaded when it ends; what goes wrong with it is
// printed to stderr, and the rest is traced.
#pragma once

#include <memory>
#include <string>

#include "cli/session/stap_script.h"
#include "cli/terminal/status_line.h"
#include "tracer/recorder/recorder.h"

namespace uscope::cli {

// FILE.stp is compiled here. null where there is none ("") or it cannot be used; else the caller keeps it and `status`
// while the hooks are called. Hooks that are there already are called too.
std::unique_ptr<StapScript> hook_script(const std::string& file, StatusLine& status, tracer::RecordHooks& hooks);

}  // namespace uscope::cli
