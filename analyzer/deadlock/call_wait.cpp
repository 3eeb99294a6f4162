// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Each call has a list of things that end it (the descriptors of a poll's set, the children of a wait4), and any one of
// them is enough. So one thing that is unknown, or outside, decides; only if all are known, their holders count.
#include "analyzer/deadlock/call_wait.h"

#include <fmt/core.h>

#include <algorithm>
#include <csignal>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "analyzer/deadlock/call_text.h"
#include "syscalls/errno_names.h"

namespace uscope::analyzer {
namespace {

using State = CallWait::State;

constexpr std::int64_t kInFlight = -1;  // Resource::fd of what lies in a socket's queue

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

class Follower {
 public:
  Follower(const LastCalls& calls, const Look& look) : calls_(calls), look_(look) {
    for (std::size_t i = 0; i < calls.processes.size(); i++) {
      places_.emplace(calls.processes[i].id, i);
      pids_.insert(calls.processes[i].pid);
    }
    std::int64_t looked_ns = std::numeric_limits<std::int64_t>::max();
    for (const auto& [id, thread] : look.threads) looked_ns = std::min(looked_ns, thread.ts_ns);
    for (const LastCall& thread : calls.threads) {
      const LastProcess& process = calls.processes[thread.process];
      if (process.ended && process.until_ns < looked_ns) continue;
      alive_.insert(thread.process);
      const auto seen = look.threads.find(thread.thread_id);
      // Of one that waits for a time again and again, what it was found in then tells as much.
      const auto past = look.past.find(thread.thread_id);
      const bool rested = past != look.past.end() && past->second.timed.value_or(false);
      threads_[thread.process].push_back(seen != look.threads.end() ? &seen->second : rested ? &past->second : nullptr);
      if (seen != look.threads.end() && seen->second.caught) caught_[thread.process] = *seen->second.caught;
    }
    for (const std::size_t i : alive_) {
      by_pid_[calls.processes[i].pid] = i;
      children_[calls.processes[i].parent_id].push_back(i);
    }
    for (const Resource& held : look.resources) {
      if (held.process_id) by_fd_.emplace(std::pair(held.process_id, held.fd), &held);
      if (held.fd < kInFlight) continue;  // not open yet
      if (held.ino != 0) by_object_[{held.type, held.dev, held.ino}].push_back(&held);
      if (held.ino != 0 && (held.type == "unix" || held.type == "inet")) sockets_[held.ino].push_back(&held);
    }
  }

  CallWait follow(const LastCall& thread);

 private:
  using Holders = std::vector<const Resource*>;

  void outside(std::string why) {
    // It says more than a handler, or than a name that somebody may know.
    if (out_.by_handler || !out_.by_name.empty()) out_.state = State::kFollowed;
    out_.by_handler = false;
    out_.by_name.clear();
    settle(State::kOutside, std::move(why));
  }
  void handler(std::string why) {
    if (!out_.by_name.empty()) return outside(std::move(why));
    if (out_.state == State::kOutside) return;
    settle(State::kOutside, std::move(why));
    out_.by_handler = true;
  }
  // Whoever knows the name of a thing could end the wait, but nobody is seen who is about to.
  void whoever(const std::string& name, std::string why) {
    if (out_.state == State::kOutside && out_.by_name == name) return;
    if (out_.state == State::kOutside) return outside(std::move(why));
    settle(State::kOutside, std::move(why));
    out_.by_name = name;
  }
  void unknown(std::string why) { settle(State::kUnknown, std::move(why)); }
  // What is known to come from outside says more than what is not known.
  void settle(State state, std::string why) {
    if (out_.state == State::kOutside || (out_.state == State::kUnknown && state == State::kUnknown)) return;
    out_.state = state;
    out_.why = std::move(why);
  }
  void hold(std::size_t process, WaitEnd end);
  void hold(const Resource& held, const std::string& part);
  void hold_process(std::int64_t pid);
  void descriptor(const LookedDescriptor& waited);
  void ends(const Resource& own, const Holders& others, const char* part);
  [[nodiscard]] bool is_job_server(const Resource& pipe) const;
  void pipe(const LookedDescriptor& waited, const Resource& own);
  void leave_out_idle(Holders& readers);
  [[nodiscard]] bool reads_nothing_of(std::size_t process, const Resource& pipe) const;
  void socket(const LookedDescriptor& waited, const Resource& own);
  void eventfd(const Resource& own);
  void lock(const Resource& own);
  void lock_holder(const HeldLock& held, const Resource& own);
  void message_queue(const LookedDescriptor& waited, const Resource& own);
  void system_v(const std::string& lock_class);
  void limit();
  void timers();
  void troubles();
  [[nodiscard]] bool has_all_calls() const;
  [[nodiscard]] bool may_handle_signals(std::size_t process) const;
  void process(const LookedProcess& waited);
  void any_child();
  [[nodiscard]] const Resource* own(std::int64_t fd) const {
    const auto found = by_fd_.find({calls_.processes[thread_->process].id, fd});
    return found == by_fd_.end() ? nullptr : found->second;
  }
  [[nodiscard]] Holders of_object(const Resource& own) const {
    const auto found = by_object_.find({own.type, own.dev, own.ino});
    return own.ino == 0 || found == by_object_.end() ? Holders{} : found->second;
  }
  [[nodiscard]] std::string user_text(const HeldLock& user) const;

  const LastCalls& calls_;
  const Look& look_;
  std::map<ProcessRowId, std::size_t> places_;
  std::set<std::size_t> alive_;                                      // processes with threads, at the look
  std::map<std::size_t, std::vector<const LookedThread*>> threads_;  // by process; null: not looked at
  std::map<std::size_t, std::uint64_t> caught_;  // signals with handlers, where the look has told them
  std::map<std::int64_t, std::size_t> by_pid_;
  std::set<std::int64_t> pids_;  // of all processes of the trace
  std::map<ProcessRowId, std::vector<std::size_t>> children_;
  std::map<std::pair<ProcessRowId, std::int64_t>, const Resource*> by_fd_;
  std::map<std::tuple<std::string, std::int64_t, std::int64_t>, Holders> by_object_;
  std::map<std::int64_t, Holders> sockets_;
  const LastCall* thread_ = nullptr;
  const LookedThread* looked_ = nullptr;
  CallWait out_;
};

void Follower::hold(std::size_t process, WaitEnd end) {
  if (alive_.count(process) == 0) return unknown("a process that has ended");
  if (calls_.processes[process].io_uring)
    return outside(fmt::format("io_uring of process {}", calls_.processes[process].pid));
  end.process = process;
  out_.holders.push_back(process);
  if (out_.ends.size() < CallWait::kMostEnds) out_.ends.push_back(std::move(end));
}

void Follower::hold(const Resource& held, const std::string& part) {
  if (held.fd < 0) return outside(fmt::format("whoever receives {} from a socket's queue", held.name));
  const auto place = places_.find(held.process_id);
  if (!held.process_id || place == places_.end()) {
    const char* const until = held.process == "uscope" ? " until it ends" : "";  // its own output
    return outside(fmt::format("process {}{}, which is not traced and has {} {} open{}", held.pid,
                               held.process.empty() ? "" : " `" + held.process + "`", part, held.name, until));
  }
  hold(place->second, {0, held.fd, held.name, part});
}

void Follower::hold_process(std::int64_t pid) {
  const auto found = by_pid_.find(pid);
  if (found == by_pid_.end()) return outside(fmt::format("the end of process {}, which is not traced", pid));
  hold(found->second, {});
}

constexpr std::uint64_t bits_of(std::initializer_list<int> signals) {
  std::uint64_t bits = 0;
  for (const int signal : signals) bits |= std::uint64_t{1} << (signal - 1);
  return bits;
}

// Signals of timers. Where one has a handler, it is there to end calls that take too long.
constexpr std::uint64_t kTimerSignals = bits_of({SIGALRM, SIGVTALRM, SIGPROF});
// Signals of faults, and glibc's own two.
constexpr std::uint64_t kInnerSignals = bits_of({SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV, SIGSYS, 32, 33});

// Whether a handler of a signal from outside may run: the look has seen one, or, where it could not, the trace has not
// seen all that the process has asked for, or has seen that it asked for one.
bool Follower::may_handle_signals(std::size_t process) const {
  if (const auto caught = caught_.find(process); caught != caught_.end())
    return (caught->second & ~kTimerSignals & ~kInnerSignals) != 0;
  for (const LastCall& thread : calls_.threads)
    if (thread.process == process && thread.wait && !thread.wait->handlers) return false;
  const bool all_known = !calls_.events_missing && !calls_.calls_left_out;
  for (std::size_t depth = 0; depth <= calls_.processes.size(); depth++) {
    const LastProcess& it = calls_.processes[process];
    if (!all_known || it.attached || look_.ask_for_handlers.count(it.id) != 0) return true;
    if (it.origin == Origin::kExec) return false;
    const auto parent = places_.find(it.parent_id);
    if (parent == places_.end()) return true;
    process = parent->second;
  }
  return true;
}

void Follower::timers() {
  const std::string why = "the signal of a timer";
  const ProcessRowId self = calls_.processes[thread_->process].id;
  const auto caught = caught_.find(thread_->process);
  if (look_.ask_for_timers.count(self) != 0) return outside(why);
  // Many programs have handlers only to clean up when somebody ends them.
  if (!calls_.events_missing && !calls_.calls_left_out && !calls_.processes[thread_->process].attached) return;
  // Which handlers there are now the look tells better than the calls do.
  if (caught == caught_.end() && look_.ask_for_alarms.count(self) != 0) return outside(why);
  if (caught != caught_.end() && (caught->second & kTimerSignals) != 0) handler(why);
}

bool is_make(const LastProcess& process) {
  return process.program == "make" || process.program == "gmake";
}

// GNU make has both ends of the pipe of its job server, and so has each job that takes tokens from it. Handlers of jobs
// put tokens back only when a signal ends them, and those of make leave the pipe alone.
bool Follower::is_job_server(const Resource& pipe) const {
  if (pipe.type != "pipe") return false;
  std::set<std::size_t> reading;
  std::set<std::size_t> writing;
  for (const Resource* other : of_object(pipe)) {
    const auto place = places_.find(other->process_id);
    if (!other->process_id || place == places_.end() || !is_make(calls_.processes[place->second])) continue;
    if (other->reads()) reading.insert(place->second);
    if (other->writes()) writing.insert(place->second);
  }
  std::size_t process = thread_->process;
  for (std::size_t depth = 0; depth <= calls_.processes.size(); depth++) {
    if (reading.count(process) != 0 && writing.count(process) != 0) return true;
    const auto parent = places_.find(calls_.processes[process].parent_id);
    if (parent == places_.end()) return false;
    process = parent->second;
  }
  return false;
}

// Who waits for an end that nobody is seen to have would not wait, so somebody unseen has it.
void Follower::ends(const Resource& own, const Holders& others, const char* part) {
  if (others.empty()) return outside(fmt::format("somebody unseen who has {} {} open", part, own.name));
  const ProcessRowId self = calls_.processes[thread_->process].id;
  const auto is_own = [&](const Resource* other) { return other->process_id == self; };
  const bool only_own = std::all_of(others.begin(), others.end(), is_own);
  const bool handles =
      std::any_of(others.begin(), others.end(), is_own) && !is_job_server(own) && may_handle_signals(thread_->process);
  for (const Resource* other : others) {
    // The handler of a signal writes to such a descriptor, so that the thread wakes up.
    const bool of_handler = handles && (other->nonblocking || asks_many(looked_->call) || only_own);
    if (is_own(other) && of_handler) handler(fmt::format("a signal handler that uses descriptor {}", other->fd));
    hold(*other, part);
  }
}

// Whether the trace has seen whatever its processes have asked of the kernel.
bool Follower::has_all_calls() const {
  return !calls_.events_missing && !calls_.calls_left_out && std::none_of(alive_.begin(), alive_.end(), [&](auto i) {
    return calls_.processes[i].attached || calls_.processes[i].io_uring;
  });
}

// The look does not tell whether a socket has a time limit; a trace that has all calls does.
void Follower::limit() {
  const Resource* waited = nullptr;
  for (const LookedDescriptor& descriptor : looked_->descriptors) {
    const Resource* held = own(descriptor.fd);
    if (held && (held->type == "unix" || held->type == "inet")) waited = held;
  }
  if (!waited || look_.limits_sockets) return outside("the time, if the call has a limit");
  if (!has_all_calls())
    unknown(
        fmt::format("whether {} has a time limit (SO_RCVTIMEO, SO_SNDTIMEO), which only a trace from the start "
                    "of the program tells",
                    waited->name));
}

// What could not be looked at may be what ends the wait.
void Follower::troubles() {
  for (const Look::Trouble& trouble : look_.troubles) {
    const auto place = places_.find(trouble.process_id);
    if (!trouble.process_id || place == places_.end()) {
      outside("what could not be looked at (" + trouble.what + ")");
    } else if (place->second == thread_->process ||
               std::find(out_.holders.begin(), out_.holders.end(), place->second) != out_.holders.end()) {
      unknown("what could not be looked at (" + trouble.what + ")");
    }
  }
}

void Follower::pipe(const LookedDescriptor& waited, const Resource& own) {
  const bool reads = waited.wants != "write";
  const bool writes = waited.wants == "write" || waited.wants == "read or write";
  Holders readers;
  Holders writers;
  for (const Resource* other : of_object(own)) {
    if (other->reads()) readers.push_back(other);
    if (other->writes()) writers.push_back(other);
  }
  if (reads && own.type == "fifo") {
    // Who opens it to write as well lets others come and go.
    const auto is_open = [&](const Resource* it) { return it->process_id == own.process_id || !it->process_id; };
    const std::string why = fmt::format("whoever opens {}", own.name);
    return std::any_of(writers.begin(), writers.end(), is_open) ? outside(why) : whoever(own.name, why);
  }
  if (own.type == "fifo") out_.weak = true;
  if (reads) ends(own, writers, "the write end of");
  if (writes) {
    leave_out_idle(readers);
    ends(own, readers, "the read end of");
  }
}

// Whether all threads of a process sleep, and in something else than to read this pipe.
bool Follower::reads_nothing_of(std::size_t process, const Resource& pipe) const {
  const auto threads = threads_.find(process);
  if (threads == threads_.end()) return false;
  const auto reads = [&](const LookedDescriptor& waited) {
    const auto held = by_fd_.find({calls_.processes[process].id, waited.fd});
    return waited.wants != "write" && held != by_fd_.end() && held->second->ino == pipe.ino &&
           held->second->type == pipe.type;
  };
  return std::all_of(threads->second.begin(), threads->second.end(), [&](const LookedThread* it) {
    const bool rests = it && (it->asleep || it->timed.value_or(false));
    return rests && it->state == "asleep" && !it->call.empty() &&
           std::none_of(it->descriptors.begin(), it->descriptors.end(), reads);
  });
}

// Servers keep both ends of the pipe that their logger reads. If somebody who has nothing but the read end is stopped,
// those who have both and read nothing will hardly begin to.
void Follower::leave_out_idle(Holders& readers) {
  const auto place_of = [this](const Resource& held) {
    const auto place = places_.find(held.process_id);
    return held.process_id && place != places_.end() ? std::optional(place->second) : std::nullopt;
  };
  const auto has_both = [&](const Resource& reader) {
    const Holders all = of_object(reader);
    return std::any_of(all.begin(), all.end(),
                       [&](const Resource* it) { return it->process_id == reader.process_id && it->writes(); });
  };
  const auto is_stopped = [&](const Resource* reader) {
    const auto process = place_of(*reader);
    if (!process || has_both(*reader)) return false;
    const auto threads = threads_.find(*process);
    return threads != threads_.end() && std::all_of(threads->second.begin(), threads->second.end(),
                                                    [](auto* it) { return it && it->state == "stopped"; });
  };
  if (std::none_of(readers.begin(), readers.end(), is_stopped)) return;
  std::erase_if(readers, [&](const Resource* reader) {
    const auto process = place_of(*reader);
    if (!process || !has_both(*reader) || !reads_nothing_of(*process, *reader)) return false;
    out_.idle.push_back({*process, reader->fd, reader->name, "the read end of"});
    return true;
  });
}

void Follower::socket(const LookedDescriptor& waited, const Resource& own) {
  if (own.listening || waited.wants == "accept") return outside("whoever connects to " + own.name);
  if (waited.wants == "connect") return outside("the listener that it connects to");
  if (!own.peer || *own.peer == 0)
    return outside("whoever sends to " + own.name + ", whose other end is elsewhere or not known");
  const auto found = sockets_.find(*own.peer);
  ends(own, found == sockets_.end() ? Holders{} : found->second, "the other end of");
}

// A driver signals an eventfd that a program has given to it (KVM, VFIO), and so do asynchronous input and output and
// control groups: then the program is often the only one to have it.
void Follower::eventfd(const Resource& own) {
  static const std::set<std::string, std::less<>> kMute{"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
                                                        "/dev/urandom"};
  const ProcessRowId self = calls_.processes[thread_->process].id;
  const Holders others = of_object(own);
  const bool only_own = std::all_of(others.begin(), others.end(), [&](auto* it) { return it->process_id == self; });
  const bool has_driver = std::any_of(look_.resources.begin(), look_.resources.end(), [&](const Resource& it) {
    return it.process_id == self && (it.type == "other" || (it.type == "device" && kMute.count(it.name) == 0));
  });
  if (only_own && (has_driver || look_.kernel_signals || !has_all_calls()))
    unknown(fmt::format("whether the kernel signals {}, which it does where a program has asked for it", own.name));
  ends(own, others, "a descriptor of");
}

void Follower::lock_holder(const HeldLock& held, const Resource& own) {
  const std::string part = "a lock on";
  const bool of_process = held.lock_class == "posix";
  const auto place = places_.find(held.process_id);
  const bool traced = held.process_id && place != places_.end();
  if (traced && !held.gone) {
    std::int64_t fd = -1;
    for (const Resource* other : of_object(own))
      if (other->process_id == held.process_id && fd < 0) fd = other->fd;
    hold(place->second, {0, fd, own.name, part});
  } else if (of_process || (!held.gone && held.pid.value_or(-1) > 0)) {
    return outside(fmt::format("process {}, which is not traced and has a lock on {}", held.pid.value_or(0), own.name));
  }
  if (of_process) return;
  // Every process that has the open file can release such a lock; which of them share it is not known.
  bool some = traced && !held.gone;
  for (const Resource* other : of_object(own)) {
    if (other->process_id && other->process_id == calls_.processes[thread_->process].id) continue;
    if (other->process_id && other->process_id == held.process_id) continue;
    some = true;
    hold(*other, "a descriptor of");
  }
  if (!some) unknown("whoever has a lock on " + own.name);
}

void Follower::lock(const Resource& own) {
  const std::int64_t pid = calls_.processes[thread_->process].pid;
  const bool whole = looked_->call == "flock";
  const auto fits = [&](const HeldLock& held) {
    const bool fitting = whole ? held.lock_class == "flock" : held.lock_class == "posix" || held.lock_class == "ofd";
    return fitting && held.dev == own.dev && held.ino == own.ino;
  };
  std::set<std::int64_t> ids;
  for (const HeldLock& held : look_.locks)
    if (held.waiting && fits(held) && (held.pid == pid || held.lock_class == "ofd")) ids.insert(held.id);
  bool some = false;
  for (const HeldLock& held : look_.locks) {
    if (held.waiting || !fits(held) || ids.count(held.id) == 0) continue;
    some = true;
    lock_holder(held, own);
  }
  if (!some) unknown("whoever has a lock on " + own.name);
}

void Follower::descriptor(const LookedDescriptor& waited) {
  const Resource* found = own(waited.fd);
  if (!found) return unknown(fmt::format("what ends its wait for descriptor {}, of which nothing is known", waited.fd));
  if (waited.is_opening())
    return whoever(found->name,
                   fmt::format("whoever opens {} to {} it", found->name, waited.wants == "read" ? "write" : "read"));
  if (waited.wants == "lock") return lock(*found);
  if (waited.wants != "write" && found->queued.value_or(0) > 0 && !found->listening)
    return outside("what lies in " + found->name);
  if (waited.wants == "other" && found->type != "pidfd") return unknown("what ends its wait for " + found->name);
  if (found->type == "pipe" || found->type == "fifo") return pipe(waited, *found);
  if (found->type == "unix" || found->type == "inet") return socket(waited, *found);
  if (found->type == "eventfd") return eventfd(*found);
  if (found->type == "mqueue") return message_queue(waited, *found);
  if (found->type == "pidfd") return hold_process(found->peer.value_or(0));
  static const std::map<std::string, const char*, std::less<>> kOthers{{"tty", "input or output of the terminal "},
                                                                       {"timerfd", "a timer, "},
                                                                       {"signalfd", "a signal, "},
                                                                       {"inotify", "a change of files, "},
                                                                       {"device", "the device "}};
  const auto known = kOthers.find(found->type);
  if (known != kOthers.end()) return outside(known->second + found->name);
  unknown("what ends its wait for " + found->name);
}

// "number 0, last changed by process 12, which has ended"
std::string Follower::user_text(const HeldLock& user) const {
  const std::int64_t pid = user.pid.value_or(0);
  const bool is_set = user.lock_class == "sem";
  const std::string what = is_set         ? fmt::format("number {}, last changed", user.id)
                           : user.id == 0 ? "last sent to"
                                          : "last received from";
  if (pid <= 0) return is_set ? what + " by nobody" : "never " + what.substr(sizeof("last"));
  const auto traced = by_pid_.find(pid);
  const std::string program = traced == by_pid_.end() ? "" : calls_.processes[traced->second].program;
  return fmt::format("{} by process {}{}{}", what, pid, program.empty() ? "" : " `" + program + "`",
                     user.gone ? ", which has ended" : "");
}

// Any process that knows its number can change a System V object. What has no key is known to those only to whom its
// maker tells the number: if the trace has seen it made, and nobody else use it, only threads of the trace can end the
// wait. Whether one of them should is not known: a stall at most.
void Follower::system_v(const std::string& lock_class) {
  const auto number = static_cast<std::int32_t>(looked_->args[0]);
  const std::int64_t pid = calls_.processes[thread_->process].pid;
  const bool is_set = lock_class == "sem";
  std::set<std::int64_t> awaited;
  for (const HeldLock& held : look_.locks)
    if (held.lock_class == lock_class && held.ino == number && held.waiting && held.pid == pid) awaited.insert(held.id);
  bool is_private = look_.made_private.count({lock_class, number}) != 0;
  bool is_gone = false;
  std::string users;
  for (const HeldLock& held : look_.locks) {
    if (held.lock_class != lock_class || held.ino != number || held.waiting) continue;
    if (held.dev != 0 || (held.pid.value_or(0) > 0 && pids_.count(*held.pid) == 0)) is_private = false;
    // Who waits to send waits for a receiver.
    const bool matters = is_set ? awaited.count(held.id) != 0 : looked_->call == "msgsnd" && held.id == 1;
    is_gone = is_gone || (matters && held.gone);
    if (!is_set || awaited.count(held.id) != 0) users += (users.empty() ? "" : "; ") + user_text(held);
  }
  const std::string name = fmt::format("the System V {} {}", is_set ? "semaphores" : "message queue", number);
  if (users.empty()) return unknown("who uses " + name);
  if (!is_private || !has_all_calls()) {
    out_.user_gone = is_gone;
    return whoever(name, fmt::format("any process that {} {} ({})", is_set ? "changes" : "uses", name, users));
  }
  for (const std::size_t i : alive_)
    if (may_handle_signals(i)) handler("a signal handler that uses " + name);
  out_.anyone = true;
}

// A queue that has a name can be opened by anybody.
void Follower::message_queue(const LookedDescriptor& waited, const Resource& own) {
  if (!own.name.ends_with(" (deleted)")) return outside("whoever opens the message queue " + own.name);
  Holders senders;
  Holders receivers;
  for (const Resource* other : of_object(own)) {
    if (other->writes()) senders.push_back(other);
    if (other->reads()) receivers.push_back(other);
  }
  if (waited.wants != "write") ends(own, senders, "a descriptor to send to");
  if (waited.wants == "write") ends(own, receivers, "a descriptor to receive from");
}

// A process whose parent has ended may have become a child of this one.
void Follower::any_child() {
  const ProcessRowId self = calls_.processes[thread_->process].id;
  const auto its = children_.find(self);
  if (its == children_.end()) return unknown("the end of a child that is not known");
  for (const std::size_t child : its->second) hold(child, {});
  for (const std::size_t i : alive_) {
    const auto parent = places_.find(calls_.processes[i].parent_id);
    if (i != thread_->process && parent != places_.end() && alive_.count(parent->second) == 0) hold(i, {});
  }
}

void Follower::process(const LookedProcess& waited) {
  if (waited.pid && *waited.pid > 0) return hold_process(*waited.pid);
  any_child();
}

CallWait Follower::follow(const LastCall& thread) {
  out_ = CallWait();
  const auto found = look_.threads.find(thread.thread_id);
  if (found == look_.threads.end()) return out_;
  thread_ = &thread;
  looked_ = &found->second;
  out_.state = State::kGoesOn;
  out_.why = halted_text(*looked_);
  if (thread.wait) return out_;
  if (!looked_->call.empty()) out_.text = call_text(thread, *looked_, [this](std::int64_t fd) { return own(fd); });
  const bool sleeps = looked_->asleep && (looked_->state == "asleep" || looked_->state == "uninterruptible");
  if (!sleeps || looked_->call.empty() || looked_->timed.value_or(false)) return out_;
  if (is_one_of(looked_->call, {"nanosleep", "clock_nanosleep"})) return out_;
  out_.state = State::kFollowed;
  if (calls_.tasks_missing) unknown("threads that the trace does not know");
  if (!looked_->timed) limit();
  timers();
  // The look tells which call goes on after SIGSTOP and SIGCONT.
  const bool goes_on = thread.call == "restart_syscall" && looked_->call == "poll";
  if (!thread.call.empty() && thread.call != looked_->call && !goes_on) unknown("what it does now");
  for (const LookedDescriptor& waited : looked_->descriptors) descriptor(waited);
  for (const LookedProcess& waited : looked_->processes) process(waited);
  if (const char* const lock_class = system_v_class(looked_->call)) system_v(lock_class);
  if (is_one_of(looked_->call, {"pause", "rt_sigsuspend", "rt_sigtimedwait"})) outside("a signal");
  const bool nothing =
      looked_->descriptors.empty() && looked_->processes.empty() && !out_.anyone && !system_v_class(looked_->call);
  if (nothing && asks_many(looked_->call) && !looked_->call.starts_with("epoll")) outside("a signal");
  if (nothing) unknown(fmt::format("what ends its {}, which is not followed", looked_->call));
  troubles();
  // Any thread of the process may add to an epoll set.
  if (out_.state == State::kFollowed && looked_->call.starts_with("epoll")) out_.holders.push_back(thread.process);
  // The end of a child interrupts the call, and a handler of SIGCHLD may do anything.
  if (out_.state == State::kFollowed && !looked_->descriptors.empty()) {
    const auto its = children_.find(calls_.processes[thread.process].id);
    if (its != children_.end()) out_.holders.insert(out_.holders.end(), its->second.begin(), its->second.end());
  }
  std::sort(out_.holders.begin(), out_.holders.end());
  out_.holders.erase(std::unique(out_.holders.begin(), out_.holders.end()), out_.holders.end());
  return out_;
}

}  // namespace

std::string halted_text(const LookedThread& thread) {
  if (thread.state == "stopped")
    return thread.stop_signal ? "stopped by " + syscalls::signal_name(static_cast<int>(*thread.stop_signal))
                              : std::string("stopped by a signal");
  if (thread.state == "traced")
    return thread.tracer_pid ? fmt::format("traced by {} (pid {})", thread.tracer.empty() ? "a process" : thread.tracer,
                                           *thread.tracer_pid)
                             : std::string("traced by another process");
  return thread.state == "frozen" ? "frozen" : "";
}

std::vector<CallWait> follow_calls(const LastCalls& calls, const Look& look) {
  Follower follower(calls, look);
  std::vector<CallWait> out;
  out.reserve(calls.threads.size());
  for (const LastCall& thread : calls.threads) out.push_back(follower.follow(thread));
  return out;
}

}  // namespace uscope::analyzer
