// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include <fmt/core.h>

#include "analyzer/deadlock/wait_follower.h"

namespace uscope::analyzer {

void WaitFollower::lock_holder(const HeldLock& held, const Resource& own) {
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
  // A mapping keeps the file open, too.
  bool some = traced && !held.gone;
  const bool is_alone = threads_[thread_->process].size() == 1;
  const auto release = [&](const Holders& others, const char* by) {
    for (const Resource* other : others) {
      if (other->process_id && other->process_id == calls_.processes[thread_->process].id && is_alone) continue;
      if (other->process_id && other->process_id == held.process_id) continue;
      some = true;
      hold(*other, by);
    }
  };
  release(of_object(own), "a descriptor of");
  release(mappings_of(own), "a mapping of");
  if (!some) unknown("whoever has a lock on " + own.name);
}

void WaitFollower::lock(const Resource& own) {
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

// "number 0, last changed by process 12, which has ended"
std::string WaitFollower::user_text(const HeldLock& user) const {
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
void WaitFollower::system_v(const std::string& lock_class) {
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
  if (users.empty()) return unknown("whoever uses " + name);
  if (!is_private || !has_all_calls()) {
    out_.nobody_comes = is_gone;
    return whoever(name, fmt::format("any process that {} {} ({})", is_set ? "changes" : "uses", name, users));
  }
  for (const std::size_t i : alive_)
    if (may_handle_signals(i)) handler("a signal handler that uses " + name);
  out_.anyone = true;
}

}  // namespace uscope::analyzer
