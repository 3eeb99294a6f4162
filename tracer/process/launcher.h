// Starts the command, held back before its exec until the tracer is ready.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "support/result.h"
#include "support/unique_fd.h"

namespace uscope::tracer {

struct LaunchOptions {
  std::vector<std::string> command;  // at least the program
  std::string user;                  // run as this user (name or number); "" = as we are
};

// What a wait(2) status says.
struct CommandExit {
  int code = 0;    // exit code, where signal = 0
  int signal = 0;  // the signal it died of
};

class LaunchedCommand {
 public:
  // Forks; the child waits for go(). The program is looked up in PATH here, so that the child's first execve is the
  // right one.
  static Result<LaunchedCommand> prepare(const LaunchOptions& options);

  LaunchedCommand(LaunchedCommand&&) = default;
  LaunchedCommand& operator=(LaunchedCommand&&) = default;
  // A child that was never let go is ended.
  ~LaunchedCommand();

  // Lets the child exec; an error (no such file, not executable) is the exec's own, with its errno in exec_errno().
  Result<void> go();
  [[nodiscard]] int exec_errno() const { return exec_errno_; }
  [[nodiscard]] pid_t pid() const { return pid_; }
  // The resolved path of the program.
  [[nodiscard]] const std::string& path() const { return path_; }
  // How it ended, once it has.
  std::optional<CommandExit> poll_exit();
  void send_signal(int number) const;

 private:
  LaunchedCommand(pid_t pid, UniqueFd gate, UniqueFd failure, std::string path)
      : pid_(pid), gate_(std::move(gate)), failure_(std::move(failure)), path_(std::move(path)) {}

  pid_t pid_ = 0;
  UniqueFd gate_;
  UniqueFd failure_;
  std::string path_;
  int exec_errno_ = 0;
  std::optional<CommandExit> exit_;
};

}  // namespace uscope::tracer
