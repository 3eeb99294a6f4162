// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/process/launcher.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "support/end_signals.h"
#include "support/regular_file.h"
#include "symbolizer/elf/elf_facts.h"
#include "tracer/process/user_switch.h"

namespace uscope::tracer {
namespace {

[[noreturn]] void run_child(int gate, int failure, const std::string& path, const std::vector<std::string>& command,
                            const UserIds* user, char* const* environment, const struct sigaction& child_action) {
  give_signals_back();
  // If the tracer dies before go(), the gate closes and the child ends.
  char go = 0;
  if (read(gate, &go, 1) != 1) _exit(125);
  sigaction(SIGCHLD, &child_action, nullptr);
  int error = 0;
  if (user != nullptr && !become(*user)) error = errno;
  if (error == 0) {
    std::vector<char*> argv;
    argv.reserve(command.size() + 1);
    for (const std::string& argument : command) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    execve(path.c_str(), argv.data(), environment);
    error = errno;
  }
  (void)!write(failure, &error, sizeof(error));
  _exit(error == ENOENT ? 127 : 126);
}

std::uint64_t ns_of(const timeval& time) {
  constexpr std::uint64_t kMicrosecond = 1000;
  return (static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(time.tv_usec)) *
         kMicrosecond;
}

// What a script's first line or an ELF file names as its interpreter, if there is no such file; else empty.
std::string missing_interpreter(const std::string& path) {
  auto file = open_regular(path, "");
  if (!file) return {};
  std::array<char, 256> start{};
  const ssize_t got = pread(file->get(), start.data(), start.size(), 0);
  std::string_view line(start.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  std::string interpreter;
  if (line.starts_with("#!")) {
    line = line.substr(2, line.find('\n') - 2);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    interpreter = line.substr(0, line.find_first_of(" \t"));
  } else if (const auto facts = symbolizer::read_elf_facts(file->get(), path)) {
    interpreter = facts->interpreter;
  }
  return interpreter.empty() || access(interpreter.c_str(), F_OK) == 0 ? "" : interpreter;
}

}  // namespace

Result<std::string> find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* path = std::getenv("PATH");
  std::string rest = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  std::string forbidden;  // exists, but is not executable: as in a shell, 126 and not 127
  while (true) {
    const std::size_t colon = rest.find(':');
    const std::string folder = rest.substr(0, colon);
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    struct stat status {};
    if (stat(candidate.c_str(), &status) == 0 && S_ISREG(status.st_mode)) {
      if (access(candidate.c_str(), X_OK) == 0) return candidate;
      if (forbidden.empty()) forbidden = candidate;
    }
    if (colon == std::string::npos) break;
    rest.erase(0, colon + 1);
  }
  if (!forbidden.empty()) return forbidden;
  return Error{"command not found: " + name, "give its path, or check PATH"};
}

Result<LaunchedCommand> LaunchedCommand::prepare(const LaunchOptions& options) {
  if (options.command.empty()) return Error{"no command to trace", "give it after --"};
  Result<std::string> path = find_program(options.command.front());
  if (!path) return path.error();
  std::optional<UserIds> user;
  if (!options.user.empty()) {
    Result<UserIds> found = look_up_user(options.user);
    if (!found) return found.error();
    user = *found;
  }
  std::array<int, 2> gate{};
  std::array<int, 2> failure{};
  if (pipe2(gate.data(), O_CLOEXEC) != 0) return errno_error("cannot make a pipe", errno);
  UniqueFd gate_read(gate[0]);
  UniqueFd gate_write(gate[1]);
  if (pipe2(failure.data(), O_CLOEXEC) != 0) return errno_error("cannot make a pipe", errno);
  UniqueFd failure_read(failure[0]);
  UniqueFd failure_write(failure[1]);
  // An ignored SIGCHLD inherited from uscope's parent would lose the command's exit status. The command gets it
  // unchanged.
  struct sigaction child_action {};
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &by_default, &child_action);
  std::unique_ptr<CommandSession> session;
  std::vector<std::string> entries;
  std::vector<char*> environment;
  if (user) {
    auto opened = CommandSession::open(user->uid);
    if (!opened) return opened.error();
    session = std::make_unique<CommandSession>(std::move(*opened));
    entries = environment_of(*user, environ, options.keep_environment);
    for (std::string& entry : entries) environment.push_back(entry.data());
    environment.push_back(nullptr);
  }
  Result<pid_t> pid = session ? session->fork_command() : Result<pid_t>(fork());
  if (!pid) return pid.error();
  if (*pid < 0) return errno_error("cannot fork", errno);
  if (*pid == 0) {
    gate_write.reset();
    failure_read.reset();
    run_child(gate_read.get(), failure_write.get(), *path, options.command, user ? &*user : nullptr,
              user ? environment.data() : environ, child_action);
  }
  LaunchedCommand command(*pid, std::move(gate_write), std::move(failure_read), *path);
  command.setting_ = setting_for_command(options.setting, user ? environment.data() : environ);
  if (user) {
    command.setting_.uid = user->uid;
    command.setting_.gid = user->gid;
  }
  command.session_ = std::move(session);
  return command;
}

LaunchedCommand::~LaunchedCommand() {
  if (!gate_ || exit_) return;
  gate_.reset();
  int status = 0;
  waitpid(pid_, &status, 0);
}

Result<void> LaunchedCommand::go() {
  const char byte = 1;
  if (session_) session_->begin();
  if (write(gate_.get(), &byte, 1) != 1) return errno_error("cannot start the command", errno);
  gate_.reset();
  return {};
}

// The child's end of the pipe is closed by its exec, or by its end.
Result<bool> LaunchedCommand::await_exec(int timeout_ms) {
  pollfd wanted{failure_.get(), POLLIN, 0};
  if (poll(&wanted, 1, timeout_ms) <= 0) return false;
  int error = 0;
  const ssize_t got = read(failure_.get(), &error, sizeof(error));
  if (got < 0 && errno == EINTR) return false;
  failure_.reset();
  if (got != sizeof(error)) return true;
  exec_errno_ = error;
  const std::string interpreter = error == ENOENT ? missing_interpreter(path_) : "";
  if (interpreter.empty()) return errno_error("cannot execute " + path_, error);
  const bool ends_as_on_dos = interpreter.ends_with('\r');
  return Error{fmt::format("cannot execute {}: its interpreter {} does not exist", path_, interpreter),
               ends_as_on_dos ? "the script's first line ends with a carriage return: remove that" : "install it"};
}

std::optional<CommandExit> LaunchedCommand::poll_exit() {
  if (exit_) return exit_;
  int status = 0;
  rusage used{};
  if (wait4(pid_, &status, WNOHANG, &used) != pid_) return std::nullopt;
  if (session_) session_->end();
  exit_ = CommandExit{WIFEXITED(status) ? WEXITSTATUS(status) : 0, WIFSIGNALED(status) ? WTERMSIG(status) : 0,
                      ns_of(used.ru_utime) + ns_of(used.ru_stime)};
  return exit_;
}

void LaunchedCommand::send_signal(int number) const {
  if (!exit_) kill(pid_, number);
}

}  // namespace uscope::tracer
