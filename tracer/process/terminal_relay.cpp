// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The caller's terminal is in raw mode but for the ends of lines: these are made as the command's terminal makes them
// (OPOST, ONLCR), so that uscope's own lines, which go there directly, look as ever. Where both make "\r\n" of "\n",
// the relay undoes the first. A program that changes its terminal's modes and prints in the same moment may see a line
// end made by the modes of before.
//
// Ctrl-Z: the kernel stops no process group whose parents are all in other sessions, so the relay does it, if the
// command would have been stopped: it stops the command's process group and then its own job, for the shell to see.
#include "tracer/process/terminal_relay.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include "support/clock.h"
#include "support/unique_fd.h"

namespace uscope::tracer {
namespace {

constexpr tcflag_t kLineEnds = OPOST | ONLCR;
constexpr std::size_t kPiece = 4096;
// A terminal that is ready takes so much at least (the kernel's WAKEUP_CHARS): writing more might wait.
constexpr std::size_t kReadily = 256;
// How long uscope waits for what is still printed where others still use the terminal: until nothing has come for the
// first time, the second one altogether.
constexpr int kSettledMs = 50;
constexpr std::uint64_t kLongestEndNs = 500 * kMillisecondNs;

// How often it is asked whether the shell has put a job in the foreground that was begun in the background, since no
// signal says so.
constexpr int kForegroundMs = 200;

bool is_of_terminal(int number) {
  return number == SIGINT || number == SIGQUIT || number == SIGHUP;
}

// Whether a process takes a signal in the default way.
bool has_default(pid_t pid, int number) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("SigIgn:") && !line.starts_with("SigCgt:") && !line.starts_with("SigBlk:")) continue;
    if ((std::strtoull(line.c_str() + 7, nullptr, 16) >> (number - 1) & 1) != 0) return false;
  }
  return true;
}

class Relay {
 public:
  explicit Relay(const RelayEnds& ends) : ends_(ends), control_(ends.control) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
    signals_.reset(signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK));
    has_modes_ = ends_.input >= 0 && tcgetattr(ends_.input, &modes_) == 0;
    if (ends_.master >= 0) fcntl(ends_.master, F_SETFL, O_RDWR | O_NONBLOCK);
    copy_size();
  }

  void run() {
    while (goes_on()) {
      std::array<pollfd, 5> fds{{{signals_.get(), POLLIN, 0},
                                 {control_, POLLIN, 0},
                                 {ends_.master, master_events(), 0},
                                 {takes_input_ && typed_.empty() ? ends_.input : -1, POLLIN, 0},
                                 {printed_.empty() ? -1 : ends_.output, POLLOUT, 0}}};
      const int ready = poll(fds.data(), fds.size(), patience_ms());
      if (ready < 0 && errno != EINTR) break;
      if (is_ending() && (ready == 0 || monotonic_ns() > ended_ns_ + kLongestEndNs)) end_control();
      if (waits_for_foreground()) take_over();
      if (fds[0].revents != 0) take_signals();
      if (fds[1].revents != 0) take_control();
      if (fds[2].revents != 0) move_through_master(fds[2].revents);
      if (fds[3].revents != 0) take_typed(fds[3].revents);
      if (fds[4].revents != 0) print();
    }
    if (is_ending()) end_control();
    give_back();
  }

 private:
  [[nodiscard]] bool is_ending() const { return ended_ && control_ >= 0; }
  [[nodiscard]] bool waits_for_foreground() const { return has_modes_ && begun_ && !ended_ && !takes_input_; }
  [[nodiscard]] int patience_ms() const {
    return is_ending() ? kSettledMs : waits_for_foreground() ? kForegroundMs : -1;
  }
  [[nodiscard]] bool has_terminal() const { return ends_.master >= 0; }
  [[nodiscard]] bool goes_on() const { return has_terminal() ? !gone_ || !printed_.empty() : !ended_; }
  [[nodiscard]] short master_events() const {
    if (gone_) return 0;
    return static_cast<short>((printed_.empty() ? POLLIN : 0) | (typed_.empty() ? 0 : POLLOUT));
  }
  [[nodiscard]] bool is_in_foreground() const {
    const pid_t group = tcgetpgrp(ends_.input);
    return group == getpgrp() || (group < 0 && errno == ENOTTY);  // it is not this session's terminal
  }

  void copy_size() const {
    winsize size{};
    if (has_terminal() && ioctl(ends_.output, TIOCGWINSZ, &size) == 0) ioctl(ends_.master, TIOCSWINSZ, &size);
  }

  // Raw mode, if the terminal is this job's at present.
  void take_over() {
    if (!has_modes_ || !begun_ || ended_ || !is_in_foreground()) return;
    takes_input_ = true;
    // In the background, the terminal's modes were those of the shell's own line, also for the command.
    if (!is_raw_) (void)tcgetattr(ends_.input, &modes_);
    if (began_behind_) (void)tcsetattr(ends_.master, TCSANOW, &modes_);
    began_behind_ = false;
    termios raw = modes_;
    raw.c_iflag &= ~static_cast<tcflag_t>(BRKINT | ICRNL | IGNCR | INLCR | INPCK | ISTRIP | IXON | PARMRK);
    raw.c_lflag &= ~static_cast<tcflag_t>(ECHO | ECHONL | ICANON | IEXTEN | ISIG);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    line_ends_ = raw.c_oflag & kLineEnds;
    is_raw_ = tcsetattr(ends_.input, TCSADRAIN, &raw) == 0;
  }

  void give_back() {
    takes_input_ = false;
    // Another job's terminal has that job's modes.
    if (is_raw_ && is_in_foreground()) tcsetattr(ends_.input, TCSADRAIN, &modes_);
    is_raw_ = false;
  }

  void take_control() {
    char byte = 0;
    if (read(control_, &byte, 1) == 1) {
      begun_ = true;
      copy_size();
      take_over();
      began_behind_ = waits_for_foreground();
      return;
    }
    ended_ = true;
    ended_ns_ = monotonic_ns();
    takes_input_ = false;
    typed_.clear();
    if (gone_ || !has_terminal()) end_control();
  }

  // The terminal is as it was before uscope goes on.
  void end_control() {
    give_back();
    const char done = 1;
    (void)send(control_, &done, 1, MSG_NOSIGNAL);
    close(control_);
    control_ = -1;
  }

  void take_signals() {
    signalfd_siginfo came{};
    while (read(signals_.get(), &came, sizeof(came)) == sizeof(came)) {
      const int number = static_cast<int>(came.ssi_signo);
      if (number == SIGWINCH) copy_size();
      if (number == SIGCONT) take_over();
      if (number == SIGTSTP && !ended_) stop_job();
      // The command is not in the job that the terminal signals. What others send is for uscope to pass on.
      if (is_of_terminal(number) && came.ssi_code == SI_KERNEL && !ended_) kill(-ends_.command, number);
    }
  }

  void stop_job() {
    kill(-ends_.command, SIGSTOP);
    give_back();
    // If no shell waits for this job, the kernel lets it run on.
    sigset_t stop;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    sigprocmask(SIG_UNBLOCK, &stop, nullptr);
    kill(0, SIGTSTP);
    sigprocmask(SIG_BLOCK, &stop, nullptr);
    take_over();
    kill(-ends_.command, SIGCONT);
  }

  [[nodiscard]] bool would_stop(std::string_view keys) const {
    termios modes{};
    if (tcgetattr(ends_.master, &modes) != 0 || (modes.c_lflag & ISIG) == 0 || modes.c_cc[VSUSP] == 0) return false;
    return keys.find(static_cast<char>(modes.c_cc[VSUSP])) != std::string_view::npos &&
           tcgetpgrp(ends_.master) == ends_.command && has_default(ends_.command, SIGTSTP);
  }

  void take_typed(short events) {
    std::array<char, kPiece> keys{};
    const ssize_t got = read(ends_.input, keys.data(), keys.size());
    if (got > 0) {
      typed_.assign(keys.data(), static_cast<std::size_t>(got));
      if (would_stop(typed_)) {
        typed_.clear();
        stop_job();
      }
    } else if ((events & POLLHUP) != 0 || got == 0) {
      gone_ = true;  // the caller's terminal is gone: so is the command's, when this process ends
      printed_.clear();
    } else if (errno != EINTR) {
      takes_input_ = false;  // it is another job's now
    }
  }

  void move_through_master(short events) {
    if ((events & POLLOUT) != 0) {
      const ssize_t wrote = write(ends_.master, typed_.data(), typed_.size());
      if (wrote > 0) typed_.erase(0, static_cast<std::size_t>(wrote));
    }
    if ((events & (POLLIN | POLLHUP | POLLERR)) == 0) return;
    std::array<char, kPiece> text{};
    const ssize_t got = read(ends_.master, text.data(), text.size());
    if (got > 0) return take_printed({text.data(), static_cast<std::size_t>(got)});
    // EIO: nobody has the command's terminal open, as before the command has begun.
    if (got == 0 || (errno != EAGAIN && errno != EINTR)) gone_ = true;
  }

  void take_printed(std::string_view text) {
    termios inner{};
    const tcflag_t made = tcgetattr(ends_.master, &inner) == 0 ? inner.c_oflag & kLineEnds : 0;
    termios outer{};
    if (is_raw_ && made != line_ends_ && is_in_foreground() && tcgetattr(ends_.input, &outer) == 0) {
      outer.c_oflag = (outer.c_oflag & ~kLineEnds) | made;
      tcsetattr(ends_.input, TCSADRAIN, &outer);
      line_ends_ = made;
    }
    if (!is_raw_ && tcgetattr(ends_.output, &outer) == 0) line_ends_ = outer.c_oflag & kLineEnds;
    printed_.assign(text);
    if (made != kLineEnds || line_ends_ != kLineEnds) return;
    for (std::size_t at = 0; (at = printed_.find("\r\n", at)) != std::string::npos; at++) printed_.erase(at, 1);
  }

  void print() {
    const ssize_t wrote = write(ends_.output, printed_.data(), std::min(printed_.size(), kReadily));
    if (wrote > 0)
      printed_.erase(0, static_cast<std::size_t>(wrote));
    else if (errno != EAGAIN && errno != EINTR)
      printed_.clear();  // there is no terminal any more to print to
  }

  RelayEnds ends_;
  int control_;
  UniqueFd signals_;
  termios modes_{};  // as they were
  bool has_modes_ = false;
  bool is_raw_ = false;
  tcflag_t line_ends_ = 0;  // what the caller's terminal makes of them at present
  bool begun_ = false;
  bool began_behind_ = false;  // in the background, and has not come to the foreground yet
  bool ended_ = false;
  std::uint64_t ended_ns_ = 0;
  bool gone_ = false;  // nobody has the command's terminal any more, or the caller's is gone
  bool takes_input_ = false;
  std::string typed_;    // not yet taken by the command's terminal
  std::string printed_;  // not yet taken by the caller's
};

}  // namespace

void relay_terminal(const RelayEnds& ends) {
  prctl(PR_SET_NAME, "uscope-terminal");
  Relay(ends).run();
  _exit(0);
}

}  // namespace uscope::tracer
