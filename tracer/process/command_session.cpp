// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/process/command_session.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "tracer/process/terminal_relay.h"

namespace uscope::tracer {
namespace {

constexpr int kMostEndMs = 2000;

// Which terminal a descriptor is, also behind /dev/tty.
std::optional<unsigned> terminal_of(int fd) {
  unsigned device = 0;
  if (isatty(fd) == 0) return std::nullopt;
  return ioctl(fd, TIOCGDEV, &device) == 0 ? device : 0;
}

void block_all_signals() {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
}

// Keeps these descriptors only, under numbers from 3 on, in this order.
template <std::size_t N>
std::array<int, N> keep_only(std::array<int, N> fds) {
  constexpr int kAbove = 16;
  for (int& fd : fds)
    if (fd >= 0) fd = fcntl(fd, F_DUPFD_CLOEXEC, kAbove);
  int next = STDERR_FILENO + 1;
  for (int& fd : fds)
    if (fd >= 0) fd = dup3(fd, next++, O_CLOEXEC);
  syscall(SYS_close_range, next, ~0U, 0);
  return fds;
}

// Whoever reads what is printed waits for its end.
void release_standard_descriptors() {
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nothing, fd);
}

}  // namespace

Result<CommandSession> CommandSession::open(uid_t user) {
  CommandSession session;
  std::optional<unsigned> terminal;
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    const auto one = terminal_of(fd);
    if (!one) continue;
    if (terminal && *terminal != *one)
      return Error{"standard input, output and error are different terminals, and a command of -u USER gets one",
                   "pass one of them through a pipe: 2> >(cat > TERMINAL)"};
    terminal = one;
  }
  if (!terminal) return session;
  const bool reads = isatty(STDIN_FILENO) != 0;
  session.output_ = isatty(STDOUT_FILENO) != 0   ? STDOUT_FILENO
                    : isatty(STDERR_FILENO) != 0 ? STDERR_FILENO
                                                 : STDIN_FILENO;
  struct stat output {};
  // In a pipeline the keys are for the program behind it, a pager above all.
  const bool in_pipeline = fstat(STDOUT_FILENO, &output) == 0 && S_ISFIFO(output.st_mode);
  if (reads && !in_pipeline) session.input_ = STDIN_FILENO;
  session.master_.reset(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!session.master_ || unlockpt(session.master_.get()) != 0)
    return errno_error("cannot make a terminal for the command", errno, "is /dev/pts mounted?");
  session.slave_.reset(ioctl(session.master_.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!session.slave_) return errno_error("cannot open the terminal that was made for the command", errno);
  termios modes{};
  if (tcgetattr(session.output_, &modes) == 0) {
    tcsetattr(session.slave_.get(), TCSANOW, &modes);
    if (session.input_ >= 0) session.modes_ = modes;
  }
  winsize size{};
  if (ioctl(session.output_, TIOCGWINSZ, &size) == 0) ioctl(session.master_.get(), TIOCSWINSZ, &size);
  // Programs open it by name, too.
  if (fchown(session.slave_.get(), user, static_cast<gid_t>(-1)) != 0)
    return errno_error("cannot give the command's terminal to its user", errno);
  return session;
}

// In the command: the caller's terminal is replaced wherever it is.
void CommandSession::enter() const {
  setpgid(0, 0);
  if (!slave_) return;
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (isatty(fd) != 0) dup2(slave_.get(), fd);
  sigset_t only;
  sigset_t before;
  sigemptyset(&only);
  sigaddset(&only, SIGTTOU);
  sigprocmask(SIG_BLOCK, &only, &before);
  tcsetpgrp(slave_.get(), getpid());
  sigprocmask(SIG_SETMASK, &before, nullptr);
}

// Becomes the session's leader and forks the command, as a child of this process's parent. Returns in the command.
Result<pid_t> CommandSession::lead(int told, int held) {
  if (setsid() < 0 || (slave_ && ioctl(slave_.get(), TIOCSCTTY, 0) != 0)) _exit(1);
  const auto pid = static_cast<pid_t>(syscall(SYS_clone, CLONE_PARENT | SIGCHLD, nullptr, nullptr, nullptr, 0UL));
  if (pid == 0) {
    enter();
    return 0;
  }
  prctl(PR_SET_NAME, "uscope-session");
  block_all_signals();
  (void)!write(told, &pid, sizeof(pid));
  const auto [relay_holds] = keep_only(std::array{held});
  release_standard_descriptors();
  char none = 0;
  while (read(relay_holds, &none, 1) < 0 && errno == EINTR) {
  }
  _exit(0);
}

Result<pid_t> CommandSession::fork_command() {
  std::array<int, 2> told{};
  std::array<int, 2> held{};
  std::array<int, 2> control{};
  if (pipe2(told.data(), O_CLOEXEC) != 0 || pipe2(held.data(), O_CLOEXEC) != 0 ||
      socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control.data()) != 0)
    return errno_error("cannot make a pipe", errno);
  const UniqueFd told_read(told[0]);
  UniqueFd told_write(told[1]);
  UniqueFd held_read(held[0]);
  const UniqueFd held_write(held[1]);
  control_.reset(control[0]);
  const UniqueFd theirs(control[1]);
  leader_ = fork();
  if (leader_ < 0) return errno_error("cannot fork", errno);
  if (leader_ == 0) return lead(told_write.get(), held_read.get());
  told_write.reset();
  pid_t command = 0;
  if (read(told_read.get(), &command, sizeof(command)) != sizeof(command) || command < 0)
    return Error{"cannot begin a session for the command", "leave -u out, or run uscope as root"};
  relay_ = fork();
  if (relay_ < 0) {
    kill(command, SIGKILL);
    return errno_error("cannot fork", errno);
  }
  if (relay_ == 0) {
    const auto kept = keep_only(std::array{theirs.get(), held_write.get(), master_.get(), input_, output_});
    release_standard_descriptors();
    relay_terminal({kept[0], kept[1], kept[2], kept[3], kept[4], command});
  }
  slave_.reset();
  master_.reset();
  return command;
}

void CommandSession::begin() {
  const char byte = 1;
  if (control_) (void)send(control_.get(), &byte, 1, MSG_NOSIGNAL);
}

void CommandSession::end() {
  if (control_) shutdown(control_.get(), SHUT_WR);
}

CommandSession::~CommandSession() {
  if (!control_ || relay_ <= 0) return;
  end();
  pollfd wanted{control_.get(), POLLIN, 0};
  char done = 0;
  const bool is_done = poll(&wanted, 1, kMostEndMs) > 0 && recv(control_.get(), &done, 1, MSG_DONTWAIT) == 1;
  if (!is_done && modes_) {  // the relay was killed
    block_all_signals();
    tcsetattr(STDIN_FILENO, TCSANOW, &*modes_);
  }
  // They live on with processes that still use the terminal.
  (void)waitpid(relay_, nullptr, WNOHANG);
  (void)waitpid(leader_, nullptr, WNOHANG);
}

}  // namespace uscope::tracer
