// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A SystemTap script within a recording: loaded when that begins, unloaded when it ends. Problems with the script are
// printed to stderr, and the rest is traced.
#pragma once

#include <memory>
#include <string>

#include "cli/session/stap_script.h"
#include "cli/terminal/status_line.h"

namespace uscope::cli {

class RecordedScript {
 public:
  // Compiles FILE.stp. There is no script if `file` is "" or cannot be used: the functions below do nothing then.
  // `status` must outlive this object.
  RecordedScript(const std::string& file, StatusLine& status);

  // When the kernel side is in place: loads the script.
  void load();
  // Prints an error, once, if the script has ended by itself.
  void check();
  // When tracing ends: does one step of unloading without waiting. Returns true when nothing is left to do.
  [[nodiscard]] bool step_unload();

 private:
  void show(const std::optional<Error>& error);

  StatusLine& status_;
  std::unique_ptr<StapScript> script_;
};

}  // namespace uscope::cli
