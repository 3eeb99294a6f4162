// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/backend/probe_guard.h"

#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <span>

#include "support/clock.h"
#include "support/end_signals.h"
#include "support/process/child_process.h"
#include "tracer/process/thread_state.h"
#include "tracer/scouts/scout_packets.h"
#include "tracer/scouts/scout_work.h"
#include "tracer/scouts/standstill.h"

namespace uscope::tracer {
namespace {

// To the guard, with the descriptors of the program and the file: kAttach; alone: kRemove, kEnd. From it: kAnswer, to
// kAttach and kEnd, and kRemoved.
enum class Message : std::uint32_t { kAttach, kRemove, kEnd, kAnswer, kRemoved };

template <typename T>
void put_all(ScoutWriter& out, const std::vector<T>& values) {
  out.put_bytes(std::as_bytes(std::span(values)));
}

std::vector<std::uint64_t> get_all(ScoutReader& in) {
  const auto bytes = in.get_bytes();
  std::vector<std::uint64_t> values(bytes.size() / sizeof(std::uint64_t));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(std::uint64_t));
  return values;
}

// The guard's side.
class Guard {
 public:
  Guard(int socket, UniqueFd tracer) : port_(UniqueFd(socket)), tracer_(std::move(tracer)) {}

  int run() {
    constexpr int kCompareEveryMs = static_cast<int>(FileGuard::kCompareEveryNs / kMillisecondNs);
    while (true) {
      std::array<pollfd, 3> wanted{
          {{port_.fd(), port_.events(), 0}, {tracer_.get(), POLLIN, 0}, {holder_.fd(), POLLIN, 0}}};
      (void)poll(wanted.data(), wanted.size(), kCompareEveryMs);
      if (wanted[1].revents != 0) return 0;
      tell_removed();
      if (wanted[0].revents != 0 && !serve_all()) return 0;
    }
  }

 private:
  // The tracer may be stopped, so this does not wait for it to take the news.
  void tell_removed() {
    const std::uint64_t now = monotonic_ns();
    for (const auto& [number, news] : holder_.tend(now))
      port_.send(ScoutWriter().put(Message::kRemoved).put(std::uint64_t{number}).put(news).put(now).bytes());
  }

  // Returns false if the tracer wants no more of it.
  bool serve_all() {
    while (true) {
      ScoutMessage message;
      const MessagePort::Came came = port_.next(message);
      if (came == MessagePort::Came::kNothing) return true;
      if (came == MessagePort::Came::kClosed) return false;
      if (!serve(message)) {
        send_rest();
        return false;
      }
    }
  }

  bool serve(const ScoutMessage& message) {
    ScoutReader in(message.bytes);
    const auto kind = in.get<Message>();
    const auto number = in.get<std::uint64_t>();
    if (kind == Message::kRemove) {
      holder_.remove(number);
      return true;
    }
    if (kind == Message::kEnd) {
      holder_.remove_all();
      answer({});
      return false;
    }
    const bool has_multi = in.get<bool>();
    PlacesInFile what;
    what.path = in.get_text();
    what.first = in.get_text();
    what.places = {get_all(in), get_all(in), get_all(in)};
    if (message.fds.size() == 2)
      answer(holder_.attach(number, message.fds[1].get(), message.fds[0].get(), has_multi, what));
    else
      answer(Error{fmt::format("cannot probe {}: too many files are open", what.path),
                   "raise the limit of open files (ulimit -n), or name fewer targets"});
    return true;
  }

  void answer(const Result<void>& result) {
    const Error error = result ? Error{} : result.error();
    port_.send(ScoutWriter()
                   .put(Message::kAnswer)
                   .put(static_cast<bool>(result))
                   .put_text(error.what)
                   .put_text(error.remedy)
                   .bytes());
  }

  // Until the tracer has all of it, or closes its end.
  void send_rest() {
    constexpr int kWaitMs = 100;
    ScoutMessage ignored;
    while ((port_.events() & POLLOUT) != 0 && !is_readable(tracer_.get(), 0) &&
           port_.next(ignored) != MessagePort::Came::kClosed)
      port_.wait(kWaitMs);
  }

  MessagePort port_;
  // Its pidfd, readable when it has ended: children of it may hold the socket's other end open.
  UniqueFd tracer_;
  ProbeHolder holder_;
};

int be_guard(int inherited, pid_t tracer) {
  const int socket = settle_child(inherited, "uscope-guard");
  sigset_t all;
  sigfillset(&all);
  (void)sigprocmask(SIG_BLOCK, &all, nullptr);  // those that stop a job, too
  (void)signal(SIGTERM, SIG_DFL);               // for ProbeHolder
  UniqueFd process(static_cast<int>(syscall(SYS_pidfd_open, tracer, 0)));
  if (getppid() != tracer) return 1;  // it has ended, and that may be another process
  return Guard(socket, std::move(process)).run();
}

}  // namespace

Result<std::unique_ptr<ProbeGuard>> ProbeGuard::start() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return errno_error("cannot make sockets for the process that holds probes", errno);
  UniqueFd own(ends[0]);
  const UniqueFd its(ends[1]);
  auto process =
      ChildWork::start([&, tracer = getpid()] { return be_guard(its.get(), tracer); }, ChildWork::Orphan::kEndsItself);
  if (!process) return process.error();
  return std::unique_ptr<ProbeGuard>(new ProbeGuard(std::move(*process), std::move(own)));
}

// Takes what has come.
void ProbeGuard::receive() {
  while (process_) {
    ScoutMessage message;
    const MessagePort::Came came = port_.next(message);
    if (came == MessagePort::Came::kClosed) ended_ = true;
    if (came != MessagePort::Came::kMessage) return;
    ScoutReader in(message.bytes);
    if (in.get<Message>() == Message::kRemoved) {
      Removed& removed = removed_.emplace_back();
      removed.number = in.get<std::uint64_t>();
      removed.news = in.get<FileGuard::News>();
      removed.time_ns = in.get<std::uint64_t>();
      continue;
    }
    answered_++;
    const bool is_good = in.get<bool>();
    std::string what = in.get_text();
    answer_ = is_good ? Result<void>() : Error{std::move(what), in.get_text()};
  }
}

ProbeGuard::Waited ProbeGuard::await_answers(bool until_end_is_asked_for) {
  constexpr int kWaitMs = 10;
  Standstill standstill;
  while (true) {
    receive();
    if (answered_ == asked_) return Waited::kAnswered;
    if (ended_) return Waited::kInVain;
    if (until_end_is_asked_for && end_is_asked_for()) return Waited::kEndAskedFor;
    if (standstill.is_over(monotonic_ns(), thread_state_of(static_cast<std::uint32_t>(process_->pid())))) {
      why_silent_ = standstill.why();
      return Waited::kInVain;
    }
    port_.wait(kWaitMs);
  }
}

Error ProbeGuard::silent(const std::string& path) const {
  if (ended_)
    return {fmt::format("cannot probe {}: the process that holds probes in files (uscope-guard) has ended", path),
            "try again"};
  return {fmt::format("cannot probe {}: the process that holds probes in files (uscope-guard, {}) {}", path,
                      process_->pid(), why_silent_),
          "let uscope's own processes run (no SIGSTOP, debugger or frozen control group), and try again"};
}

Result<void> ProbeGuard::attach(std::size_t number, int file, int program, bool has_multi, const PlacesInFile& what) {
  receive();
  if (ended_ || answered_ != asked_) return silent(what.path);  // it has been waited for already
  ScoutWriter out;
  out.put(Message::kAttach).put(std::uint64_t{number}).put(has_multi).put_text(what.path).put_text(what.first);
  put_all(out, what.places.offsets);
  put_all(out, what.places.cookies);
  put_all(out, what.places.semaphores);
  port_.send(out.bytes(), std::array{program, file});
  asked_++;
  const Waited waited = await_answers(true);
  if (waited == Waited::kAnswered) return answer_;
  remove(number);  // should it attach them after all
  if (waited == Waited::kInVain) return silent(what.path);
  why_silent_ = "has not answered yet";
  return Error{fmt::format("interrupted while probes were put into {}", what.path), ""};
}

void ProbeGuard::remove(std::size_t number) {
  port_.send(ScoutWriter().put(Message::kRemove).put(std::uint64_t{number}).bytes());
}

// A process that did not answer before is not asked again.
void ProbeGuard::end() {
  if (!process_) return;
  receive();
  if (!ended_ && answered_ == asked_) {
    port_.send(ScoutWriter().put(Message::kEnd).put(std::uint64_t{0}).bytes());
    asked_++;
    if (await_answers(false) == Waited::kAnswered) ended_ = false;  // its end follows its answer
  }
  stop();
}

// It removes its probes and ends when the socket is closed. It may only be killed where it does nothing with probes
// (probe_holder.h): while it waits for a file, which is where it lets a SIGTERM through, and while it sleeps or is
// stopped. Else it is left alone, and ends when the kernel lets it.
void ProbeGuard::stop() {
  if (!process_) return;
  constexpr int kWaitMs = 1;
  constexpr std::uint64_t kInKernelNs = 5 * kSecondNs;  // that does not get on any faster if it is waited for
  port_ = MessagePort(UniqueFd());
  process_->kill(SIGTERM);
  Standstill standstill(monotonic_ns(), kInKernelNs);
  bool killed = false;
  while (!process_->poll()) {
    const auto state = thread_state_of(static_cast<std::uint32_t>(process_->pid()));
    if (standstill.is_over(monotonic_ns(), state)) {
      if (killed || state->state == 'D') {
        process_->leave();
        break;
      }
      process_->kill();
      killed = true;
      standstill = Standstill();
    }
    (void)poll(nullptr, 0, kWaitMs);
  }
  process_.reset();
}

std::vector<ProbeGuard::Removed> ProbeGuard::take_removed() {
  receive();
  return std::exchange(removed_, {});
}

}  // namespace uscope::tracer
