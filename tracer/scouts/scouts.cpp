// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/scouts/scouts.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>
#include <utility>

#include "support/clock.h"
#include "support/process/child_process.h"
#include "support/process/fd_passing.h"

namespace uscope::tracer {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::size_t kMostInPacket = std::size_t{48} << 10;
constexpr std::size_t kMostIdle = 2;
constexpr std::size_t kMostLost = 64;
constexpr std::size_t kMostLostOfUser = 16;  // what programs of one user can take of them
constexpr int kNice = -20;                   // as the collector, which may wait for them
constexpr int kKeeperMs = 5'000;             // the keeper never does anything that may block
// A scout that is silent for this long hangs even though it runs, on something endless.
constexpr int kTimesWhileRunning = 4;
constexpr int kShortPatienceMs = 30;
// ask() waits no more than this lately: for one process, and for all of them together. Shorter waits are not counted.
constexpr double kMostOfOneMs = 600;
constexpr double kMostOfAllMs = 1000;
constexpr std::uint64_t kFreeNs = 20 * kMillisecondNs;
constexpr std::uint64_t kLongestAskNs = kSecond;
constexpr std::uint64_t kRest = 20;  // as a multiple of the time waited
constexpr std::uint64_t kLeastRestNs = 5 * kSecond;
constexpr std::uint64_t kLongestRestNs = 600 * kSecond;
constexpr std::size_t kMostSilent = 4096;

enum class Packet : std::uint32_t { kPart, kEnd, kGoesTo, kDone, kLast };

struct PacketHead {
  Packet kind = Packet::kPart;
  std::uint32_t number = 0;
};

struct KeeperAnswer {
  std::int32_t error = 0;
  std::int32_t pid = 0;
};

bool send_packet(int socket, PacketHead head, std::span<const std::byte> bytes, std::span<const int> fds) {
  std::vector<std::byte> packet(sizeof(head) + bytes.size());
  std::memcpy(packet.data(), &head, sizeof(head));
  if (!bytes.empty()) std::memcpy(packet.data() + sizeof(head), bytes.data(), bytes.size());
  return send_with_fds(socket, packet, fds);
}

// Sends a message in as many packets as needed; its descriptors go with the first.
bool send_message(int socket, std::span<const std::byte> bytes, std::span<const int> fds) {
  while (true) {
    const auto part = bytes.first(std::min(bytes.size(), kMostInPacket));
    bytes = bytes.subspan(part.size());
    if (!send_packet(socket, {bytes.empty() ? Packet::kEnd : Packet::kPart}, part, fds)) return false;
    if (bytes.empty()) return true;
    fds = {};
  }
}

// Receives a packet: returns its head and appends the rest to `message`; nullopt if none is there, or the other end is
// closed.
std::optional<PacketHead> receive_packet(int socket, ScoutMessage& message, int flags) {
  std::array<std::byte, sizeof(PacketHead) + kMostInPacket> room;
  std::vector<UniqueFd> fds;
  const long count = receive_with_fds(socket, room, fds, flags);
  if (count < static_cast<long>(sizeof(PacketHead))) {
    if (count >= 0) errno = EPIPE;
    return std::nullopt;
  }
  PacketHead head;
  std::memcpy(&head, room.data(), sizeof(head));
  message.bytes.insert(message.bytes.end(), room.begin() + sizeof(head), room.begin() + count);
  for (UniqueFd& fd : fds) message.fds.push_back(std::move(fd));
  return head;
}

class Desk final : public ScoutDesk {
 public:
  explicit Desk(int socket) : socket_(socket) {}

  // Returns false if no further request will come.
  bool serve() {
    request_ = {};
    while (true) {
      const auto head = receive_packet(socket_, request_, 0);
      if (!head) return false;
      if (head->kind == Packet::kEnd) break;
    }
    ScoutWork work = nullptr;
    if (request_.bytes.size() < sizeof(work)) return false;
    std::memcpy(&work, request_.bytes.data() + request_.bytes.size() - sizeof(work), sizeof(work));
    request_.bytes.resize(request_.bytes.size() - sizeof(work));
    work(*this);
    const bool sent = send_packet(socket_, {last_ ? Packet::kLast : Packet::kDone}, {}, {});
    return sent && !last_;
  }

  ScoutMessage& request() override { return request_; }
  void goes_to(std::uint32_t number) override { check_sent(send_packet(socket_, {Packet::kGoesTo, number}, {}, {})); }
  void answer(std::span<const std::byte> bytes, std::span<const int> fds) override {
    check_sent(send_message(socket_, bytes, fds));
  }
  void be_last() override { last_ = true; }

 private:
  // Exits if no process waits for the answer any more.
  static void check_sent(bool sent) {
    if (!sent) _exit(0);
  }

  int socket_;
  ScoutMessage request_;
  bool last_ = false;
};

[[noreturn]] void be_scout(int control, int socket, pid_t keeper) {
  close(control);
  if (!die_with(keeper)) _exit(1);
  try {
    Desk desk(socket);
    while (desk.serve()) {
    }
  } catch (const std::exception&) {  // out of memory: the tracer sees the scout exit
  }
  _exit(0);
}

[[noreturn]] void keep_scouts(int control) {
  const pid_t tracer = getppid();
  control = settle_child(control, "uscope-scout");
  if (!die_with(tracer)) _exit(1);
  (void)setpriority(PRIO_PROCESS, 0, kNice);
  while (true) {
    char request = 0;
    std::vector<UniqueFd> fds;
    if (receive_with_fds(control, std::as_writable_bytes(std::span(&request, 1)), fds) != 1 || fds.size() != 1)
      _exit(0);
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    const pid_t self = getpid();
    const pid_t child = fork();
    if (child == 0) be_scout(control, fds.front().get(), self);
    const KeeperAnswer answer{child < 0 ? errno : 0, child};
    const UniqueFd process(child < 0 ? -1 : static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
    const int fd = process.get();
    if (!send_with_fds(control, std::as_bytes(std::span(&answer, 1)), std::span(&fd, process ? 1 : 0))) _exit(0);
  }
}

// Runs, or is about to: then only load on the CPUs delays it.
bool is_running(pid_t pid) {
  const UniqueFd stat(open(fmt::format("/proc/{}/stat", pid).c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 256> text{};
  const ssize_t count = stat ? read(stat.get(), text.data(), text.size() - 1) : -1;
  const std::string_view line(text.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  const std::size_t at = line.rfind(')');
  return at != std::string_view::npos && at + 2 < line.size() && line[at + 2] == 'R';
}

// The real user of a process: of a set-user-ID program, the one who started it. Reading this waits for no lock.
std::optional<std::uint32_t> user_of(std::uint32_t pid) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  for (std::string word; status >> word;) {
    std::uint32_t user = 0;
    if (word == "Uid:" && status >> user) return user;
  }
  return std::nullopt;
}

bool is_readable(int fd, int milliseconds) {
  pollfd wanted{fd, POLLIN, 0};
  return poll(&wanted, 1, milliseconds) > 0;
}

}  // namespace

namespace {

class LocalDesk final : public ScoutDesk {
 public:
  LocalDesk(std::span<const std::byte> request, std::span<const int> fds) {
    request_.bytes.assign(request.begin(), request.end());
    for (const int fd : fds) request_.fds.emplace_back(fcntl(fd, F_DUPFD_CLOEXEC, 0));
  }
  ScoutMessage& request() override { return request_; }
  void goes_to(std::uint32_t) override {}
  void answer(std::span<const std::byte> bytes, std::span<const int> fds) override {
    ScoutMessage& message = answers_.emplace_back();
    message.bytes.assign(bytes.begin(), bytes.end());
    for (const int fd : fds) message.fds.emplace_back(fcntl(fd, F_DUPFD_CLOEXEC, 0));
  }
  void be_last() override {}
  std::vector<ScoutMessage> take() { return std::move(answers_); }

 private:
  ScoutMessage request_;
  std::vector<ScoutMessage> answers_;
};

}  // namespace

std::vector<ScoutMessage> run_here(ScoutWork work, std::span<const std::byte> request, std::span<const int> fds) {
  LocalDesk desk(request, fds);
  work(desk);
  return desk.take();
}

std::optional<ScoutMessage> ask(Scouts* scouts, std::uint32_t pid, ScoutWork work, std::span<const std::byte> request,
                                std::span<const int> fds) {
  if (scouts != nullptr) return scouts->ask(pid, work, request, fds);
  auto answers = run_here(work, request, fds);
  if (answers.empty()) return std::nullopt;
  return std::move(answers.back());
}

bool end_is_asked_for() {
  sigset_t pending;
  if (sigpending(&pending) != 0) return false;
  return std::any_of(std::begin(kEndSignals), std::end(kEndSignals),
                     [&](int number) { return sigismember(&pending, number) == 1; });
}

Errand::Errand(Scouts& scouts, Scout scout, int patience_ms)
    : scouts_(&scouts),
      scout_(std::move(scout)),
      began_ns_(monotonic_ns()),
      moved_ns_(began_ns_),
      patience_ms_(patience_ms) {}

Errand::~Errand() {
  if (!scout_.socket) return;
  if (done_ && !last_)
    scouts_->give_back(std::move(scout_));
  else
    scouts_->give_up(std::move(scout_), blamed_);
}

Errand::Came Errand::next(ScoutMessage& answer) {
  while (!done_) {
    const auto head = receive_packet(scout_.socket.get(), partial_, MSG_DONTWAIT);
    if (!head && (errno == EAGAIN || errno == EINTR)) return Came::kNothing;
    if (!head) return Came::kLost;
    moved_ns_ = monotonic_ns();
    if (head->kind == Packet::kGoesTo) at_ = head->number;
    if (head->kind == Packet::kEnd) {
      answer = std::exchange(partial_, {});
      return Came::kAnswer;
    }
    last_ = head->kind == Packet::kLast;
    done_ = last_ || head->kind == Packet::kDone;
  }
  return Came::kDone;
}

bool Errand::wait(int milliseconds) const {
  return is_readable(scout_.socket.get(), milliseconds);
}

bool Errand::is_running() const {
  return tracer::is_running(scout_.pid);
}

bool Errand::hangs() const {
  const std::uint64_t silent_ms = (monotonic_ns() - moved_ns_) / kMillisecondNs;
  const auto patience = static_cast<std::uint64_t>(patience_ms_);
  if (done_ || silent_ms < patience || is_readable(scout_.socket.get(), 0)) return false;
  return silent_ms >= patience * kTimesWhileRunning || !is_running();
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
  for (Errand::Scout& scout : std::exchange(idle_, {})) give_up(std::move(scout));
  if (keeper_pid_ <= 0) return;
  kill(keeper_pid_, SIGKILL);
  waitpid(keeper_pid_, nullptr, 0);
}

std::optional<Errand::Scout> Scouts::take() {
  if (!idle_.empty()) {
    Errand::Scout scout = std::move(idle_.front());
    idle_.pop_front();
    return scout;
  }
  std::array<int, 2> ends{};
  if (!keeper_ || count_lost() >= kMostLost || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return std::nullopt;
  Errand::Scout scout;
  scout.socket.reset(ends[0]);
  const UniqueFd theirs(ends[1]);
  const int fd = theirs.get();
  const char request = 0;
  KeeperAnswer answer;
  std::vector<UniqueFd> fds;
  if (!send_with_fds(keeper_.get(), std::as_bytes(std::span(&request, 1)), std::span(&fd, 1)) ||
      !is_readable(keeper_.get(), kKeeperMs) ||
      receive_with_fds(keeper_.get(), std::as_writable_bytes(std::span(&answer, 1)), fds, MSG_DONTWAIT) !=
          sizeof(answer)) {
    keeper_.reset();
    return std::nullopt;
  }
  if (answer.error != 0 || fds.empty()) return std::nullopt;
  scout.process = std::move(fds.front());
  scout.pid = answer.pid;
  return scout;
}

void Scouts::give_back(Errand::Scout scout) {
  if (idle_.size() < kMostIdle)
    idle_.push_front(std::move(scout));
  else
    give_up(std::move(scout));
}

void Scouts::give_up(Errand::Scout scout, std::uint32_t pid) {
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
  return debt_.left_ms() > kMostOfAllMs || end_is_asked_for() ? kShortPatienceMs : kPatienceMs;
}

bool Scouts::owes_too_much(std::uint32_t pid) const {
  if (debt_.left_ms() > kMostOfAllMs + kPatienceMs) return true;
  const auto found = debts_.find(pid);
  return found != debts_.end() && found->second.left_ms() > kMostOfOneMs;
}

void Scouts::owe(std::uint32_t pid, std::uint64_t waited_ns) {
  debt_.add(waited_ns);
  if (pid == 0) return;
  if (debts_.size() >= kMostSilent) debts_.clear();
  debts_[pid].add(waited_ns);
}

void Scouts::add_unresponsive(std::uint32_t pid, std::uint64_t waited_ns) {
  note_unresponsive(pid);
  if (pid == 0) return;
  if (silent_.size() >= kMostSilent) silent_.clear();
  Silence& silence = silent_[pid];
  silence.rest_ns = std::clamp(std::max(silence.rest_ns * 2, waited_ns * kRest), kLeastRestNs, kLongestRestNs);
  silence.until_ns = monotonic_ns() + silence.rest_ns;
}

bool Scouts::is_let_be(std::uint32_t pid) const {
  const auto found = silent_.find(pid);
  return found != silent_.end() && monotonic_ns() < found->second.until_ns;
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

namespace {

struct Awaited {
  std::optional<ScoutMessage> answer;
  bool in_vain = false;
  std::uint64_t blocked_ns = 0;  // without the time in which the scout, or the caller, only waited for a processor
};

Awaited await(Errand& errand) {
  constexpr int kWaitMs = 10;
  Awaited awaited;
  while (true) {
    ScoutMessage message;
    const Errand::Came came = errand.next(message);
    const std::uint64_t now = monotonic_ns();
    if (came == Errand::Came::kAnswer) awaited.answer = std::move(message);
    if (came == Errand::Came::kDone) return awaited;
    const bool too_long = awaited.blocked_ns > kLongestAskNs;
    if (came == Errand::Came::kLost || (came == Errand::Came::kNothing && (too_long || errand.hangs()))) break;
    if (came != Errand::Came::kNothing) continue;
    if (errand.wait(kWaitMs) || !errand.is_running())
      awaited.blocked_ns += std::min(monotonic_ns() - now, kWaitMs * kMillisecondNs);
  }
  awaited.in_vain = !awaited.answer;
  return awaited;
}

}  // namespace

std::optional<ScoutMessage> Scouts::ask(std::uint32_t pid, ScoutWork work, std::span<const std::byte> request,
                                        std::span<const int> fds) {
  auto errand = is_let_be(pid) || owes_too_much(pid) ? std::nullopt : send(pid, work, request, fds);
  if (!errand) {
    note_unresponsive(pid);
    return std::nullopt;
  }
  Awaited awaited = await(*errand);
  if (awaited.in_vain) {
    const std::uint64_t waited = monotonic_ns() - errand->began_ns();
    owe(pid, waited);
    add_unresponsive(pid, waited);
  } else if (awaited.blocked_ns > kFreeNs) {
    owe(pid, awaited.blocked_ns);
  }
  return std::move(awaited.answer);
}

}  // namespace uscope::tracer
