// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/waits/wait_look.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "support/clock.h"
#include "trace/record_builder.h"
#include "tracer/java/java_look.h"
#include "tracer/java/java_monitors.h"
#include "tracer/process/process_list.h"
#include "tracer/waits/descriptors.h"
#include "tracer/waits/held_locks.h"
#include "tracer/waits/sockets.h"
#include "tracer/waits/thread_status.h"
#include "tracer/waits/timers.h"
#include "tracer/waits/wait_calls.h"

namespace uscope::tracer {
namespace {

constexpr std::size_t kAnswerBytes = std::size_t{32} << 10;
constexpr std::size_t kMostResources = 200'000;
constexpr std::size_t kMostName = 4096;

class WaitLook {
 public:
  explicit WaitLook(ScoutDesk& desk) : desk_(desk), began_ns_(monotonic_ns()) {
    ScoutReader request(desk.request().bytes);
    number_ = request.get<std::uint32_t>();
    const auto take = [](std::span<const std::byte> bytes, auto& items) {
      items.resize(bytes.size() / sizeof(items[0]));
      if (!items.empty()) std::memcpy(static_cast<void*>(items.data()), bytes.data(), items.size() * sizeof(items[0]));
    };
    take(request.get_bytes(), threads_);
    std::vector<std::uint32_t> silent;
    take(request.get_bytes(), silent);
    silent_.insert(silent.begin(), silent.end());
    for (const AskedThread& thread : threads_) processes_.emplace(thread.pid, thread.process);
  }

  void take();

 private:
  struct Found {
    AskedThread asked;
    std::optional<ThreadStatus> before;
    usc_thread_look record{};
    CallWaits waits;
  };

  template <typename Record>
  void answer(Record& record, std::string_view text = {}, std::uint32_t task = 0) {
    record.look = number_;
    record.head.task = task;
    record.head.time = began_ns_;
    trace::RecordBuilder<Record> built(record);
    built.add(std::span(text.data(), text.size()));
    const std::vector<char> bytes = built.take();
    const auto raw = std::as_bytes(std::span(bytes));
    answer_.insert(answer_.end(), raw.begin(), raw.end());
    if (answer_.size() >= kAnswerBytes) send();
  }
  void send() {
    if (!answer_.empty()) desk_.answer(answer_);
    answer_.clear();
  }
  void trouble(std::uint32_t pid, const std::string& text) {
    usc_look_trouble record{};
    const auto known = processes_.find(pid);
    record.process = known == processes_.end() ? 0 : known->second;
    record.text_bytes = static_cast<__u32>(text.size());
    answer(record, text);
  }
  // What lies in a socket's queue may be the other end of anything, and whoever reads it gets it.
  void in_flight(std::uint32_t pid, int fd) {
    trouble(0, fmt::format("descriptors that are in flight to descriptor {} of process {}", fd, pid));
  }
  void look_at(Found& found);
  void look_at_monitors();
  [[nodiscard]] std::uint64_t without_timer(std::uint32_t pid, std::uint64_t caught);
  void write_thread(Found& found);
  void write_thing(const Found& found, const WaitedThing& thing, const Descriptors* own);
  void write_other_children(const Found& found, const usc_waited& any);
  void mark_queues(const std::vector<Found>& all);
  std::optional<std::uint32_t> outer_pid(std::uint32_t of, std::uint32_t number);
  void read_descriptors();
  void describe_socket(Descriptor& descriptor, usc_resource& record);
  void write_resources(std::uint32_t pid, std::uint32_t process, Descriptors& all);
  // What processes that are not traced answered.
  struct Strangers {
    std::vector<std::uint32_t> unread;                     // whose descriptors could not be read
    std::vector<std::pair<std::uint32_t, int>> in_flight;  // sockets with descriptors in their queues
    std::vector<std::pair<std::uint32_t, Descriptors>> ends;
  };
  Strangers ask_strangers();
  void find_holders();
  void write_locks();
  void write_system_v(const Found& found);
  void write_opening(const Found& found);
  [[nodiscard]] bool is_queue(const Descriptor& descriptor) const {
    return descriptor.object && queues_.count(*descriptor.object) != 0;
  }

  ScoutDesk& desk_;
  std::uint64_t began_ns_;
  std::uint32_t number_ = 0;
  std::vector<AskedThread> threads_;
  std::unordered_set<std::uint32_t> silent_;
  std::map<std::uint32_t, std::uint32_t> processes_;  // pid: serial
  std::map<std::uint32_t, std::vector<std::uint32_t>> ns_pids_;
  std::map<std::uint32_t, Descriptors> descriptors_;
  std::vector<std::pair<std::uint32_t, Descriptors>> other_descriptors_;  // of threads that have some of their own
  std::optional<std::unordered_map<std::uint64_t, SocketFacts>> sockets_;
  std::vector<usc_held_lock> locks_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> locked_;
  std::set<std::pair<std::uint32_t, int>> waited_;  // pid and number of what traced threads wait for
  std::unordered_set<std::string> ends_;  // names of objects that traced processes hold, and of their other ends
  std::set<std::uint64_t> eventfds_;      // by eventfd-id
  std::set<std::pair<std::uint64_t, std::uint64_t>> queues_;  // POSIX message queues for which traced threads wait
  std::set<std::string> queue_names_;                         // theirs, without folders
  std::set<std::pair<int, int>> system_v_;                    // kinds and ids whose users are written
  std::map<std::uint32_t, std::uint64_t> without_timers_;     // by pid: signals that no timer can send
  std::optional<RealTimers> real_timers_;
  int openings_ = 0;
  bool waits_for_descriptors_ = false;
  std::size_t resources_ = 0;
  std::vector<std::byte> answer_;
};

void WaitLook::take() {
  std::vector<Found> all(threads_.size());
  for (std::size_t i = 0; i < all.size(); i++) {
    all[i].asked = threads_[i];
    desk_.goes_to(threads_[i].pid);
    all[i].before = status_of(threads_[i].pid, threads_[i].tid);
    if (all[i].before) ns_pids_[threads_[i].pid] = all[i].before->ns_pids;
  }
  for (Found& found : all) look_at(found);
  look_at_monitors();
  locks_ = read_locks();
  for (const usc_held_lock& lock : locks_) locked_.emplace(lock.dev, lock.ino);
  read_descriptors();
  mark_queues(all);
  for (Found& found : all) write_thread(found);
  for (auto& [pid, descriptors] : descriptors_) write_resources(pid, processes_[pid], descriptors);
  for (auto& [pid, descriptors] : other_descriptors_) write_resources(pid, processes_[pid], descriptors);
  if (waits_for_descriptors_) find_holders();
  write_locks();
  send();
}

void WaitLook::look_at(Found& found) {
  if (!found.before || silent_.count(found.asked.pid) != 0) return;
  desk_.goes_to(found.asked.pid);
  const std::string path = fmt::format("/proc/{}/task/{}/", found.asked.pid, found.asked.tid);
  usc_thread_look& record = found.record;
  const std::string wchan = first_line(path + "wchan");
  record.state = state_of(*found.before, wchan);
  record.timed = USC_TIMED_UNKNOWN;
  record.has_caught = found.before->caught ? 1 : 0;
  record.caught = found.before->caught.value_or(0);
  record.caught &= ~without_timer(found.asked.pid, record.caught);
  record.tracer_pid = found.before->tracer;
  if (record.tracer_pid != 0) name_of(record.tracer_pid).copy(record.tracer, sizeof(record.tracer) - 1);
  if (record.state == USC_THREAD_STOPPED) record.stop_signal = stop_signal_of(found.asked.pid);
  const auto read = [tid = found.asked.tid](std::uint64_t from, void* to, std::size_t bytes) {
    const iovec local = {to, bytes};
    const iovec remote = {reinterpret_cast<void*>(from), bytes};  // NOLINT(performance-no-int-to-ptr)
    return process_vm_readv(static_cast<pid_t>(tid), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
  };
  const auto call = parse_call(first_line(path + "syscall"), wchan, read);
  if (!call) return;
  record.in_call = 1;
  record.nr = call->nr;
  record.abi = call->abi;
  std::memcpy(static_cast<void*>(record.args), static_cast<const void*>(call->args), sizeof(call->args));
  found.waits = waits_of(*call, read);
  record.timed = found.waits.timed;
  if (found.waits.unreadable)
    trouble(found.asked.pid, fmt::format("the memory that says what thread {} waits for", found.asked.tid));
  if (found.waits.epoll_fd >= 0 || !found.waits.things.empty()) waits_for_descriptors_ = true;
  for (const WaitedThing& thing : found.waits.things)
    if (thing.what == USC_WAITED_DESCRIPTOR) waited_.emplace(found.asked.pid, thing.fd);
}

// Handlers of timers' signals matter only if there is a timer. One of timer_create(2) may send any signal.
std::uint64_t WaitLook::without_timer(std::uint32_t pid, std::uint64_t caught) {
  const auto [known, is_new] = without_timers_.emplace(pid, 0);
  if (!is_new) return known->second;
  std::ifstream timers(folder_of(pid) + "/timers");
  if (!timers) return 0;
  if (has_signal_timer(timers)) {
    trouble(pid, fmt::format("when the timers of process {} send their signals", pid));
    return 0;
  }
  if ((caught & signals_without_timer(RealTimers::kNone, true)) == 0) return 0;
  if (!real_timers_) real_timers_ = real_timers();
  const auto threads =
      std::count_if(threads_.begin(), threads_.end(), [pid](const AskedThread& it) { return it.pid == pid; });
  known->second = signals_without_timer(*real_timers_, threads == 1);
  return known->second;
}

void WaitLook::look_at_monitors() {
  std::map<std::uint32_t, std::uint32_t> tasks;  // by tid
  for (const AskedThread& thread : threads_) tasks.emplace(thread.tid, thread.task);
  for (const auto& [pid, process] : processes_) {
    if (silent_.count(pid) != 0) continue;
    desk_.goes_to(pid);
    const auto monitors = java_monitors_of(pid);
    if (!monitors) continue;
    for (const MonitorWait& wait : monitors->waits) {
      const auto task = tasks.find(wait.tid);
      if (task == tasks.end()) continue;
      MonitorRecord record = record_of(wait);
      answer(record.fixed, record.text, task->second);
    }
    for (const std::string& text : monitors->troubles) trouble(pid, text);
  }
}

// The pid in uscope's namespace of what process `of` numbers so.
std::optional<std::uint32_t> WaitLook::outer_pid(std::uint32_t of, std::uint32_t number) {
  const std::vector<std::uint32_t>& own = ns_pids_[of];
  if (own.size() <= 1) return number;
  std::optional<std::uint32_t> outer;
  for (const auto& [pid, numbers] : ns_pids_) {
    if (numbers.size() < own.size() || numbers[own.size() - 1] != number) continue;
    if (outer) return std::nullopt;
    outer = pid;
  }
  return outer;
}

void WaitLook::write_thing(const Found& found, const WaitedThing& thing, const Descriptors* own) {
  usc_waited record{};
  record.via_fd = USC_WAITED_NO_FD;
  record.fd = thing.fd;
  record.what = static_cast<__u8>(thing.what);
  record.wants = static_cast<__u8>(thing.wants);
  const std::uint32_t pid = found.asked.pid;
  if (thing.what == USC_WAITED_CHILD) {
    for (const auto& [number, to] : {std::pair(thing.pid, &record.pid), std::pair(thing.pgid, &record.pgid)}) {
      if (number == 0) continue;
      const auto outer = outer_pid(pid, number);
      if (!outer) return trouble(pid, fmt::format("which process is {} in the pid namespace of {}", number, pid));
      *to = *outer;
    }
    if (found.waits.own_group) record.pgid = found.before->group;
  } else if (thing.what == USC_WAITED_VFORK) {
    // The youngest child stands last.
    std::istringstream children(first_line(fmt::format("/proc/{}/task/{}/children", pid, found.asked.tid)));
    for (std::uint32_t child = 0; children >> child;) record.pid = child;
    if (record.pid == 0) return trouble(pid, fmt::format("the child that {} waits for after vfork", pid));
  } else if (thing.what == USC_WAITED_PIDFD) {
    const auto at = own == nullptr ? Descriptors::const_iterator() : own->find(thing.fd);
    if (own == nullptr || at == own->end()) return trouble(pid, fmt::format("the pidfd {} of {}", thing.fd, pid));
    record.pid = static_cast<__u32>(at->second.peer);
  }
  if (thing.what == USC_WAITED_DESCRIPTOR) record.pid = static_cast<__u32>(found.waits.bytes.value_or(0));
  answer(record, {}, found.asked.task);
  if (thing.what == USC_WAITED_CHILD && record.pid == 0) write_other_children(found, record);
}

// A wait for any child can be ended by children that are not traced, too: each of them has a record.
void WaitLook::write_other_children(const Found& found, const usc_waited& any) {
  for (const AskedThread& thread : threads_) {
    if (thread.pid != found.asked.pid) continue;
    std::istringstream children(first_line(fmt::format("/proc/{}/task/{}/children", thread.pid, thread.tid)));
    for (std::uint32_t child = 0; children >> child;) {
      if (processes_.count(child) != 0) continue;
      const auto status = any.pgid == 0 ? std::nullopt : status_of(child, child);
      if (any.pgid != 0 && (!status || status->group != any.pgid)) continue;
      usc_waited record = any;
      record.pid = child;
      record.pgid = 0;
      answer(record, {}, found.asked.task);
    }
  }
}

std::string last_part(std::string name) {
  constexpr std::string_view kDeleted = " (deleted)";
  if (name.ends_with(kDeleted)) name.resize(name.size() - kDeleted.size());
  return name.substr(name.rfind('/') + 1);
}

// A POSIX message queue has the name of a file; the calls on it tell it apart. In folders where its file system is
// mounted it has longer names.
void WaitLook::mark_queues(const std::vector<Found>& all) {
  for (const Found& found : all) {
    const auto table = descriptors_.find(found.asked.pid);
    if (!found.waits.on_queue || table == descriptors_.end()) continue;
    const auto at = table->second.find(found.waits.things.front().fd);
    if (at == table->second.end() || !at->second.object) continue;
    queues_.insert(*at->second.object);
    queue_names_.insert(last_part(at->second.name));
    // Its name would tell that nobody can open it any more.
    if (at->second.has_links && at->second.name.ends_with(" (deleted)"))
      trouble(found.asked.pid, fmt::format("whether the message queue {} is deleted", at->second.name));
  }
  if (queues_.empty()) return;
  const auto mark = [this](auto& tables) {
    for (auto& [pid, table] : tables)
      for (auto& [fd, descriptor] : table)
        if (is_queue(descriptor)) descriptor.type = USC_RESOURCE_MQUEUE;
  };
  mark(descriptors_);
  mark(other_descriptors_);
}

// A FIFO has a number that no descriptor has, until it is open.
void WaitLook::write_opening(const Found& found) {
  const OpenedPath& opened = *found.waits.path;
  if (found.before->state != 'S') return;  // it waits for a disk, or runs
  const std::string folder = folder_of(found.asked.pid);
  const std::string from = opened.path.starts_with('/') ? folder + "/root"
                           : opened.folder < 0          ? folder + "/cwd"
                                                        : fmt::format("{}/fd/{}", folder, opened.folder);
  const auto fifo = find_fifo(from, opened.path);
  if (!fifo) return;
  usc_waited waited{};
  waited.via_fd = USC_WAITED_NO_FD;
  waited.fd = USC_RESOURCE_IN_FLIGHT - ++openings_;
  waited.wants = opened.reads ? opened.writes ? USC_WANTS_READ_OR_WRITE : USC_WANTS_READ : USC_WANTS_WRITE;
  answer(waited, {}, found.asked.task);
  usc_resource record{};
  record.process = found.asked.process;
  record.pid = found.asked.pid;
  record.fd = waited.fd;
  record.type = USC_RESOURCE_FIFO;
  record.at = USC_RESOURCE_AT_LOOK;
  record.access = static_cast<__u8>((opened.reads ? USC_ACCESS_READ : 0) | (opened.writes ? USC_ACCESS_WRITE : 0));
  record.flags = USC_RESOURCE_HAS_OBJECT;
  record.dev = fifo->object->first;
  record.ino = fifo->object->second;
  name_of(found.asked.pid).copy(record.comm, sizeof(record.comm) - 1);
  record.name_bytes = static_cast<__u16>(std::min<std::size_t>(fifo->name.size(), kMostName));
  answer(record, std::string_view(fifo->name).substr(0, record.name_bytes));
}

void WaitLook::write_thread(Found& found) {
  const AskedThread& asked = found.asked;
  desk_.goes_to(asked.pid);
  usc_thread_look& record = found.record;
  if (!found.before) record.state = USC_THREAD_ENDED;
  const auto after = found.before ? status_of(asked.pid, asked.tid) : std::nullopt;
  const bool is_at_rest = found.before && (found.before->state == 'S' || found.before->state == 'T' ||
                                           found.before->state == 't' || found.before->state == 'D');
  record.asleep = is_at_rest && after && *after == *found.before ? 1 : 0;
  if (silent_.count(asked.pid) != 0) trouble(asked.pid, fmt::format("process {} did not answer", asked.pid));
  const auto own = descriptors_.find(asked.pid);
  const Descriptors* const table = own == descriptors_.end() ? nullptr : &own->second;
  const auto type_of = [table](int fd) {
    const auto at = table == nullptr ? Descriptors::const_iterator() : table->find(fd);
    return table == nullptr || at == table->end() ? std::uint8_t{USC_RESOURCE_OTHER} : at->second.type;
  };
  // Nothing tells whether a socket's calls have a time limit (SO_RCVTIMEO, SO_SNDTIMEO).
  const bool is_set = record.nr == 7 || record.nr == 271 || record.nr == 23 || record.nr == 270;  // poll, select
  if (record.timed == USC_TIMED_NEVER && !is_set)
    for (const WaitedThing& thing : found.waits.things) {
      const bool by_number = thing.what == USC_WAITED_DESCRIPTOR && thing.wants != USC_WANTS_LOCK;
      const std::uint8_t type = by_number ? type_of(thing.fd) : std::uint8_t{USC_RESOURCE_OTHER};
      if (type == USC_RESOURCE_UNIX || type == USC_RESOURCE_INET) record.timed = USC_TIMED_UNKNOWN;
    }
  answer(record, {}, asked.task);
  for (const WaitedThing& thing : found.waits.things) write_thing(found, thing, table);
  if (found.waits.semaphores >= 0 || found.waits.messages >= 0) write_system_v(found);
  if (found.waits.path) write_opening(found);
  if (found.waits.epoll_fd < 0) return;
  const auto epoll = table == nullptr ? Descriptors::const_iterator() : table->find(found.waits.epoll_fd);
  if (table == nullptr || epoll == table->end())
    return trouble(asked.pid, fmt::format("the set of epoll descriptor {}", found.waits.epoll_fd));
  for (const auto& [fd, events] : epoll->second.set) {
    constexpr unsigned kIn = 0x1 | 0x2 | 0x40 | 0x80 | 0x2000;
    constexpr unsigned kOut = 0x4 | 0x100 | 0x200;
    usc_waited waited{};
    waited.fd = fd;
    waited.via_fd = found.waits.epoll_fd;
    const bool in = (events & kIn) != 0;
    const bool out = (events & kOut) != 0;
    waited.wants = static_cast<__u8>(in && out ? USC_WANTS_READ_OR_WRITE
                                     : in      ? USC_WANTS_READ
                                     : out     ? USC_WANTS_WRITE
                                               : USC_WANTS_OTHER);
    answer(waited, {}, asked.task);
  }
}

void WaitLook::read_descriptors() {
  bool has_sockets = false;
  for (const auto& [pid, process] : processes_) {
    if (silent_.count(pid) != 0) continue;
    desk_.goes_to(pid);
    auto found = descriptors_of(folder_of(pid), [](const Descriptor&) { return true; });
    if (!found) {
      if (access(fmt::format("/proc/{}", pid).c_str(), F_OK) == 0)
        trouble(pid, fmt::format("the descriptors of process {}", pid));
      continue;
    }
    for (const auto& [fd, descriptor] : *found) has_sockets |= descriptor.type == USC_RESOURCE_INET;
    descriptors_.emplace(pid, std::move(*found));
    // Which table a number is of is not told apart.
    for (const std::string& folder : other_tables(pid)) {
      trouble(pid, fmt::format("a thread of process {} that has descriptors of its own", pid));
      if (auto others = descriptors_of(folder, [](const Descriptor&) { return true; }))
        other_descriptors_.emplace_back(pid, std::move(*others));
    }
  }
  if (!has_sockets) return;
  sockets_ = list_sockets();
  if (!sockets_) trouble(0, "the kernel's list of sockets");
  const std::string own = link_target("/proc/self/ns/net");
  for (auto& [pid, all] : descriptors_) {
    bool any = false;
    for (auto& [fd, descriptor] : all) {
      if (descriptor.type != USC_RESOURCE_INET) continue;
      any = true;
      const auto facts = sockets_ ? sockets_->find(number_in(descriptor.name)) : decltype(sockets_->end()){};
      if (sockets_ && facts != sockets_->end() && facts->second.is_unix) descriptor.type = USC_RESOURCE_UNIX;
      if (descriptor.sends_descriptors) in_flight(pid, fd);
    }
    if (any && link_target(fmt::format("/proc/{}/ns/net", pid)) != own)
      trouble(pid, fmt::format("the sockets of process {}, which has a network namespace of its own", pid));
  }
}

void WaitLook::describe_socket(Descriptor& descriptor, usc_resource& record) {
  if (!sockets_) return;
  const std::uint64_t inode = number_in(descriptor.name);
  const auto facts = sockets_->find(inode);
  if (facts == sockets_->end()) return;
  const SocketFacts& socket = facts->second;
  record.type = socket.is_unix ? USC_RESOURCE_UNIX : USC_RESOURCE_INET;
  record.flags |= USC_RESOURCE_LISTENING_KNOWN;
  if (socket.listens) record.flags |= USC_RESOURCE_LISTENS;
  if (socket.peer != 0) {
    record.flags |= USC_RESOURCE_HAS_PEER;
    record.peer = socket.peer;
  }
  descriptor.queued = socket.queued;
  if (!socket.address.empty()) descriptor.name = fmt::format("socket:[{} unix:{}]", inode, socket.address);
}

void WaitLook::write_resources(std::uint32_t pid, std::uint32_t process, Descriptors& all) {
  const std::string comm = name_of(pid);
  for (auto& [fd, descriptor] : all) {
    const bool is_file = descriptor.type == USC_RESOURCE_FILE;
    const bool matters = process != 0 && waited_.count({pid, fd}) != 0;
    if (is_file && !matters && (!descriptor.object || locked_.count(*descriptor.object) == 0)) continue;
    if (++resources_ > kMostResources) {
      if (resources_ == kMostResources + 1) trouble(0, "all descriptors: there are too many");
      return;
    }
    usc_resource record{};
    record.process = process;
    record.pid = pid;
    record.fd = fd;
    record.type = descriptor.type;
    record.at = USC_RESOURCE_AT_LOOK;
    const unsigned access = descriptor.flags & O_ACCMODE;
    record.access = access == O_RDONLY   ? USC_ACCESS_READ
                    : access == O_WRONLY ? USC_ACCESS_WRITE
                                         : USC_ACCESS_READ | USC_ACCESS_WRITE;
    if ((descriptor.flags & O_NONBLOCK) != 0) record.flags |= USC_RESOURCE_NONBLOCKING;
    const std::string name = descriptor.name;
    if (name.starts_with("socket:[")) describe_socket(descriptor, record);
    if (descriptor.object) {
      record.flags |= USC_RESOURCE_HAS_OBJECT;
      record.dev = descriptor.object->first;
      record.ino = descriptor.object->second;
    }
    if (descriptor.queued) {
      record.flags |= USC_RESOURCE_HAS_QUEUED;
      record.queued = *descriptor.queued;
    }
    if (record.type == USC_RESOURCE_PIDFD && descriptor.peer != 0) {
      record.flags |= USC_RESOURCE_HAS_PEER;
      record.peer = descriptor.peer;
    }
    comm.copy(record.comm, sizeof(record.comm) - 1);
    record.name_bytes = static_cast<__u16>(std::min<std::size_t>(descriptor.name.size(), kMostName));
    answer(record, std::string_view(descriptor.name).substr(0, record.name_bytes));
    if (process == 0) continue;
    if (record.type == USC_RESOURCE_EVENTFD && descriptor.object) eventfds_.insert(descriptor.object->second);
    if (record.type == USC_RESOURCE_PIPE || record.type == USC_RESOURCE_FIFO || is_file || name.starts_with("socket:["))
      ends_.insert(name);
    if (name.starts_with("socket:[") && record.peer != 0) ends_.insert(fmt::format("socket:[{}]", record.peer));
  }
}

// Asks each process of the machine for the ends that traced threads wait for. Of its sockets it is also asked whether
// descriptors lie in their queues: nothing tells which.
WaitLook::Strangers WaitLook::ask_strangers() {
  const auto is_end = [this](const Descriptor& one) {
    if (one.type == USC_RESOURCE_EVENTFD) return one.object && eventfds_.count(one.object->second) != 0;
    return ends_.count(one.name) != 0 || is_queue(one);
  };
  const auto takes = [this](const Descriptor& one) {
    return ends_.count(one.name) != 0 || one.name.starts_with("socket:[") ||
           (one.type == USC_RESOURCE_EVENTFD && !eventfds_.empty()) ||
           (!queue_names_.empty() && queue_names_.count(last_part(one.name)) != 0);
  };
  Strangers strangers;
  for (const std::uint32_t pid : running_processes()) {
    if (processes_.count(pid) != 0 || silent_.count(pid) != 0 || is_own_process(pid)) continue;
    desk_.goes_to(pid);
    std::vector<std::string> folders = other_tables(pid);
    folders.insert(folders.begin(), folder_of(pid));
    for (const std::string& folder : folders) {
      auto found = descriptors_of(folder, takes);
      if (!found) {
        if (access(folder.c_str(), F_OK) == 0) strangers.unread.push_back(pid);
        continue;
      }
      for (const auto& [fd, descriptor] : *found)
        if (descriptor.sends_descriptors) strangers.in_flight.emplace_back(pid, fd);
      std::erase_if(*found, [&](const auto& entry) { return !is_end(entry.second); });
      for (auto& [fd, descriptor] : *found)
        if (is_queue(descriptor)) descriptor.type = USC_RESOURCE_MQUEUE;
      strangers.ends.emplace_back(pid, std::move(*found));
    }
  }
  return strangers;
}

void WaitLook::find_holders() {
  Strangers strangers = ask_strangers();
  // Who is about to receive descriptors has them a moment later. Everybody is asked again: nothing tells who receives
  // them.
  for (int again = 0; again < 3 && !strangers.in_flight.empty(); again++) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5 << again));
    strangers = ask_strangers();
  }
  for (const std::uint32_t pid : strangers.unread)
    trouble(0, fmt::format("the descriptors of process {}, which is not traced", pid));
  for (const auto& [pid, fd] : strangers.in_flight) in_flight(pid, fd);
  for (auto& [pid, ends] : strangers.ends) write_resources(pid, 0, ends);
}

void WaitLook::write_locks() {
  std::set<std::uint32_t> matters;  // locks of files that traced processes hold, or of these processes
  std::set<std::pair<std::uint64_t, std::uint64_t>> held;
  for (const auto& [pid, all] : descriptors_)
    for (const auto& [fd, descriptor] : all)
      if (descriptor.object) held.insert(*descriptor.object);
  for (const usc_held_lock& lock : locks_)
    if (held.count({lock.dev, lock.ino}) != 0 || processes_.count(static_cast<std::uint32_t>(lock.pid)) != 0)
      matters.insert(lock.id);
  for (usc_held_lock lock : locks_) {
    if (matters.count(lock.id) == 0) continue;
    const auto known = processes_.find(static_cast<std::uint32_t>(lock.pid));
    if (lock.pid > 0 && known != processes_.end()) lock.process = known->second;
    answer(lock);
  }
}

// Ids are those of an IPC namespace.
void WaitLook::write_system_v(const Found& found) {
  const bool is_set = found.waits.semaphores >= 0;
  const int id = is_set ? found.waits.semaphores : found.waits.messages;
  const std::string what = fmt::format("{} {}", is_set ? "the System V semaphores" : "the System V message queue", id);
  const std::uint32_t pid = found.asked.pid;
  if (link_target(folder_of(pid) + "/ns/ipc") != link_target("/proc/self/ns/ipc"))
    return trouble(pid, fmt::format("{} of process {}, which has an IPC namespace of its own", what, pid));
  auto users = is_set ? semaphore_users(id, pid, found.waits.changes) : message_users(id);
  if (!users) return trouble(pid, what);
  const bool is_new = system_v_.emplace(is_set ? USC_LOCK_SEM : USC_LOCK_MSG, id).second;
  for (usc_held_lock& user : *users) {
    if (!is_new && (user.flags & USC_LOCK_WAITS) == 0) continue;
    const auto known = processes_.find(static_cast<std::uint32_t>(user.pid));
    if (known != processes_.end()) user.process = known->second;
    answer(user);
  }
}

}  // namespace

void look_at_waits(ScoutDesk& desk) {
  WaitLook(desk).take();
}

}  // namespace uscope::tracer
