// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A SystemTap script next to a recording: compiled before it, loaded once tracing is attached, unloaded at its end.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "support/result.h"
#include "support/unique_fd.h"

namespace uscope::cli {

// The folder stap/ of this uscope: $USCOPE_STAP, or beside the program, or in PREFIX/share/uscope.
[[nodiscard]] Result<std::string> stap_folder();

class StapScript {
 public:
  // Compiles FILE.stp with stap/uscope-stap, which may take minutes; FILE.ko is the module of an earlier compilation,
  // under any name. stap's messages go to stderr.
  [[nodiscard]] static Result<std::unique_ptr<StapScript>> prepare(const std::string& script);
  StapScript(const StapScript&) = delete;
  StapScript& operator=(const StapScript&) = delete;
  ~StapScript();

  // Returns when the script's probes are in place. staprun keeps the module until it is unloaded; if this process ends
  // in another way, it is unloaded too.
  [[nodiscard]] Result<void> load();
  // Returns an error, once, if the script has ended by itself.
  [[nodiscard]] std::optional<Error> trouble();
  // Does one step of unloading without waiting. Returns true when that is done, or given up after 12 s.
  [[nodiscard]] bool step_unload();
  // Does all steps.
  void unload();
  // After unloading: an error if the module is still in the kernel, with the way to remove it.
  [[nodiscard]] std::optional<Error> left() const;

 private:
  StapScript(std::string script, std::string module, std::string name)
      : script_(std::move(script)), module_(std::move(module)), name_(std::move(name)) {}
  [[nodiscard]] bool is_loaded() const;
  Result<void> wait_until_ready(const std::string& mark);

  std::string script_;
  std::string module_;  // path of the compiled module
  std::string name_;    // the name that the kernel knows
  UniqueFd keeper_;     // the script ends when this is closed
  pid_t staprun_ = 0;   // becomes stapio; 0 = has ended
  pid_t remover_ = 0;   // a running `staprun -d`
  std::optional<std::chrono::steady_clock::time_point> unloading_since_;
  std::chrono::steady_clock::time_point removing_since_;
};

}  // namespace uscope::cli
