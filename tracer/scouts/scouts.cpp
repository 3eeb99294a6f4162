// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/scouts/scouts.h"

#include <fmt/core.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <string>
#include <utility>

#include "support/clock.h"
#include "support/end_signals.h"
#include "tracer/scouts/scout_packets.h"

namespace uscope::tracer {
namespace {

constexpr std::size_t kMostIdle = 2;
constexpr std::size_t kMostLost = 64;
constexpr std::size_t kMostLostOfUser = 16;  // what programs of one user can take of them
constexpr int kShortPatienceMs = 30;
constexpr std::uint64_t kFreeNs = 20 * kMillisecondNs;  // shorter waits of ask() are not counted
constexpr std::uint64_t kLongestAskNs = kSecondNs;

// The real user of a process: of a set-user-ID program, the one who started it. Reading this waits for no lock.
std::optional<std::uint32_t> user_of(std::uint32_t pid) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  for (std::string word; status >> word;) {
    std::uint32_t user = 0;
    if (word == "Uid:" && status >> user) return user;
  }
  return std::nullopt;
}

struct Awaited {
  std::optional<ScoutMessage> answer;
  bool in_vain = false;
  std::uint64_t blocked_ns = 0;  // as Patience counts
  std::uint64_t waited_ns = 0;   // all, as CountedTime counts
};

Awaited await(Errand& errand) {
  constexpr int kWaitMs = 10;
  Awaited awaited;
  CountedTime time(errand.began_ns());
  while (true) {
    ScoutMessage message;
    const Errand::Came came = errand.next(message);
    const std::uint64_t now = monotonic_ns();
    awaited.waited_ns = time.look(now);
    if (came == Errand::Came::kAnswer) awaited.answer = std::move(message);
    if (came == Errand::Came::kDone) return awaited;
    const bool too_long = awaited.blocked_ns > kLongestAskNs;
    if (came == Errand::Came::kLost || (came == Errand::Came::kNothing && (too_long || errand.hangs()))) break;
    if (came != Errand::Came::kNothing) continue;
    const bool came_in_time = errand.wait(kWaitMs);
    const std::uint64_t passed = std::min(monotonic_ns() - now, kWaitMs * kMillisecondNs);
    awaited.blocked_ns += came_in_time ? passed : counted_of(passed, errand.activity());
  }
  awaited.in_vain = !awaited.answer;
  return awaited;
}

}  // namespace

std::optional<ScoutMessage> ask(Scouts* scouts, std::uint32_t pid, ScoutWork work, std::span<const std::byte> request,
                                std::span<const int> fds) {
  if (scouts != nullptr) return scouts->ask(pid, work, request, fds);
  auto answers = run_here(work, request, fds);
  if (answers.empty()) return std::nullopt;
  return std::move(answers.back());
}

Result<std::unique_ptr<Scouts>> Scouts::start() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return errno_error("cannot make sockets for the processes that inspect others", errno);
  UniqueFd own(ends[0]);
  UniqueFd theirs(ends[1]);
  std::unique_ptr<Scouts> scouts(new Scouts());
  scouts->keeper_pid_ = fork();
  if (scouts->keeper_pid_ < 0) return errno_error("cannot fork the process that inspects other processes", errno);
  if (scouts->keeper_pid_ == 0) keep_scouts(theirs.get());
  scouts->keeper_ = std::move(own);
  auto first = scouts->take();
  if (!first) return Error{"the process that inspects other processes did not start", ""};
  scouts->give_back(std::move(*first));
  return scouts;
}

Scouts::~Scouts() {
  for (Scout& scout : std::exchange(idle_, {})) give_up(std::move(scout));
  if (keeper_pid_ <= 0) return;
  kill(keeper_pid_, SIGKILL);
  waitpid(keeper_pid_, nullptr, 0);
}

std::optional<Scout> Scouts::take() {
  if (!idle_.empty()) {
    Scout scout = std::move(idle_.front());
    idle_.pop_front();
    return scout;
  }
  if (count_lost() >= kMostLost) return std::nullopt;
  return fork_scout(keeper_);
}

void Scouts::give_back(Scout scout) {
  if (idle_.size() < kMostIdle)
    idle_.push_front(std::move(scout));
  else
    give_up(std::move(scout));
}

void Scouts::give_up(Scout scout, std::uint32_t pid) {
  if (!scout.process) return;
  (void)syscall(SYS_pidfd_send_signal, scout.process.get(), SIGKILL, nullptr, 0);
  lost_.push_back({std::move(scout.process), pid == 0 ? std::nullopt : user_of(pid)});
}

std::size_t Scouts::count_lost() {
  std::erase_if(lost_, [](const Lost& scout) { return is_readable(scout.process.get(), 0); });
  return lost_.size();
}

std::size_t Scouts::count_lost_of(std::uint32_t user) {
  if (count_lost() < kMostLostOfUser) return 0;
  return static_cast<std::size_t>(
      std::count_if(lost_.begin(), lost_.end(), [&](const Lost& scout) { return scout.user == user; }));
}

// Scouts get little time if tracing has stood still for long lately, or is about to end.
int Scouts::patience_ms() const {
  return unresponsive_.has_waited_long() || end_is_asked_for() ? kShortPatienceMs : kScoutPatienceMs;
}

// An idle scout may have been killed from outside: then another one is tried.
std::optional<Errand> Scouts::send(std::uint32_t pid, ScoutWork work, std::span<const std::byte> request,
                                   std::span<const int> fds, std::optional<int> patience_ms) {
  std::vector<std::byte> bytes(request.begin(), request.end());
  const auto address = std::as_bytes(std::span(&work, 1));
  bytes.insert(bytes.end(), address.begin(), address.end());
  if (pid != 0 && lost_.size() >= kMostLostOfUser)
    if (const auto user = user_of(pid); user && count_lost_of(*user) >= kMostLostOfUser) return std::nullopt;
  for (std::size_t i = 0; i <= kMostIdle; i++) {
    auto scout = take();
    if (!scout) break;
    Errand errand(*this, std::move(*scout), patience_ms.value_or(this->patience_ms()));
    errand.blame(pid);
    if (send_message(errand.scout_.socket.get(), bytes, fds)) return errand;
  }
  return std::nullopt;
}

std::optional<ScoutMessage> Scouts::ask(std::uint32_t pid, ScoutWork work, std::span<const std::byte> request,
                                        std::span<const int> fds) {
  auto errand = is_let_be(pid) || unresponsive_.owes_too_much(pid) ? std::nullopt : send(pid, work, request, fds);
  if (!errand) {
    note_unresponsive(pid);
    return std::nullopt;
  }
  Awaited awaited = await(*errand);
  if (awaited.in_vain) {
    unresponsive_.owe(pid, awaited.waited_ns);
    add_unresponsive(pid, awaited.waited_ns);
  } else if (awaited.blocked_ns > kFreeNs) {
    unresponsive_.owe(pid, awaited.blocked_ns);
  }
  return std::move(awaited.answer);
}

std::optional<ScoutMessage> Scouts::try_ask(std::uint32_t pid, ScoutWork work, std::span<const std::byte> request,
                                            int milliseconds) {
  auto errand = send(pid, work, request, {}, milliseconds);
  if (!errand) return std::nullopt;
  const std::uint64_t until = errand->began_ns() + static_cast<std::uint64_t>(milliseconds) * kMillisecondNs;
  std::optional<ScoutMessage> answer;
  while (true) {
    ScoutMessage message;
    const Errand::Came came = errand->next(message);
    if (came == Errand::Came::kAnswer) answer = std::move(message);
    const std::uint64_t now = monotonic_ns();
    if (came == Errand::Came::kDone || came == Errand::Came::kLost || now >= until) return answer;
    if (came == Errand::Came::kNothing)
      errand->wait(static_cast<int>((until - now + kMillisecondNs - 1) / kMillisecondNs));
  }
}

}  // namespace uscope::tracer
