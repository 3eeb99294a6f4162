// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "live/query/answer_process.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <type_traits>
#include <unordered_map>

#include "live/query/kept_names.h"
#include "live/query/partial_view.h"
#include "store/reused_store.h"
#include "support/end_signals.h"
#include "support/private_file.h"
#include "support/process/fd_passing.h"
#include "support/sandbox/confine.h"

namespace uscope::query {
namespace {

constexpr std::uint64_t kMostWaiting = std::uint64_t{1} << 30;  // bytes of intervals that wait for an answer
constexpr const char* kName = "the trace of an interval";

// One packet each. A file: its place behind, the copies' descriptor beside. An interval: its trace beside, and the
// rows. Its answer: the text beside, if there is one.
enum class Kind : std::uint32_t { kFile, kInterval, kEnd, kAnswered };

struct Head {
  Kind kind = Kind::kEnd;
  std::uint32_t file = 0;
  std::uint32_t failed = 0;
  std::uint64_t copy_offset = 0;
  std::uint64_t copy_bytes = 0;
  IntervalFacts facts{};
  std::uint64_t row_bytes = 0;
  std::uint64_t bytes = 0;
};
static_assert(std::is_trivially_copyable_v<Head>);

constexpr std::size_t kMostPlace = 8192;

std::vector<std::byte> packet(const Head& head, const std::string& place = "") {
  std::vector<std::byte> bytes(sizeof(head) + std::min(place.size(), kMostPlace));
  std::memcpy(bytes.data(), &head, sizeof(head));
  std::memcpy(bytes.data() + sizeof(head), place.data(), bytes.size() - sizeof(head));
  return bytes;
}

Result<UniqueFd> file_of(int folder, std::span<const std::byte> bytes) {
  auto file = open_nameless(folder);
  if (!file) return file.error();
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t got = write(file->get(), bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      return errno_error("cannot write to the folder for temporary files", errno, "set TMPDIR to another one");
    done += static_cast<std::size_t>(got);
  }
  return std::move(*file);
}

bool read_all(int file, std::span<std::byte> into) {
  for (std::size_t done = 0; done < into.size();) {
    const ssize_t got = pread(file, into.data() + done, into.size() - done, static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    done += static_cast<std::size_t>(got);
  }
  return true;
}

class Answerer {
 public:
  Answerer(UniqueFd socket, const Plan& plan, int folder, AnswerWork work)
      : socket_(std::move(socket)), plan_(plan), folder_(folder), work_(std::move(work)) {
    options_.app_runtime = work_.app_runtime;
    options_.namer = std::make_unique<KeptNames>(
        symbolizer::make_symbol_namer([this](const symbolizer::ModuleRequest& module) { return open(module); }, true));
  }

  int run(const std::vector<int>& writable) {
    // Ctrl-C in the terminal is the tracer's, which wants its last answer still.
    (void)hold_signals();
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
      limit.rlim_cur = limit.rlim_max;  // it holds as many files as the tracer
      (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
    const auto confined = confine({writable, false});
    const std::string refused = confined ? "" : confined.error().what;
    if (!send_with_fds(socket_.get(), std::as_bytes(std::span(refused.data(), refused.size() + 1)), {}) || !confined)
      return 1;
    if (const auto made = make_store(); !made) {
      tell(made.error());
      return 1;
    }
    std::vector<std::byte> room(sizeof(Head) + kMostPlace);
    while (true) {
      std::vector<UniqueFd> fds;
      const long count = receive_with_fds(socket_.get(), room, fds);
      if (count < 0 && errno == EINTR) continue;
      if (count < static_cast<long>(sizeof(Head))) return 0;
      Head head{};
      std::memcpy(static_cast<void*>(&head), room.data(), sizeof(head));
      if (head.kind == Kind::kEnd) return finish();
      if (head.kind == Kind::kFile) {
        const char* place = reinterpret_cast<const char*>(room.data()) + sizeof(head);
        add_file(head, std::string(place, static_cast<std::size_t>(count) - sizeof(head)), std::move(fds));
        continue;
      }
      const bool failed = !answer(head, fds);
      if (failed) return 1;
    }
  }

 private:
  void add_file(const Head& head, std::string place, std::vector<UniqueFd> fds) {
    symbolizer::HeldModule& held = files_[trace::FileId(head.file)];
    held.place = std::move(place);
    if (fds.empty()) return;
    // The same for all files.
    if (!copies_) copies_ = std::make_shared<const UniqueFd>(std::move(fds.front()));
    held.copy.emplace(copies_, head.copy_offset, head.copy_bytes);
  }

  symbolizer::HeldModule open(const symbolizer::ModuleRequest& module) {
    const auto found = files_.find(module.file);
    return found == files_.end() ? symbolizer::HeldModule() : found->second;
  }

  // Before the first interval is over.
  Result<void> make_store() {
    auto made = store::ReusedStore::create(folder_);
    if (!made) return made.error();
    store_.emplace(std::move(*made));
    if (auto done = add_functions(store_->handle()); !done || plan_.way != Way::kSums) return done;
    auto view = PartialView::create(*store_, plan_);
    if (!view) return view.error();
    partial_ = std::move(*view);
    return {};
  }

  // The question, once: on a store that it can only read.
  Result<void> compile() {
    if (question_) return {};
    auto question = store::Statement::prepare(store_->handle(), plan_.way == Way::kSums ? plan_.outer : plan_.text);
    if (!question) return question.error();
    question_.emplace(std::move(*question));
    return {};
  }

  Result<std::string> result(const Head& head, std::vector<UniqueFd>& fds) {
    if (fds.empty()) return Error{"an interval came without its trace", ""};
    auto raw = trace::RawReader::open(std::move(fds.front()), kName);
    if (!raw) return raw.error();
    if (const auto loaded = store_->load(std::move(*raw), options_); !loaded) return loaded.error();
    if (partial_) {
      std::vector<std::uint64_t> words(head.row_bytes / sizeof(std::uint64_t));
      if (fds.size() < 2 || !read_all(fds[1].get(), std::as_writable_bytes(std::span(words))))
        return Error{"an interval came without its rows", ""};
      fds[1].reset();
      if (auto done = partial_->show(PartialRows(plan_.program, words)); !done) return done.error();
    }
    if (auto done = store_->protect(); !done) return done.error();
    if (auto done = compile(); !done) return done.error();
    auto text = work_.answer(*question_, head.facts);
    question_->reset();
    if (partial_) partial_->hide();
    if (auto done = store_->empty(); !done) return done.error();
    return text;
  }

  bool answer(const Head& head, std::vector<UniqueFd>& fds) {
    auto text = result(head, fds);
    options_.namer->close_files();
    Head back{Kind::kAnswered};
    back.bytes = head.bytes;
    UniqueFd file;
    if (text && !text->empty()) {
      auto written = file_of(folder_, std::as_bytes(std::span(*text)));
      if (!written)
        text = written.error();
      else
        file = std::move(*written);
    }
    if (!text && !text.error().what.empty()) tell(text.error());
    back.failed = text ? 0 : 1;
    const int fd = file.get();
    (void)send_with_fds(socket_.get(), packet(back), fd < 0 ? std::span<const int>() : std::span(&fd, 1));
    return static_cast<bool>(text);
  }

  int finish() {
    const auto done = work_.end ? work_.end() : Result<void>();
    if (!done) tell(done.error());
    return done ? 0 : 1;
  }

  void tell(const Error& error) {
    if (work_.tell) work_.tell(error);
  }

  UniqueFd socket_;
  const Plan& plan_;
  int folder_;
  AnswerWork work_;
  std::shared_ptr<const UniqueFd> copies_;
  std::unordered_map<trace::FileId, symbolizer::HeldModule> files_;
  store::LoadOptions options_;
  std::optional<store::ReusedStore> store_;
  std::unique_ptr<PartialView> partial_;
  std::optional<store::Statement> question_;
};

}  // namespace

Result<std::unique_ptr<AnswerProcess>> AnswerProcess::start(const Plan& plan, int folder, std::vector<int> writable,
                                                            AnswerWork work) {
  std::array<int, 2> sockets{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets.data()) != 0)
    return errno_error("cannot make a socket for the process that answers", errno);
  UniqueFd own(sockets[0]);
  UniqueFd theirs(sockets[1]);
  writable.push_back(folder);
  auto temporary = open_sorting_folder(folder);
  if (!temporary) return temporary.error();
  writable.push_back(temporary->get());
  auto process = ChildWork::start([&] {
    own.reset();
    return Answerer(std::move(theirs), plan, folder, std::move(work)).run(writable);
  });
  if (!process) return process.error();
  theirs.reset();
  std::array<char, 1024> said{};
  const long count = recv(own.get(), said.data(), said.size() - 1, 0);
  if (count <= 0 || said[0] != '\0')
    return Error{"the process that answers could not give up its privileges: " + std::string(said.data()),
                 "`uscope doctor` tells what this kernel has"};
  (void)fcntl(own.get(), F_SETFL, O_NONBLOCK);
  return std::unique_ptr<AnswerProcess>(new AnswerProcess(std::move(own), std::move(*process), folder));
}

void AnswerProcess::add_file(trace::FileId file, const symbolizer::HeldModule& held) {
  Head head{Kind::kFile, file.value()};
  UniqueFd copies;
  if (held.copy) {
    copies.reset(fcntl(held.copy->all(), F_DUPFD_CLOEXEC, 0));
    head.copy_offset = held.copy->offset();
    head.copy_bytes = held.copy->bytes();
  }
  Message message{packet(head, held.place), {}};
  if (copies) message.fds.push_back(std::move(copies));
  unsent_.push_back(std::move(message));
  send_more();
}

Result<void> AnswerProcess::send(ClosedInterval&& interval) {
  const std::vector<std::uint64_t> packed = interval.rows.packed();
  const auto rows_of_interval = std::as_bytes(std::span(packed));
  interval.bytes += rows_of_interval.size();
  if (waiting_bytes_ != 0 && waiting_bytes_ + interval.bytes > kMostWaiting && !interval.facts.last) {
    missed_ += interval.facts.events + interval.facts.lost;
    return {};
  }
  Head head{Kind::kInterval};
  head.facts = interval.facts;
  head.facts.lost += std::exchange(missed_, 0);
  head.row_bytes = rows_of_interval.size();
  head.bytes = interval.bytes;
  waiting_bytes_ += interval.bytes;
  Message message{packet(head), {}};
  message.fds.push_back(std::move(interval.trace));
  auto rows = file_of(folder_, rows_of_interval);
  if (!rows) return rows.error();
  message.fds.push_back(std::move(*rows));
  unsent_.push_back(std::move(message));
  send_more();
  return {};
}

void AnswerProcess::end() {
  unsent_.push_back({packet(Head{Kind::kEnd}), {}});
  send_more();
}

void AnswerProcess::work(bool has_come) {
  send_more();
  if (has_come) receive();
}

// As much as the socket takes now; the rest with the next call.
void AnswerProcess::send_more() {
  while (socket_ && !unsent_.empty()) {
    std::vector<int> fds;
    for (const UniqueFd& fd : unsent_.front().fds) fds.push_back(fd.get());
    if (!send_with_fds(socket_.get(), unsent_.front().bytes, fds)) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN && errno != ENOBUFS && errno != ETOOMANYREFS) unsent_.clear();
      return;
    }
    unsent_.pop_front();
  }
}

// What has come is another process's: only numbers are taken from it, and a text to be shown.
void AnswerProcess::receive() {
  constexpr off_t kMostText = off_t{64} << 20;
  std::vector<std::byte> room(sizeof(Head));
  while (socket_) {
    std::vector<UniqueFd> fds;
    const long count = receive_with_fds(socket_.get(), room, fds);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count < static_cast<long>(sizeof(Head))) {
      socket_.reset();
      return;
    }
    Head head{};
    std::memcpy(static_cast<void*>(&head), room.data(), sizeof(head));
    if (head.kind != Kind::kAnswered) continue;
    waiting_bytes_ -= std::min(waiting_bytes_, head.bytes);
    if (head.failed != 0) failed_ = true;
    if (fds.empty()) continue;
    const off_t size = lseek(fds.front().get(), 0, SEEK_END);
    if (size <= 0 || size > kMostText) continue;
    std::string text(static_cast<std::size_t>(size), '\0');
    if (read_all(fds.front().get(), std::as_writable_bytes(std::span(text)))) text_ = std::move(text);
  }
}

// Nobody else has its end of the socket.
bool AnswerProcess::has_ended() {
  if (ended_) return true;
  if (socket_) return false;
  const auto code = process_.poll();
  if (!code) return false;
  ended_ = true;
  constexpr int kSignalled = 128;
  failed_ = failed_ || *code != 0;
  killed_ = *code >= kSignalled;
  return true;
}

}  // namespace uscope::query
