// A SystemTap script beside a recording: compiled before it, loaded once tracing is attached, unloaded at its end.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "support/result.h"
#include "support/unique_fd.h"

namespace uscope::cli {

class StapScript {
 public:
  // FILE.stp is compiled here, by stap/uscope-stap, which may take minutes; FILE.ko is what that made before, under any
  // name. What stap says goes to stderr.
  [[nodiscard]] static Result<std::unique_ptr<StapScript>> prepare(const std::string& script);
  StapScript(const StapScript&) = delete;
  StapScript& operator=(const StapScript&) = delete;
  ~StapScript();

  // Returns when its probes are in place. staprun keeps it until it is unloaded; where this process ends in another
  // way, it is unloaded too.
  [[nodiscard]] Result<void> load();
  // Once, where it has ended by itself.
  [[nodiscard]] std::optional<Error> trouble();
  // One step of unloading, without waiting: true where it is done, or given up after 12 s.
  [[nodiscard]] bool step_unload();
  // All steps.
  void unload();
  // After unloading: what still is in the kernel, and how to remove it.
  [[nodiscard]] std::optional<Error> left() const;

 private:
  StapScript(std::string script, std::string module, std::string name)
      : script_(std::move(script)), module_(std::move(module)), name_(std::move(name)) {}
  [[nodiscard]] bool is_loaded() const;
  Result<void> wait_until_ready(const std::string& mark);

  std::string script_;
  std::string module_;  // path of the compiled module
  std::string name_;    // as the kernel has it
  UniqueFd keeper_;     // the script ends when this is closed
  pid_t staprun_ = 0;   // which becomes stapio; 0 = has ended
  pid_t remover_ = 0;   // a `staprun -d` under way
  std::optional<std::chrono::steady_clock::time_point> unloading_since_;
  std::chrono::steady_clock::time_point removing_since_;
};

}  // namespace uscope::cli
