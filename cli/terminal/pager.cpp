// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The process that becomes the pager is forked at once, since its parent may not execute programs later. It executes
// the pager when the first byte comes: a verb that fails, or prints nothing, starts none.
#include "cli/terminal/pager.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string_view>

#include "cli/terminal/output.h"
#include "cli/terminal/status_line.h"
#include "cli/terminal/terminal_choice.h"
#include "support/end_signals.h"
#include "support/text.h"
#include "support/unique_fd.h"

namespace uscope::cli {
namespace {

constexpr int kFirstFree = 3;  // behind the standard descriptors
constexpr int kCannotRun = 126;
constexpr int kNotFound = 127;

// For the handler of signals, and for terminal_behind(): descriptors belong to the process.
struct Redirected {
  volatile sig_atomic_t pager = 0;  // 0: there is none
  int output = -1;                  // what standard output was
  int errors = -1;                  // what standard error was; -1: it is as it was
};
Redirected redirected;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

int wait_for(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0)
    if (errno != EINTR) return 0;
  return status;
}

// The pager has the terminal until the user quits it: a command that ended before would leave two programs that read
// keys. Only functions that a handler may call.
void end_with_pager(int signal) {
  close(STDOUT_FILENO);
  close(STDERR_FILENO);
  wait_for(redirected.pager);
  struct sigaction plain {};
  plain.sa_handler = SIG_DFL;
  sigaction(signal, &plain, nullptr);
  raise(signal);
}

struct Command {
  std::string text;
  bool is_chosen = false;  // by the user
};

Command pager_command() {
  for (const char* name : {"USCOPE_PAGER", "PAGER"})
    if (const char* command = std::getenv(name)) return {command, true};
  return {"less", false};
}

// What the shell runs. A text is shown too where the pager is missing; the shell finds that out for plain words only.
std::string shell_script(const Command& command) {
  const std::string program = command.text.substr(0, command.text.find(' '));
  if (shell_quoted(program) != program) return command.text;
  const std::string said = command.is_chosen ? "echo uscope: there is no pager " + program + " >&2; " : "";
  return "command -v " + program + " >/dev/null 2>&1 || { " + said + "exec cat; }; " + command.text;
}

// less shows colours with -R only. What the user has set comes last, so that it is in force where both say something.
// All output is UTF-8, in whatever locale.
void set_less() {
  const char* own = std::getenv("LESS");
  setenv("LESS", own ? (std::string("-R ") + own).c_str() : "FRX", 1);
  setenv("LESSCHARSET", "utf-8", 0);
}

[[noreturn]] void become_pager(int input, const std::string& script) {
  pollfd first{input, POLLIN, 0};
  while (poll(&first, 1, -1) < 0 && errno == EINTR) {
  }
  if ((first.revents & POLLIN) == 0) _exit(0);
  set_less();
  give_signals_back();
  dup2(input, STDIN_FILENO);
  execl("/bin/sh", "sh", "-c", script.c_str(), nullptr);
  _exit(kNotFound);
}

}  // namespace

bool is_paged() {
  return redirected.pager != 0;
}

int terminal_behind(std::FILE* stream) {
  int fd = fileno(stream);
  if (fd == STDOUT_FILENO && is_paged()) fd = redirected.output;
  if (fd == STDERR_FILENO && redirected.errors >= 0) fd = redirected.errors;
  return fd >= 0 && isatty(fd) != 0 ? fd : -1;
}

bool is_dumb_terminal() {
  const char* terminal = std::getenv("TERM");
  return !terminal || std::string_view(terminal) == "dumb";
}

Pager::Pager() {
  if (terminal_choice().no_pager || is_paged() || terminal_behind(stdout) < 0 || is_dumb_terminal()) return;
  const Command command = pager_command();
  if (command.text.find_first_not_of(" \t") == std::string::npos || command.text == "cat") return;
  start(command.text, shell_script(command));
}

void Pager::start(const std::string& command, const std::string& script) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return;
  const UniqueFd input(ends[0]);
  const UniqueFd output(ends[1]);
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) return;
  if (child == 0) {
    close(output.get());
    become_pager(input.get(), script);
  }
  process_ = child;
  command_ = command;
  redirected.output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, kFirstFree);
  dup2(output.get(), STDOUT_FILENO);
  if (same_terminal(redirected.output, STDERR_FILENO)) {
    redirected.errors = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, kFirstFree);
    dup2(output.get(), STDERR_FILENO);
  }
  redirected.pager = child;
  struct sigaction handled {};
  handled.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &handled, &before_pipe_);
  handled.sa_handler = end_with_pager;
  for (std::size_t i = 0; i < kEndSignals.size(); i++) sigaction(kEndSignals.at(i), &handled, &before_end_.at(i));
  let_through_.emplace(kEndSignals);
}

Pager::~Pager() {
  if (process_ < 0) return;
  std::fflush(stdout);
  std::fflush(stderr);
  dup2(redirected.output, STDOUT_FILENO);
  if (redirected.errors >= 0) dup2(redirected.errors, STDERR_FILENO);
  const int status = wait_for(process_);
  close(redirected.output);
  if (redirected.errors >= 0) close(redirected.errors);
  redirected.pager = 0;
  redirected.output = redirected.errors = -1;
  let_through_.reset();
  for (std::size_t i = 0; i < kEndSignals.size(); i++) sigaction(kEndSignals.at(i), &before_end_.at(i), nullptr);
  sigaction(SIGPIPE, &before_pipe_, nullptr);
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  if (code == kCannotRun || code == kNotFound)
    print_error(
        {"the pager could not be run: " + trace_text(command_), "set USCOPE_PAGER to another one, or give --no-pager"});
}

}  // namespace uscope::cli
