// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/reader/reader_processes.h"

#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <utility>
#include <vector>

#include "support/process/fd_passing.h"
#include "symbolizer/reader/file_owner.h"

namespace uscope::symbolizer {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kKeeperTime{10'000};  // the keeper never reads a file, so its answers come at once
constexpr std::size_t kMostIdle = 4;
constexpr const char* kUnsound = "the process that read it gave an impossible answer";

constexpr int kMostBegun = 2;                 // readers for one file, until one takes it
constexpr std::int64_t kLongestPollMs = 100;  // between two checks of `stopped`

// Whether data or the end arrives before the deadline.
bool comes(int socket, Clock::time_point deadline, const std::atomic<bool>& stopped) {
  while (!stopped) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd wanted{socket, POLLIN, 0};
    const int found = poll(&wanted, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, kLongestPollMs)));
    if (found > 0) return true;
    if ((found == 0 && left <= kLongestPollMs) || (found < 0 && errno != EINTR)) return false;
  }
  return false;
}

Result<std::pair<UniqueFd, UniqueFd>> socket_pair(int type) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return errno_error("cannot make sockets for a process that reads files", errno);
  return std::pair(UniqueFd(ends[0]), UniqueFd(ends[1]));
}

void kill_reader(ReaderProcess& reader) {
  if (reader.process) (void)syscall(SYS_pidfd_send_signal, reader.process.get(), SIGKILL, nullptr, 0);
  reader = {};
}

}  // namespace

// One file's time with a reader.
class ProcessReading final : public FileReading {
 public:
  ProcessReading(ReaderProcesses& readers, int fd, std::string name, std::chrono::milliseconds time)
      : readers_(readers), fd_(fd), name_(std::move(name)), time_(time), deadline_(Clock::now() + time) {}
  ProcessReading(const ProcessReading&) = delete;
  ProcessReading& operator=(const ProcessReading&) = delete;
  ~ProcessReading() override {
    const ReadRequest end = ReadRequest::kTaskEnds;
    if (reader_.socket && send_all(reader_.socket.get(), std::as_bytes(std::span(&end, 1))))
      readers_.give_back(std::move(reader_));
    else
      kill_reader(reader_);
  }

  FactsAnswer facts();
  Result<Digest> digest() override;
  Result<UnwindTable> rows(RowDetail detail) override;
  [[nodiscard]] bool has_failed() const override { return failed_; }

 private:
  enum class Came { kAll, kEnd, kLate };

  Result<void> begin();
  [[nodiscard]] bool hand_over() const;
  // Returns the length of the answer to a request, at most `most` bytes; these follow.
  Result<std::uint32_t> ask(ReadRequest request, std::size_t most);
  Came try_receive(std::span<std::byte> bytes);
  Result<void> receive(std::span<std::byte> bytes);
  Error give_up(const std::string& why);

  ReaderProcesses& readers_;
  const int fd_;
  const std::string name_;
  const std::chrono::milliseconds time_;
  const Clock::time_point deadline_;
  bool begun_ = false;
  bool reused_ = false;  // the reader has read other files, but nothing of this one yet
  bool no_elf_ = false;
  bool failed_ = false;
  ReaderProcess reader_;
};

Error ProcessReading::give_up(const std::string& why) {
  failed_ = true;
  kill_reader(reader_);
  return {name_ + ": " + why, ""};
}

bool ProcessReading::hand_over() const {
  const std::string name = name_.substr(0, kMostTaskName);
  const TaskHead head{static_cast<std::uint32_t>(name.size())};
  const int socket = reader_.socket.get();
  return send_with_fds(socket, std::as_bytes(std::span(&head, 1)), std::span(&fd_, 1)) &&
         send_all(socket, std::as_bytes(std::span(name)));
}

Result<void> ProcessReading::begin() {
  const std::string owner = owner_of(fd_);
  if (!begun_) {
    begun_ = true;
    if (auto idle = readers_.take_idle(owner)) {
      reader_ = std::move(*idle);
      reused_ = true;
      if (hand_over()) return {};
      kill_reader(reader_);
    }
  }
  reused_ = false;
  // A reader dies with its keeper. Then the next one is begun by the keeper that stands by.
  for (int begun = 1;; begun++) {
    auto reader = readers_.begin_reader(owner);
    if (!reader) return give_up(reader.error().what);
    reader_ = std::move(*reader);
    if (hand_over()) return {};
    if (begun == kMostBegun) return give_up("cannot be handed to the process that reads it");
    kill_reader(reader_);
  }
}

ProcessReading::Came ProcessReading::try_receive(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    if (!comes(reader_.socket.get(), deadline_, readers_.stopped_)) return Came::kLate;
    const ssize_t got = recv(reader_.socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return Came::kEnd;
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
  return Came::kAll;
}

Result<void> ProcessReading::receive(std::span<std::byte> bytes) {
  const Came came = try_receive(bytes);
  if (came == Came::kLate) return give_up(fmt::format("reading it was given up after {} ms", time_.count()));
  if (came == Came::kEnd) return give_up("the process that read it died of it");
  return {};
}

Result<std::uint32_t> ProcessReading::ask(ReadRequest request, std::size_t most) {
  if (!begun_)
    if (auto ready = begin(); !ready) return ready.error();
  if (!reader_.socket) return give_up("its reading has ended");
  const auto request_bytes = std::as_bytes(std::span(&request, 1));
  AnswerHead head;
  const auto head_bytes = std::as_writable_bytes(std::span(&head, 1));
  (void)send_all(reader_.socket.get(), request_bytes);  // if the reader has died, receive() detects that
  if (std::exchange(reused_, false)) {
    // A reader that died while idle, or because of an earlier file, does not count against this file.
    const Came came = try_receive(head_bytes);
    if (came == Came::kLate) return receive(head_bytes).error();
    if (came == Came::kEnd) {
      kill_reader(reader_);
      if (auto ready = begin(); !ready) return ready.error();
      (void)send_all(reader_.socket.get(), request_bytes);
      if (auto got = receive(head_bytes); !got) return got.error();
    }
  } else if (auto got = receive(head_bytes); !got) {
    return got.error();
  }
  const bool done = head.status == ReadStatus::kDone;
  if (head.bytes > (done ? most : kMostErrorBytes)) return give_up(kUnsound);
  if (done) return head.bytes;
  no_elf_ = head.status == ReadStatus::kNoElf;
  std::string text(head.bytes, '\0');
  if (auto got = receive(std::as_writable_bytes(std::span(text))); !got) return got.error();
  return Error{text, ""};
}

FactsAnswer ProcessReading::facts() {
  const auto size = ask(ReadRequest::kFacts, kMostFactsBytes);
  if (!size) return {!no_elf_, size.error(), failed_};
  std::vector<std::byte> bytes(*size);
  if (auto got = receive(bytes); !got) return {true, got.error(), failed_};
  struct stat status {};
  auto facts = fstat(fd_, &status) == 0 ? decode(bytes, static_cast<std::uint64_t>(status.st_size))
                                        : Result<ElfFacts>(errno_error("cannot be looked at", errno));
  if (!facts) return {true, give_up(facts.error().what), true};
  return {true, std::move(facts)};
}

Result<Digest> ProcessReading::digest() {
  Digest digest{};
  const auto size = ask(ReadRequest::kDigest, digest.size());
  if (!size) return size.error();
  if (*size != digest.size()) return give_up(kUnsound);
  if (auto got = receive(std::as_writable_bytes(std::span(digest))); !got) return got.error();
  return digest;
}

Result<UnwindTable> ProcessReading::rows(RowDetail detail) {
  const auto size = ask(detail == RowDetail::kStack ? ReadRequest::kRows : ReadRequest::kAllRows, kMostRowsBytes);
  if (!size) return size.error();
  RowsHead head;
  if (*size < sizeof(head)) return give_up(kUnsound);
  if (auto got = receive(std::as_writable_bytes(std::span(&head, 1))); !got) return got.error();
  if (*size - sizeof(head) != head.counts.bytes()) return give_up(kUnsound);
  UnwindTable table;
  make_room(table, head.counts);
  table.stats = head.stats;
  for (const auto part : parts_of(table))
    if (auto got = receive(part); !got) return got.error();
  if (auto sound = check_rows(table); !sound) return give_up(sound.error().what);
  return table;
}

Result<std::unique_ptr<ReaderProcesses>> ReaderProcesses::start(const ReaderOptions& options) {
  auto ends = socket_pair(SOCK_SEQPACKET);
  if (!ends) return ends.error();
  std::unique_ptr<ReaderProcesses> readers(new ReaderProcesses(options));
  readers->pid_ = fork();
  if (readers->pid_ < 0) return errno_error("cannot fork a process that reads files", errno);
  if (readers->pid_ == 0) keep_readers(ends->second.get(), {options.memory, options.nice, options.work});
  readers->keeper_ = std::move(ends->first);
  ends->second.reset();
  std::array<char, 1024> said{};
  const bool heard = comes(readers->keeper_.get(), Clock::now() + kKeeperTime, readers->stopped_) &&
                     recv(readers->keeper_.get(), said.data(), said.size() - 1, MSG_DONTWAIT) > 0;
  if (!heard) return Error{"the process that reads ELF files did not start", ""};
  if (said.front() != '\0') {
    const std::string what = said.data();
    const std::string remedy = what.size() + 1 < said.size() ? said.data() + what.size() + 1 : "";
    return Error{what, remedy.empty() ? "uscope reads files of traced programs without privileges only" : remedy};
  }
  readers->make_spare();
  return readers;
}

ReaderProcesses::~ReaderProcesses() {
  for (ReaderProcess& reader : idle_) kill_reader(reader);
  if (pid_ <= 0) return;
  // All other processes end when their sockets are closed.
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

Result<UniqueFd> ReaderProcesses::ask_keeper(KeeperRequest request, const UniqueFd& socket) {
  const int fd = socket.get();
  int error = 0;
  std::vector<UniqueFd> fds;
  if (!keeper_ || !send_with_fds(keeper_.get(), std::as_bytes(std::span(&request, 1)), std::span(&fd, 1)) ||
      !comes(keeper_.get(), Clock::now() + kKeeperTime, stopped_) ||
      receive_with_fds(keeper_.get(), std::as_writable_bytes(std::span(&error, 1)), fds, MSG_DONTWAIT) !=
          sizeof(error)) {
    keeper_.reset();
    return Error{"the process that reads ELF files has been killed", ""};
  }
  if (error != 0) return errno_error("cannot fork a process that reads files", error);
  return fds.empty() ? UniqueFd() : std::move(fds.front());
}

void ReaderProcesses::make_spare() {
  auto ends = socket_pair(SOCK_SEQPACKET);
  if (ends && ask_keeper(KeeperRequest::kKeeper, ends->second)) spare_ = std::move(ends->first);
}

Result<ReaderProcess> ReaderProcesses::begin_reader(const std::string& owner) {
  auto ends = socket_pair(SOCK_STREAM);
  if (!ends) return ends.error();
  const std::lock_guard lock(guard_);
  auto process = ask_keeper(KeeperRequest::kReader, ends->second);
  if (!keeper_ && spare_) {
    keeper_ = std::move(spare_);
    make_spare();
    process = ask_keeper(KeeperRequest::kReader, ends->second);
  }
  if (!process) return process.error();
  return ReaderProcess{owner, std::move(ends->first), std::move(*process)};
}

std::optional<ReaderProcess> ReaderProcesses::take_idle(const std::string& owner) {
  const std::lock_guard lock(guard_);
  const auto found =
      std::find_if(idle_.begin(), idle_.end(), [&](const auto& reader) { return reader.owner == owner; });
  if (found == idle_.end()) return std::nullopt;
  ReaderProcess reader = std::move(*found);
  idle_.erase(found);
  return reader;
}

void ReaderProcesses::give_back(ReaderProcess process) {
  const std::lock_guard lock(guard_);
  idle_.push_front(std::move(process));
  if (idle_.size() <= kMostIdle) return;
  kill_reader(idle_.back());
  idle_.pop_back();
}

FactsAnswer ReaderProcesses::facts(int fd, const std::string& name) {
  return ProcessReading(*this, fd, name, options_.facts_time).facts();
}

std::unique_ptr<FileReading> ReaderProcesses::open(int fd, const std::string& name) {
  return std::make_unique<ProcessReading>(*this, fd, name, options_.rows_time);
}

}  // namespace uscope::symbolizer
