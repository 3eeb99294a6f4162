// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Why nothing was found: for each wait who can still end it, and where those stand that could.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "analyzer/deadlock/deadlock_story.h"
#include "analyzer/deadlock/nearly_stuck.h"
#include "analyzer/deadlock/task_names.h"
#include "support/text.h"

namespace uscope::analyzer {
namespace {

constexpr std::size_t kNamed = 6;  // waits, or threads, in one sentence

class WaysOn {
 public:
  explicit WaysOn(const Situation& situation) : it_(situation) {
    for (std::size_t i = 0; i < it_.waiters.size(); i++)
      if (!it_.stuck[i]) free_of_process_[call(i).process].push_back(i);
  }

  [[nodiscard]] std::string reason() const;
  [[nodiscard]] std::string enders(std::size_t i) const;

 private:
  [[nodiscard]] const LastCall& call(std::size_t i) const { return it_.calls.threads[i]; }
  [[nodiscard]] const CallWait& wait_of(std::size_t i) const { return it_.objects[i].call_wait; }
  [[nodiscard]] std::string name(std::size_t i) const { return thread_text(call(i)); }
  [[nodiscard]] int explains(std::size_t i) const;
  [[nodiscard]] std::string stands(std::size_t i) const;
  [[nodiscard]] std::string process_stands(std::size_t process) const;
  [[nodiscard]] std::string end_text(std::size_t i, const WaitEnd& end) const;
  [[nodiscard]] std::string of_futexes(std::size_t held) const;
  [[nodiscard]] std::string of_calls(const std::set<std::size_t>& told) const;
  [[nodiscard]] std::vector<std::size_t> free_for(std::size_t held) const;
  [[nodiscard]] std::string free_text(std::size_t i) const;

  const Situation& it_;
  std::map<std::size_t, std::vector<std::size_t>> free_of_process_;
};

// Of the free threads, which are named first: the lower, the earlier. A holder that computes says why all wait; one
// that waits for an outside event explains more than one that runs.
int WaysOn::explains(std::size_t i) const {
  const auto waits_for_it = [&](const Waiter& waiter) {
    return waiter.held && waiter.releaser == Releaser::kOwner && waiter.owner == i;
  };
  if (computes(it_.calls, call(i)) && std::any_of(it_.waiters.begin(), it_.waiters.end(), waits_for_it)) return 0;
  return call(i).standing == Standing::kElsewhere ? 1 : 2;
}

// "waits in clock_nanosleep()", "runs": what a thread is doing that could end a wait.
std::string WaysOn::stands(std::size_t i) const {
  switch (call(i).standing) {
    case Standing::kElsewhere: {
      const CallWait& wait = wait_of(i);
      if (wait.state == CallWait::State::kGoesOn && !wait.why.empty()) return "is " + wait.why;
      return "waits in " + (wait.text.empty() ? call(i).call : wait.text);
    }
    case Standing::kTimed:
      return call(i).tries ? "waits with a timeout, again and again" : "waits with a timeout";
    case Standing::kRuns:
      if (!computes(it_.calls, call(i))) return "runs";
      return fmt::format("has made no call for {}", human_duration(static_cast<double>(call(i).idle_ns)));
    default:
      return it_.waiters[i].held ? "waits for a futex" : "may just have been woken";
  }
}

// " and waits in clock_nanosleep()"; of several threads that could act, that which explains most.
std::string WaysOn::process_stands(std::size_t process) const {
  const auto found = free_of_process_.find(process);
  if (found == free_of_process_.end()) return "";
  const auto& free = found->second;
  const std::size_t first = *std::min_element(free.begin(), free.end(),
                                              [&](std::size_t a, std::size_t b) { return explains(a) < explains(b); });
  if (free.size() == 1) return " and " + stands(first);
  return fmt::format("; of its threads, {} {}", name(first), stands(first));
}

std::string WaysOn::end_text(std::size_t i, const WaitEnd& end) const {
  const bool itself = end.process == call(i).process;
  const std::string who = itself ? "its own process" : process_text(it_.calls.processes[end.process]);
  const std::string where = process_stands(end.process);
  if (end.object.empty())
    return fmt::format("the end of {}{}{}", who, where.empty() ? "" : ", which",
                       where.starts_with(" and ") ? where.substr(4)
                       : where.empty()            ? ""
                                                  : " has not ended" + where);
  std::string has = fmt::format("has {} {} open", end.part, end.object);
  if (end.part == "a lock on") has = "has a lock on " + end.object;
  if (end.part == "a mapping of") has = "maps " + end.object;
  if (end.fd >= 0 && end.part != "a lock on") has += fmt::format(" (descriptor {})", end.fd);
  return fmt::format("{}, which {}{}", who, has, where);
}

// Who could end the wait of a thread in another call than futex: "process 12 `sleep`, which has the write end of
// pipe:[7] open (descriptor 1) and waits in clock_nanosleep()". Empty: nobody is known, or it goes on by itself.
std::string WaysOn::enders(std::size_t i) const {
  const CallWait& wait = wait_of(i);
  if (wait.state == CallWait::State::kOutside || wait.state == CallWait::State::kUnknown) return wait.why;
  if (wait.state != CallWait::State::kFollowed || it_.stuck[i]) return "";
  std::string text;
  std::set<std::size_t> told;
  for (const WaitEnd& end : wait.ends) {
    if (free_of_process_.count(end.process) == 0 || !told.insert(end.process).second) continue;
    if (told.size() == kNamed) return text + ", or others";
    text += (text.empty() ? "" : ", or ") + end_text(i, end);
  }
  if (!text.empty()) return text;
  for (const std::size_t process : wait.holders)
    if (free_of_process_.count(process) != 0)
      return process_text(it_.calls.processes[process]) + ", which has not ended" + process_stands(process);
  return wait.anyone ? "any thread of the trace" : "";
}

// Those that could wake the thread, which waits for a futex.
std::vector<std::size_t> WaysOn::free_for(std::size_t held) const {
  std::vector<std::size_t> free;
  for (std::size_t i = 0; i < it_.waiters.size(); i++)
    if (!it_.stuck[i] && !it_.waiters[i].held && can_reach(it_.waiters[i], it_.waiters[held])) free.push_back(i);
  std::stable_sort(free.begin(), free.end(), [&](std::size_t a, std::size_t b) { return explains(a) < explains(b); });
  return free;
}

std::string WaysOn::free_text(std::size_t i) const {
  const std::string text = name(i) + " " + stands(i);
  const std::string by = call(i).standing == Standing::kElsewhere ? enders(i) : "";
  return by.empty() ? text : text + ", which can be ended by " + by;
}

std::string WaysOn::of_futexes(std::size_t held) const {
  std::vector<std::size_t> free = free_for(held);
  for (std::size_t i = 0; i < it_.waiters.size(); i++)
    if (free.empty() && it_.waiters[i].held &&
        (it_.waiters[i].release_event != ReleaseEvent::kLock || it_.objects[i].what.is_lock) &&
        it_.waiters[i].releaser == Releaser::kUnknown && call(i).wait && call(i).wait->handlers &&
        !it_.waiters[i].outsiders)
      return "a signal may come whose handler wakes " + name(i);
  if (free.empty())
    return "somebody outside of what was traced, or of what it tells, can still wake the threads that wait";
  if (std::all_of(free.begin(), free.end(), [&](std::size_t i) { return is_of_vm(call(i)); }))
    return fmt::format(
        "of the Java program's own threads, none is seen to go on, and those of the virtual machine itself do nothing "
        "for "
        "them; but who lets a parked thread go on is not known: `jstack {}` shows what each Java thread waits for",
        it_.calls.processes[call(held).process].pid);
  std::erase_if(free, [&](std::size_t i) { return is_of_vm(call(i)); });
  std::string list;
  for (std::size_t i = 0; i < free.size(); i++) {
    if (i == kNamed && free.size() > kNamed + 1) {
      list += fmt::format(", and {} more", free.size() - i);
      break;
    }
    list += (list.empty() ? "" : ", ") + free_text(free[i]);
  }
  return "the threads that wait can still be woken: " + list;
}

// Of threads in other calls than futex, but for those that have been told. Of equal reasons, the first wait stands for
// all.
std::string WaysOn::of_calls(const std::set<std::size_t>& told) const {
  std::string list;
  std::set<std::string> reasons;
  for (const std::size_t i : waiting_elsewhere(it_.calls)) {
    if (told.count(i) != 0) continue;
    const CallWait& wait = wait_of(i);
    const bool halted = wait.state == CallWait::State::kGoesOn && !wait.why.empty();
    const std::string by = halted ? wait.why : enders(i);
    if (by.empty() || !reasons.insert(by).second || reasons.size() > kNamed) continue;
    list += list.empty() ? "" : "; ";
    list += halted ? fmt::format("{} is {}", name(i), by)
                   : fmt::format("{} in {} can be ended by {}", name(i), wait.text, by);
  }
  return list;
}

std::string WaysOn::reason() const {
  std::size_t waiting = 0;
  std::optional<std::size_t> held;
  for (std::size_t i = 0; i < it_.waiters.size(); i++) {
    if (call(i).wait) waiting++;
    if (call(i).wait && it_.waiters[i].held && !held) held = i;
  }
  std::set<std::size_t> told;
  std::string text;
  if (held) {
    text = of_futexes(*held);
    for (const std::size_t i : free_for(*held)) told.insert(i);
  } else if (waiting != 0) {
    text = "the threads that wait for futexes will go on by themselves, or may just have been woken";
  }
  const std::string others = of_calls(told);
  if (waiting != 0 || !others.empty()) return text + (text.empty() || others.empty() ? "" : "; ") + others;
  const std::size_t elsewhere = waiting_elsewhere(it_.calls).size();
  if (elsewhere == 0) return "no thread waits for a futex at the end";
  const auto goes_on = [&](std::size_t i) { return wait_of(i).state == CallWait::State::kGoesOn; };
  const std::vector<std::size_t> waits = waiting_elsewhere(it_.calls);
  if (std::all_of(waits.begin(), waits.end(), goes_on))
    return elsewhere == 1 ? "the one thread that waits goes on by itself"
                          : fmt::format("all {} threads that wait go on by themselves", elsewhere);
  return elsewhere == 1 ? "no thread waits for a futex at the end, but 1 thread waits in another call, which may be "
                          "what hangs"
                        : fmt::format(
                              "no thread waits for a futex at the end, but {} threads wait in other calls, "
                              "which may be what hangs",
                              elsewhere);
}

}  // namespace

std::string why_none(const Situation& situation) {
  return WaysOn(situation).reason();
}

std::vector<std::string> who_may_end(const Situation& situation) {
  const WaysOn ways(situation);
  std::vector<std::string> out;
  out.reserve(situation.waiters.size());
  for (std::size_t i = 0; i < situation.waiters.size(); i++) out.push_back(ways.enders(i));
  return out;
}

}  // namespace uscope::analyzer
