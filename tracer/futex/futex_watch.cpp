// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/futex/futex_watch.h"

#include <fmt/core.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "support/clock.h"
#include "trace/how.h"
#include "tracer/process/outsiders.h"
#include "tracer/process/process_list.h"
#include "tracer/process/shared_mappings.h"
#include "tracer/process/thread_state.h"
#include "tracer/process/time_offset.h"
#include "uscope/futex.h"

namespace uscope::tracer {
namespace {

bool read_memory(std::uint32_t tid, std::uint64_t from, void* to, std::size_t bytes) {
  const iovec local = {to, bytes};
  const iovec remote = {reinterpret_cast<void*>(from), bytes};  // NOLINT(performance-no-int-to-ptr)
  return process_vm_readv(static_cast<pid_t>(tid), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

// The host's time for an absolute timeout; 0, which is in the past, if unknown.
std::uint64_t read_timeout(std::uint32_t tid, const usc_futex_call& call) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  std::uint64_t time[2] = {};
  const std::size_t bytes = call.narrow_timeout != 0 ? 8 : sizeof(time);
  if (call.timeout_at == 0 || !read_memory(tid, call.timeout_at, static_cast<void*>(time), bytes))
    return USC_FUTEX_NO_TIMEOUT;
  if (call.narrow_timeout != 0) {
    time[1] = time[0] >> 32U;
    time[0] &= 0xffffffffU;
  }
  const std::uint64_t timeout = time[0] * kSecond + time[1];
  const bool monotonic = (call.flags & USC_FUTEX_ABSOLUTE) != 0 && (call.op & USC_FUTEX_OP_REALTIME) == 0 &&
                         usc_futex_command(call.op) != USC_FUTEX_OP_LOCK_PI;
  if (!monotonic) return timeout;
  const auto offset = time_offset_of(tid);
  const bool past = !offset || (*offset > 0 && timeout < static_cast<std::uint64_t>(*offset));
  return past ? 0 : timeout - static_cast<std::uint64_t>(*offset);
}

// Reads the memory around the address; if not all can be read, only the part in the address's page.
std::vector<char> read_words(std::uint32_t tid, FutexQuestion::Depth depth, usc_futex& futex) {
  std::vector<char> words(USC_FUTEX_WORDS);
  std::uint64_t from = futex.address - USC_FUTEX_BEFORE;
  if (depth != FutexQuestion::Depth::kAround || !read_memory(tid, from, words.data(), words.size())) {
    __u64 in_page = 0;
    words.resize(usc_futex_words_in_page(futex.address, &in_page));
    from = in_page;
    if (!read_memory(tid, from, words.data(), words.size())) words.clear();
  }
  futex.words_from = from;
  futex.bytes = static_cast<__u16>(words.size());
  return words;
}

constexpr std::uint32_t kPlaceOfProcess =
    1U << 31;  // added to a pid: a query of /proc about the process; smaller numbers are indices of questions
constexpr std::uint32_t kMostHangs = 3;

struct Seen {
  std::vector<char> words;
  std::uint32_t tid = 0;
  const FutexQuestion* question = nullptr;
  std::optional<ThreadState> before;
  std::string name;  // for a shared futex, the name of its file: input of are_open_to_others()
  std::string link;
  usc_futex futex{};  // last, because its type has a flexible array at the end
};

// One look at waits, on the side of the scout or thread that executes it.
class FutexLook {
 public:
  explicit FutexLook(ScoutDesk& desk) : desk_(desk) {
    ScoutReader request(desk.request().bytes);
    at_once_ = request.get<bool>();
    questions_ = items<FutexQuestion>(request.get_bytes());
    for (const std::uint32_t pid : items<std::uint32_t>(request.get_bytes())) around_.silent.insert(pid);
    for (const std::uint32_t pid : items<std::uint32_t>(request.get_bytes())) around_.known.insert(pid);
    around_.asks = [this](std::uint32_t pid) { desk_.goes_to(kPlaceOfProcess + pid); };
  }
  FutexLook(const FutexLook&) = delete;
  FutexLook& operator=(const FutexLook&) = delete;

  void take();

 private:
  template <typename T>
  static std::vector<T> items(std::span<const std::byte> bytes) {
    std::vector<T> all(bytes.size() / sizeof(T));
    if (!all.empty()) std::memcpy(static_cast<void*>(all.data()), bytes.data(), all.size() * sizeof(T));
    return all;
  }
  bool read(std::size_t number, Seen& seen);
  void find_key(std::uint32_t pid, Seen& seen);
  void find_untraced_sharers(std::vector<Seen>& all);
  void find_sharers(std::vector<Seen>& all);

  ScoutDesk& desk_;
  bool at_once_ = false;
  std::vector<FutexQuestion> questions_;
  AskedAround around_;
  std::map<std::uint32_t, std::optional<std::vector<SharedMapping>>> mappings_;  // by pid
  std::map<std::uint32_t, bool> handlers_;                                       // by pid: whether it handles signals
};

void FutexLook::take() {
  std::vector<Seen> all(questions_.size());
  for (std::size_t i = 0; at_once_ && i < all.size(); i++) all[i].before = thread_state_of(questions_[i].tid);
  for (std::size_t i = 0; i < all.size(); i++)
    if (!read(i, all[i])) all[i].tid = 0;
  for (Seen& seen : all)
    if (at_once_ && seen.tid != 0 && slept_through(seen.before, thread_state_of(seen.tid)))
      seen.futex.flags |= USC_FUTEX_ASLEEP;
  std::erase_if(all, [](const Seen& seen) { return seen.tid == 0; });
  find_untraced_sharers(all);
  find_sharers(all);
  for (const Seen& seen : all)
    desk_.answer(ScoutWriter().put(seen.futex).put_bytes(std::as_bytes(std::span(seen.words))).bytes());
}

// Returns false if the call is not a known futex wait, or if its futex cannot be read.
bool FutexLook::read(std::size_t number, Seen& seen) {
  const FutexQuestion& question = questions_[number];
  usc_futex_call call{};
  __u64 args[6];
  std::memcpy(static_cast<void*>(args), static_cast<const void*>(question.args), sizeof(args));
  if (usc_futex_describe(&call, question.abi, question.nr, args) == 0) return false;
  seen.tid = question.tid;
  seen.question = &question;
  desk_.goes_to(static_cast<std::uint32_t>(number));
  if (question.nr == USC_FUTEX_WAITV) {
    usc_futex_waiter first{};
    if (!read_memory(question.tid, call.address, &first, sizeof(first))) return false;
    usc_futex_take_first(&call, &first);
  }
  usc_futex& futex = seen.futex;
  futex.head.task = question.task.value();
  futex.head.time = monotonic_ns();
  futex.entry_ns = question.entry_ns;
  futex.address = call.address;
  futex.timeout = read_timeout(question.tid, call);
  futex.op = call.op;
  futex.expected = call.expected;
  futex.mm = question.mm.value();
  futex.untraced_sharers = USC_FUTEX_SHARERS_UNKNOWN;
  futex.futexes = call.futexes;
  futex.flags = static_cast<__u8>(call.flags | USC_FUTEX_AT_STOP);
  auto handles = handlers_.find(question.pid);
  if (handles == handlers_.end()) handles = handlers_.emplace(question.pid, handles_signals(question.pid)).first;
  if (handles->second) futex.flags |= USC_FUTEX_HANDLERS;
  seen.words = read_words(question.tid, question.depth, futex);
  find_key(question.pid, seen);
  return true;
}

void FutexLook::find_key(std::uint32_t pid, Seen& seen) {
  usc_futex& futex = seen.futex;
  futex.key = USC_FUTEX_PRIVATE;
  if ((futex.op & USC_FUTEX_OP_PRIVATE) != 0) return;
  auto at = mappings_.find(pid);
  if (at == mappings_.end()) {
    desk_.goes_to(kPlaceOfProcess + pid);
    at = mappings_.emplace(pid, around_.silent.count(pid) != 0 ? std::nullopt : shared_mappings_of(pid)).first;
  }
  if (!at->second) {
    futex.key = USC_FUTEX_UNKNOWN;
    return;
  }
  // The kernel lists mappings by address.
  const auto behind =
      std::upper_bound(at->second->begin(), at->second->end(), futex.address,
                       [](std::uint64_t address, const SharedMapping& mapping) { return address < mapping.start; });
  if (behind == at->second->begin() || futex.address >= std::prev(behind)->end) return;
  const SharedMapping& mapping = *std::prev(behind);
  futex.key = USC_FUTEX_SHARED;
  futex.dev = mapping.file.first;
  futex.ino = mapping.file.second;
  futex.offset = mapping.offset + futex.address - mapping.start;
  seen.name = mapping.name;
  seen.link = map_files_entry(living_thread_of(pid), mapping.start, mapping.end);
}

void FutexLook::find_untraced_sharers(std::vector<Seen>& all) {
  std::vector<SharedFile> files;
  for (const Seen& seen : all)
    if (seen.futex.key == USC_FUTEX_SHARED) files.emplace_back(seen.futex.dev, seen.futex.ino);
  if (files.empty()) return;
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  const std::vector<std::uint32_t> counts = count_untraced_sharers(files, around_);
  const auto place_of = [&](const Seen& seen) {
    const SharedFile file(seen.futex.dev, seen.futex.ino);
    return static_cast<std::size_t>(std::lower_bound(files.begin(), files.end(), file) - files.begin());
  };
  std::vector<MappedFile> mapped(files.size());
  for (const Seen& seen : all)
    if (seen.futex.key == USC_FUTEX_SHARED) mapped[place_of(seen)] = {seen.question->pid, seen.name, seen.link};
  const std::vector<bool> open = are_open_to_others(mapped, around_);
  for (Seen& seen : all) {
    if (seen.futex.key != USC_FUTEX_SHARED) continue;
    seen.futex.untraced_sharers = counts[place_of(seen)];
    if (open[place_of(seen)]) seen.futex.flags |= USC_FUTEX_OPEN;
  }
}

void FutexLook::find_sharers(std::vector<Seen>& all) {
  SpaceSharers sharers(around_);
  std::map<trace::MmId, std::uint32_t> counted;
  for (Seen& seen : all) {
    usc_futex& futex = seen.futex;
    if (futex.key != USC_FUTEX_PRIVATE) continue;
    futex.untraced_sharers = seen.question->sharers;
    if (seen.question->counts_sharers == 0) continue;
    auto known = counted.find(seen.question->mm);
    if (known == counted.end()) known = counted.emplace(seen.question->mm, sharers.count(seen.question->pid)).first;
    futex.untraced_sharers = known->second;
  }
}

void scan_waits(ScoutDesk& desk) {
  FutexLook(desk).take();
}

}  // namespace

void FutexWatch::observe(const usc_event& event) {
  if (event.source != USC_SOURCE_SYSCALL) return;
  usc_futex_call call{};
  __u64 args[6];
  std::memcpy(static_cast<void*>(args), &event.args, sizeof(args));
  if (usc_futex_describe(&call, event.abi, event.kind, args) == 0 || (call.flags & USC_FUTEX_WAKE) != 0) return;
  if (trace::is_unfinished(event.how)) {
    Wait wait{.task = trace::TaskId(event.head.task),
              .entry_ns = event.entry_ns,
              .nr = event.kind,
              .abi = event.abi,
              .entered = event.how == USC_HOW_OPEN};
    std::memcpy(static_cast<void*>(wait.args), &event.args, sizeof(wait.args));
    waits_[wait.task] = wait;
    return;
  }
  const auto at = waits_.find(trace::TaskId(event.head.task));
  if (at != waits_.end() && at->second.entry_ns == event.entry_ns) waits_.erase(at);
}

Result<void> FutexWatch::scan_new() {
  if (look_) return {};  // at the next call
  Look look;
  for (auto& [task, wait] : waits_)
    if (!std::exchange(wait.looked_at, true)) ask_about(wait, look);
  return begin(std::move(look));
}

Result<void> FutexWatch::scan_all() {
  if (look_) {
    all_asked_ = true;
    return {};
  }
  // Until here every thread was there that the look finds waited for: who ends later may end a wait first.
  if (auto done = sink_.append_meta("waits_seen_ns", std::to_string(monotonic_ns())); !done) return done;
  Look look;
  look.at_once = true;
  for (auto& [task, wait] : waits_) {
    wait.looked_at = true;
    ask_about(wait, look);
  }
  return begin(std::move(look));
}

void FutexWatch::ask_about(const Wait& wait, Look& look) const {
  const TaskInfo& task = tasks_.find(wait.task);
  if (task.tid == 0 || wait.depth == FutexQuestion::Depth::kNone) return;
  if (scouts_ != nullptr && scouts_->is_let_be(task.pid)) look.silent.push_back(task.pid);
  FutexQuestion question;
  question.entry_ns = wait.entry_ns;
  std::memcpy(static_cast<void*>(question.args), static_cast<const void*>(wait.args), sizeof(question.args));
  question.task = wait.task;
  question.tid = task.tid;
  question.pid = task.pid;
  question.mm = task.mm;
  question.nr = wait.nr;
  question.abi = wait.abi;
  question.depth = wait.depth;
  // Only an address space that existed before the trace can be shared with processes that the trace does not know. They
  // are counted once, and again if it matters whether they still exist.
  if (tasks_.was_adopted(task.mm)) {
    const auto known = sharers_.find(task.mm);
    question.sharers = known == sharers_.end() ? 0 : known->second;
    question.counts_sharers = known == sharers_.end() || (look.at_once && known->second != 0) ? 1 : 0;
  }
  look.questions.push_back(question);
}

Result<void> FutexWatch::begin(Look look) {
  if (look.questions.empty()) return {};
  look_.emplace(std::move(look));
  return send();
}

Result<void> FutexWatch::send() {
  ScoutWriter request;
  request.put(look_->at_once);
  request.put_bytes(std::as_bytes(std::span(look_->questions)));
  request.put_bytes(std::as_bytes(std::span(look_->silent)));
  std::vector<std::uint32_t> known{static_cast<std::uint32_t>(getpid())};
  for (const std::uint32_t pid : tasks_.living()) known.push_back(pid);
  request.put_bytes(std::as_bytes(std::span(known)));
  look_->seen.clear();
  if (scouts_ == nullptr) return write(run_here(scan_waits, request.bytes()));
  if (auto errand = scouts_->send(0, scan_waits, request.bytes()))
    look_->errand.emplace(std::move(*errand));
  else
    give_up();
  return {};
}

Result<void> FutexWatch::work() {
  if (!look_) return {};
  while (true) {
    ScoutMessage message;
    const Errand::Came came = look_->errand->next(message);
    if (came == Errand::Came::kAnswer) {
      look_->seen.push_back(std::move(message));
      continue;
    }
    if (came == Errand::Came::kDone) return write(std::exchange(look_->seen, {}));
    const std::uint32_t place = look_->errand->at();
    look_->errand->blame(place < look_->questions.size()
                             ? look_->questions[place].pid
                             : place - std::min(place, static_cast<std::uint32_t>(kPlaceOfProcess)));
    if (came == Errand::Came::kNothing && !look_->errand->hangs()) return {};
    break;
  }
  const std::uint32_t place = look_->errand->at();
  const std::uint64_t waited_ns = monotonic_ns() - look_->errand->began_ns();
  look_->errand.reset();
  if (place >= kPlaceOfProcess && place - kPlaceOfProcess != 0)
    scouts_->add_unresponsive(place - kPlaceOfProcess, waited_ns);
  if (auto done = avoid(*look_, place); !done) return done;
  return send();
}

// If a question did not answer, it is repeated with less memory; if that happens often, its whole process is left
// alone.
Result<void> FutexWatch::avoid(Look& look, std::uint32_t place) {
  look.hung++;
  std::uint32_t pid = place - kPlaceOfProcess;
  if (place < look.questions.size()) {
    FutexQuestion& question = look.questions[place];
    const auto depth = question.depth == FutexQuestion::Depth::kAround && look.hung <= kMostHangs
                           ? FutexQuestion::Depth::kPage
                           : FutexQuestion::Depth::kNone;
    question.depth = depth;
    const auto wait = waits_.find(question.task);
    if (wait != waits_.end() && wait->second.entry_ns == question.entry_ns) wait->second.depth = depth;
    pid = question.pid;
    scouts_->note_unresponsive(pid);
    const FutexQuestion asked = question;
    if (look.hung > kMostHangs) std::erase_if(look.questions, [&](const auto& other) { return other.pid == pid; });
    std::erase_if(look.questions, [](const auto& other) { return other.depth == FutexQuestion::Depth::kNone; });
    return depth == FutexQuestion::Depth::kNone ? let_be(asked) : Result<void>();
  }
  look.silent.push_back(pid);
  if (look.hung > 2 * kMostHangs) look.questions.clear();
  return {};
}

// Handles a wait that is not examined: the data of its entry may be all that is known, and any process may share its
// memory.
Result<void> FutexWatch::let_be(const FutexQuestion& question) {
  const auto wait = waits_.find(question.task);
  const bool entered = wait != waits_.end() && wait->second.entry_ns == question.entry_ns && wait->second.entered;
  usc_futex_call call{};
  __u64 args[6];
  std::memcpy(static_cast<void*>(args), static_cast<const void*>(question.args), sizeof(args));
  if (!entered || usc_futex_describe(&call, question.abi, question.nr, args) == 0) return {};
  usc_futex futex{};
  futex.head.task = question.task.value();
  futex.head.time = monotonic_ns();
  futex.entry_ns = question.entry_ns;
  futex.address = call.address;
  futex.timeout = USC_FUTEX_NO_TIMEOUT;
  futex.op = call.op;
  futex.expected = call.expected;
  futex.mm = question.mm.value();
  futex.untraced_sharers = 1;
  futex.futexes = call.futexes;
  futex.key = USC_FUTEX_UNKNOWN;
  futex.flags = static_cast<__u8>(call.flags | USC_FUTEX_AT_STOP | USC_FUTEX_HANDLERS);
  return sink_.append_own(futex);
}

Result<void> FutexWatch::write(const std::vector<ScoutMessage>& seen) {
  look_.reset();
  for (const ScoutMessage& message : seen) {
    ScoutReader reader(message.bytes);
    const auto futex = reader.get<usc_futex>();
    const auto words = reader.get_bytes();
    if (const trace::MmId mm(futex.mm); futex.key == USC_FUTEX_PRIVATE && tasks_.was_adopted(mm))
      sharers_[mm] = futex.untraced_sharers;
    if (auto done = sink_.append_own(futex, std::span(reinterpret_cast<const char*>(words.data()), words.size()));
        !done)
      return done;
  }
  return std::exchange(all_asked_, false) ? scan_all() : Result<void>();
}

}  // namespace uscope::tracer
