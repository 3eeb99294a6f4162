// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A SystemTap script within a recording: loaded when that begins, unloaded when it ends. Problems with the script are
// printed to stderr, and the rest is traced.
#pragma once

#include <memory>
#include <string>

#include "cli/session/stap_script.h"
#include "cli/terminal/status_line.h"
#include "tracer/recorder/recorder.h"

namespace uscope::cli {

// Compiles FILE.stp. Returns null if `file` is "" or cannot be used; otherwise the caller must keep the result and
// `status` while the hooks are called. An earlier hooks.status is called too; ready and ending are replaced.
std::unique_ptr<StapScript> hook_script(const std::string& file, StatusLine& status, tracer::RecordHooks& hooks);

}  // namespace uscope::cli
