// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Starts the command, and holds it before its exec until the tracer is ready.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/result.h"
#include "support/unique_fd.h"
#include "tracer/process/command_session.h"
#include "tracer/process/process_setting.h"

namespace uscope::tracer {

struct LaunchOptions {
  std::vector<std::string> command;  // at least the program
  std::string user;                  // run as this user (name or number); "" = the current one
  bool keep_environment = false;     // of another user's command: that of this process (user_switch.h)
  SettingChoice setting{};           // what LaunchedCommand::setting() has
};

// The meaning of a wait(2) status.
struct CommandExit {
  int code = 0;              // exit code, if signal = 0
  int signal = 0;            // the signal that killed it
  std::uint64_t ran_ns = 0;  // on CPUs, with the children that it has waited for: by the kernel's account
};

// The path of a command's program, searched as execvp does: a name with a slash is a path, another one is searched in
// PATH.
[[nodiscard]] Result<std::string> find_program(const std::string& name);

class LaunchedCommand {
 public:
  // Forks; the child waits for go(). The program is searched in PATH here, so that the child's first execve is the
  // right one. Another user's command gets a session and a terminal of its own (command_session.h).
  static Result<LaunchedCommand> prepare(const LaunchOptions& options);

  LaunchedCommand(LaunchedCommand&&) = default;
  LaunchedCommand& operator=(LaunchedCommand&&) = default;
  // Ends a child that was never released.
  ~LaunchedCommand();

  // Lets the child exec, without waiting for that: an exec reads the program's file, whose file system may not answer.
  Result<void> go();
  // Waits at most that long for the exec to end. Returns false if it is still under way; then it is to be called again.
  // Returns true if the program runs, or the child was killed; or the error of the exec (no such file, not executable),
  // with its errno in exec_errno().
  Result<bool> await_exec(int timeout_ms);
  [[nodiscard]] int exec_errno() const { return exec_errno_; }
  [[nodiscard]] pid_t pid() const { return pid_; }
  // The setting in which it starts.
  [[nodiscard]] const trace::ProcessSetting& setting() const { return setting_; }
  // The path of the program after the search.
  [[nodiscard]] const std::string& path() const { return path_; }
  // How the command ended; nullopt while it runs.
  std::optional<CommandExit> poll_exit();
  void send_signal(int number) const;

 private:
  LaunchedCommand(pid_t pid, UniqueFd gate, UniqueFd failure, std::string path)
      : pid_(pid), gate_(std::move(gate)), failure_(std::move(failure)), path_(std::move(path)) {}

  pid_t pid_ = 0;
  UniqueFd gate_;
  UniqueFd failure_;
  std::string path_;
  trace::ProcessSetting setting_;
  std::unique_ptr<CommandSession> session_;  // of another user's command
  int exec_errno_ = 0;
  std::optional<CommandExit> exit_;
};

}  // namespace uscope::tracer
