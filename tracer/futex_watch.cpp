#include "tracer/futex_watch.h"

#include <sys/uio.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "uscope/futex.h"

namespace uscope::tracer {
namespace {

bool read_memory(std::uint32_t tid, std::uint64_t from, void* to, std::size_t bytes) {
  const iovec local = {to, bytes};
  const iovec remote = {reinterpret_cast<void*>(from), bytes};  // NOLINT(performance-no-int-to-ptr)
  return process_vm_readv(static_cast<pid_t>(tid), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

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
  return time[0] * kSecond + time[1];
}

// Where not all of it can be read, what the page of the address has.
std::vector<char> read_words(std::uint32_t tid, usc_futex& futex) {
  std::vector<char> words(USC_FUTEX_WORDS);
  std::uint64_t from = futex.address - USC_FUTEX_BEFORE;
  if (!read_memory(tid, from, words.data(), words.size())) {
    __u64 in_page = 0;
    words.resize(usc_futex_words_in_page(futex.address, &in_page));
    from = in_page;
    if (!read_memory(tid, from, words.data(), words.size())) words.clear();
  }
  futex.words_from = from;
  futex.bytes = static_cast<__u16>(words.size());
  return words;
}

bool is_unfinished(const usc_event& event) {
  return event.how == USC_HOW_OPEN || event.how == USC_HOW_ATTACHED;
}

}  // namespace

void FutexWatch::see(const usc_event& event) {
  usc_futex_call call{};
  __u64 args[6];
  std::memcpy(static_cast<void*>(args), &event.args, sizeof(args));
  if (usc_futex_describe(&call, event.abi, event.nr, args) == 0 || (call.flags & USC_FUTEX_WAKE) != 0) return;
  if (is_unfinished(event)) {
    Wait wait{.task = event.head.task, .entry_ns = event.entry_ns, .nr = event.nr, .abi = event.abi};
    std::memcpy(static_cast<void*>(wait.args), &event.args, sizeof(wait.args));
    waits_[wait.task] = wait;
    return;
  }
  const auto at = waits_.find(event.head.task);
  if (at != waits_.end() && at->second.entry_ns == event.entry_ns) waits_.erase(at);
}

WaitSet FutexWatch::waits_before(std::uint64_t before_ns) const {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  WaitSet set;
  for (const auto& [task, wait] : waits_) {
    if (wait.entry_ns >= before_ns) continue;
    set.count++;
    set.mark += (wait.entry_ns ^ std::uint64_t{task} << 40U) * kOdd;
  }
  return set;
}

Result<void> FutexWatch::look_at_new() {
  std::vector<Wait*> fresh;
  for (auto& [task, wait] : waits_)
    if (!std::exchange(wait.looked_at, true)) fresh.push_back(&wait);
  return look(fresh, false);
}

Result<void> FutexWatch::look_at_all() {
  std::vector<Wait*> all;
  for (auto& [task, wait] : waits_) {
    wait.looked_at = true;
    all.push_back(&wait);
  }
  return look(all, true);
}

Result<void> FutexWatch::look(const std::vector<Wait*>& waits, bool at_once) {
  std::vector<Seen> all;
  Mappings mappings;
  Handlers handlers;
  if (at_once) {
    for (const Wait* wait : waits) {
      Seen seen;
      seen.tid = tasks_.find(wait->task).tid;
      seen.before = thread_state_of(seen.tid);
      all.push_back(std::move(seen));
    }
  } else {
    all.resize(waits.size());
  }
  for (std::size_t i = 0; i < waits.size(); i++)
    if (!read(*waits[i], mappings, handlers, all[i])) all[i].tid = 0;
  for (Seen& seen : all)
    if (at_once && seen.tid != 0 && slept_through(seen.before, thread_state_of(seen.tid)))
      seen.futex.flags |= USC_FUTEX_ASLEEP;
  std::erase_if(all, [](const Seen& seen) { return seen.tid == 0; });
  find_strangers(all);
  for (const Seen& seen : all)
    if (auto done = writer_.append_own(seen.futex, USC_RECORD_FUTEX, std::span<const char>(seen.words)); !done)
      return done;
  return {};
}

// False: it is not known whose it is, or of which memory.
bool FutexWatch::read(const Wait& wait, Mappings& mappings, Handlers& handlers, Seen& seen) const {
  const TaskInfo& task = tasks_.find(wait.task);
  usc_futex_call call{};
  __u64 args[6];
  std::memcpy(static_cast<void*>(args), static_cast<const void*>(wait.args), sizeof(args));
  if (task.tid == 0 || usc_futex_describe(&call, wait.abi, wait.nr, args) == 0) return false;
  seen.tid = task.tid;
  if (wait.nr == USC_FUTEX_WAITV) {
    usc_futex_waiter first{};
    if (!read_memory(task.tid, call.address, &first, sizeof(first))) return false;
    usc_futex_take_first(&call, &first);
  }
  usc_futex& futex = seen.futex;
  futex.head.task = wait.task;
  futex.head.time = monotonic_ns();
  futex.entry_ns = wait.entry_ns;
  futex.address = call.address;
  futex.timeout = read_timeout(task.tid, call);
  futex.op = call.op;
  futex.expected = call.expected;
  futex.mm = task.mm;
  futex.strangers = USC_FUTEX_NO_STRANGERS;
  futex.futexes = call.futexes;
  futex.flags = static_cast<__u8>(call.flags | USC_FUTEX_AT_STOP);
  auto handles = handlers.find(task.pid);
  if (handles == handlers.end()) handles = handlers.emplace(task.pid, handles_signals(task.pid)).first;
  if (handles->second) futex.flags |= USC_FUTEX_HANDLERS;
  seen.words = read_words(task.tid, futex);
  find_key(task.pid, mappings, futex);
  return true;
}

void FutexWatch::find_key(std::uint32_t pid, Mappings& mappings, usc_futex& futex) const {
  futex.key = USC_FUTEX_PRIVATE;
  if ((futex.op & USC_FUTEX_OP_PRIVATE) != 0) return;
  auto at = mappings.find(pid);
  if (at == mappings.end()) at = mappings.emplace(pid, shared_mappings_of(pid)).first;
  if (!at->second) {
    futex.key = USC_FUTEX_UNKNOWN;
    return;
  }
  for (const SharedMapping& mapping : *at->second) {
    if (futex.address < mapping.start || futex.address >= mapping.end) continue;
    futex.key = USC_FUTEX_SHARED;
    futex.dev = mapping.file.first;
    futex.ino = mapping.file.second;
    futex.offset = mapping.offset + futex.address - mapping.start;
  }
}

void FutexWatch::find_strangers(std::vector<Seen>& all) const {
  std::vector<SharedFile> files;
  for (const Seen& seen : all)
    if (seen.futex.key == USC_FUTEX_SHARED) files.emplace_back(seen.futex.dev, seen.futex.ino);
  if (files.empty()) return;
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  const std::vector<std::uint32_t> counts = count_strangers(files, tasks_.living());
  for (Seen& seen : all) {
    if (seen.futex.key != USC_FUTEX_SHARED) continue;
    const SharedFile file(seen.futex.dev, seen.futex.ino);
    seen.futex.strangers =
        counts[static_cast<std::size_t>(std::lower_bound(files.begin(), files.end(), file) - files.begin())];
  }
}

}  // namespace uscope::tracer
