// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/deadlock/deadlock_story.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "analyzer/deadlock/library_locks.h"
#include "analyzer/deadlock/task_names.h"
#include "support/clock.h"
#include "support/text.h"

namespace uscope::analyzer {
namespace {

constexpr std::size_t kNamed = 6;  // threads in one sentence

std::string function_of(const LastCall& thread) {
  const StackLine* line = application_frame(thread.stack);
  return line && line->app ? " in " + line->function : "";
}

// "the mutex 0x55…", "the lock 0x7f… inside libc (malloc)".
std::string thing_text(const WaitedObject& object) {
  std::string phrase = object_phrase(object);
  const Primitive primitive = object.what.primitive;
  if (!object.lock_name.empty() || primitive == Primitive::kInterpreter || primitive == Primitive::kOpenmp)
    return phrase;
  if (primitive == Primitive::kLibcLock || primitive == Primitive::kStream) {
    constexpr std::string_view kLock = "lock";
    return phrase.replace(0, phrase.find(kLock) + kLock.size(), "the lock " + hex_number(object.address));
  }
  for (const std::string article : {"a ", "an "})
    if (phrase.starts_with(article)) phrase = "the " + phrase.substr(article.size());
  return object.what.at_parker ? phrase : phrase + " " + hex_number(object.address);
}

class Wording {
 public:
  explicit Wording(const Situation& situation) : it_(situation) {}

  std::string cycle(const GraphFinding& finding) const;
  std::string signal_cycle(const GraphFinding& finding) const;
  std::string self(const GraphFinding& finding) const;
  std::string owner_gone(const GraphFinding& finding) const;
  std::string stall(const GraphFinding& finding) const;
  std::string holders(const GraphFinding& finding) const;
  std::string stopped(const GraphFinding& finding) const;

 private:
  [[nodiscard]] const LastCall& call(std::size_t i) const { return it_.calls.threads[i]; }
  [[nodiscard]] std::string name(std::size_t i) const { return thread_text(call(i)); }
  [[nodiscard]] std::string waits(std::size_t i) const;
  [[nodiscard]] std::string waits_for_owner(std::size_t i) const;
  template <typename Text>
  [[nodiscard]] std::string listed(const std::vector<std::size_t>& threads, const char* separator, Text text) const;
  template <typename Text>
  [[nodiscard]] std::string told_once(const std::vector<std::size_t>& threads, Text text) const;
  [[nodiscard]] std::string waits_for_holders(std::size_t i) const;
  [[nodiscard]] std::string process_name(std::size_t process) const;
  [[nodiscard]] std::string could_still(const GraphFinding& finding, const std::string& deed) const;
  [[nodiscard]] std::string former_wakers(std::size_t i) const;

  const Situation& it_;
};

template <typename Text>
std::string Wording::listed(const std::vector<std::size_t>& threads, const char* separator, Text text) const {
  std::string list;
  for (std::size_t i = 0; i < threads.size(); i++) {
    if (i == kNamed && threads.size() > kNamed + 1)
      return fmt::format("{}{}and {} more", list, separator, threads.size() - i);
    list += (list.empty() ? "" : separator) + text(threads[i]);
  }
  return list;
}

// The text with "0x…" for each address in it.
std::string without_addresses(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = std::min(text.find("0x", at), text.size());
    out += text.substr(at, begin - at);
    if (begin == text.size()) break;
    out += "0x…";
    at = std::min(text.find_first_not_of(kDigits, begin + 2), text.size());
  }
  return out;
}

// "worker-" of "worker-12".
std::string without_digits(std::string name) {
  std::erase_if(name, [](char c) { return c >= '0' && c <= '9'; });
  return name;
}

// As listed(), with equal waits of threads of one kind told once: "thread 12 `worker`, and 97 others in the same place,
// wait for …". `text` begins with the thread's name and "waits".
template <typename Text>
std::string Wording::told_once(const std::vector<std::size_t>& threads, Text text) const {
  constexpr std::string_view kWaits = " waits ";
  constexpr std::size_t kEqual = 3;  // fewer are all named
  struct Group {
    std::vector<std::size_t> threads;
    bool differ = false;  // in addresses
  };
  std::vector<Group> groups;
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  const auto rest_of = [&](std::size_t i) { return text(i).substr(name(i).size()); };
  for (const std::size_t i : threads) {
    const std::string rest = rest_of(i);
    const auto [place, is_new] =
        places.emplace(std::pair(without_digits(call(i).name), without_addresses(rest)), groups.size());
    if (is_new) groups.emplace_back();
    Group& group = groups[place->second];
    group.differ = group.differ || (!is_new && rest_of(group.threads[0]) != rest);
    group.threads.push_back(i);
  }
  std::vector<std::size_t> order(groups.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  return listed(order, "; ", [&](std::size_t number) {
    const Group& group = groups[number];
    if (group.threads.size() < kEqual) return listed(group.threads, "; ", text);
    return fmt::format("{}, and {} others in the same place, wait {}{}", name(group.threads[0]),
                       group.threads.size() - 1, rest_of(group.threads[0]).substr(kWaits.size()),
                       group.differ ? " (or at other addresses)" : "");
  });
}

// "thread 12 `worker` waits for the mutex 0x55… in serve".
std::string Wording::waits(std::size_t i) const {
  const WaitedObject& object = it_.objects[i];
  const Primitive primitive = object.what.primitive;
  const std::string who = name(i) + " waits ";
  const std::string where = function_of(call(i));
  if (!object.call_wait.text.empty()) return who + "in " + object.call_wait.text + where;
  if (primitive == Primitive::kMonitor)
    return who + "to enter the monitor of " +
           (object.monitor_class.empty() ? "an object" : "a " + object.monitor_class) + " at " +
           hex_number(object.address) + where;
  if (primitive == Primitive::kJoin) return who + "for a thread to exit" + where;
  if (primitive == Primitive::kVfork) return who + "for its child of vfork to execute a program or to end" + where;
  constexpr std::string_view kBeing = "being ";  // "being unparked, for a …"
  if (object.lock_name.starts_with(kBeing)) return who + "to be " + object.lock_name.substr(kBeing.size()) + where;
  if (object.lock_name.starts_with("Object.wait")) return who + "in " + object.lock_name + where;
  if (primitive == Primitive::kPark) return who + "to be unparked" + where;
  const bool at = primitive == Primitive::kConditionVariable || primitive == Primitive::kRustCondvar ||
                  primitive == Primitive::kBarrier || primitive == Primitive::kFutex || primitive == Primitive::kAtomic;
  if (object.what.leaves)
    return who + "in " + object.what.api + " for the waiters of " + thing_text(object) + " to leave" + where;
  if (object.what.idle) return who + "for work, as an idle thread of a pool" + where;
  return who + (at ? "at " : "for ") + thing_text(object) + where;
}

std::string Wording::waits_for_owner(std::size_t i) const {
  const std::size_t owner = it_.waiters[i].owner;
  if (it_.objects[i].what.primitive == Primitive::kJoin)
    return name(i) + " waits for the end of " + name(owner) + function_of(call(i));
  if (it_.objects[i].what.primitive == Primitive::kVfork) return waits(i) + ", " + name(owner);
  return waits(i) + ", held by " + name(owner);
}

std::string Wording::process_name(std::size_t process) const {
  return process_text(it_.calls.processes[process]);
}

// "thread 12 `a` of process 12 `app` waits in read(3<pipe:[4711]>) in serve: the write end of pipe:[4711] is open in
// process 13 `b` (descriptor 4)". Descriptors of one process are told together; its own are told as such.
std::string Wording::waits_for_holders(std::size_t i) const {
  const CallWait& wait = it_.objects[i].call_wait;
  if (it_.waiters[i].releaser == Releaser::kOwner) return waits_for_owner(i);
  std::string text = waits(i);
  if (wait.ends.empty()) return text;
  std::string list;
  std::set<std::string> told;
  for (const WaitEnd& end : wait.ends) {
    const bool itself = end.process == call(i).process;
    const std::string who = itself ? "its own process" : process_name(end.process);
    std::string part;
    if (end.object.empty()) {
      part = "for the end of " + who;
    } else if (end.part == "a lock on") {
      part = fmt::format("{} has a lock on {}", who, end.object);
    } else if (end.part == "a mapping of") {
      part = fmt::format("{} maps {}", who, end.object);
    } else {
      part = fmt::format("{} {} is open in {}", end.part, end.object, who);
    }
    if (end.fd >= 0 && end.part != "a lock on") part += fmt::format(" (descriptor {})", end.fd);
    if (!told.insert(part).second) continue;
    if (told.size() == kNamed) {
      list += ", and more";
      break;
    }
    list += (list.empty() ? "" : ", ") + part;
  }
  return text + (wait.ends.front().object.empty() ? " " : ": ") + list;
}

std::string Wording::holders(const GraphFinding& finding) const {
  const std::vector<std::size_t> circle(finding.threads.begin(),
                                        finding.threads.begin() + static_cast<std::ptrdiff_t>(finding.circle));
  const auto tell = [&](std::size_t i) { return waits_for_holders(i); };
  std::string text;
  if (finding.threads.size() == 1) {
    text = waits_for_holders(finding.threads[0]) + ". Nobody else could end this wait";
  } else {
    const std::vector<std::size_t>& told = circle.size() < 2 ? finding.threads : circle;
    text = fmt::format("{} threads wait for each other{}: {}", told.size(), circle.size() < 2 ? "" : " in a cycle",
                       circle.size() < 2 ? told_once(told, tell) : listed(told, "; ", tell));
    const std::size_t others = finding.threads.size() - told.size();
    if (others == 1) text += ". The other thread that could end one of these waits waits for good, too";
    if (others > 1)
      text += fmt::format(". The {} other threads that could end one of these waits wait for good, too", others);
  }
  text += ".";
  if (finding.weak) text += " No deadlock for certain: it is not known of each of these waits who should end it.";
  return text;
}

std::string Wording::stopped(const GraphFinding& finding) const {
  const std::vector<std::size_t> waiting(finding.threads.begin(),
                                         finding.threads.begin() + static_cast<std::ptrdiff_t>(finding.circle));
  std::string text = told_once(waiting, [&](std::size_t i) { return waits_for_holders(i); }) + ".";
  if (finding.circle == finding.threads.size()) return text;
  const std::size_t halted = finding.threads[finding.circle];
  text += fmt::format(" {} is {}, and cannot go on before it gets SIGCONT.", process_name(call(halted).process),
                      it_.objects[halted].call_wait.why);
  std::set<std::size_t> idle;
  for (const std::size_t i : waiting)
    for (const WaitEnd& end : it_.objects[i].call_wait.idle) idle.insert(end.process);
  if (idle.empty()) return text;
  const std::vector<std::size_t> processes(idle.begin(), idle.end());
  return text + fmt::format(
                    " What it should read could be read by {}, too, which {} both ends of the pipe, but none of {} "
                    "threads waits to read.",
                    listed(processes, ", ", [&](std::size_t process) { return process_name(process); }),
                    idle.size() == 1 ? "has" : "have", idle.size() == 1 ? "its" : "their");
}

std::string Wording::cycle(const GraphFinding& finding) const {
  return fmt::format(
      "{} threads wait for each other in a cycle: {}.{}", finding.threads.size(),
      listed(finding.threads, "; ", [&](std::size_t i) { return waits_for_owner(i); }),
      finding.weak ? could_still(finding, "cancel one that joins, or unlock what it has not locked") : "");
}

// Explains why the finding is only a stall.
std::string Wording::could_still(const GraphFinding& finding, const std::string& deed) const {
  std::vector<std::size_t> free;
  const Waiter& first = it_.waiters[finding.threads[0]];
  const std::set<std::size_t> members(finding.threads.begin(), finding.threads.end());
  for (std::size_t i = 0; i < it_.waiters.size(); i++)
    if (!it_.stuck[i] && can_reach(it_.waiters[i], first) && members.count(i) == 0) free.push_back(i);
  const std::string who =
      free.empty() ? "somebody outside of the trace" : listed(free, ", ", [&](std::size_t i) { return name(i); });
  return fmt::format(" No deadlock for certain: {} could still {}.", who, deed);
}

std::string Wording::signal_cycle(const GraphFinding& finding) const {
  const std::size_t waiter = finding.threads[0];
  const std::vector<std::size_t> others(finding.threads.begin() + 1, finding.threads.end());
  const bool known = !it_.waiters[waiter].wakers.empty();
  std::string text = waits(waiter) + ", and ";
  text += known ? "all that have woken it so far wait for " : "all that could wake it wait for ";
  text += name(waiter) + " itself: " + listed(others, "; ", [&](std::size_t i) { return waits_for_owner(i); }) + ".";
  if (finding.by_history)
    text += " None of the threads that are free has ever woken it." +
            could_still(finding, "wake it for the first time, or cancel it");
  return text;
}

std::string Wording::self(const GraphFinding& finding) const {
  const std::size_t i = finding.threads[0];
  std::string text = waits(i) + ", which it holds itself";
  const StackLines& stack = call(i).stack;
  if (interrupted_from(stack) != stack.size())
    text += ": a signal handler asks for what the code that it interrupted has";
  if (call(i).refused) text += "; the kernel refused it with EDEADLK, and libc then waits for ever";
  return text + "." + (finding.weak ? could_still(finding, "have it instead, which its word does not say") : "");
}

std::string Wording::owner_gone(const GraphFinding& finding) const {
  const std::size_t first = finding.threads[0];
  const auto owner = it_.objects[first].gone_owner;
  std::string text = told_once(finding.threads, [&](std::size_t i) { return waits(i); });
  const std::string weak = finding.weak ? could_still(finding, "unlock what it has not locked") : "";
  text += owner ? fmt::format("; its owner, thread {},", *owner) : "; its owner";
  const LastProcess& process = it_.calls.processes[call(first).process];
  for (const LastCall& other : it_.calls.threads) {
    const LastProcess& parent = it_.calls.processes[other.process];
    if (!owner || other.tid != *owner || parent.id != process.parent_id) continue;
    return fmt::format(
        "{} is one of the parent process {}: the lock was held when it forked, and the child has it without its "
        "owner.{}",
        text, parent.pid, weak);
  }
  const WaitedObject& object = it_.objects[first];
  if (object.stranger && object.stranger_is_parent.value_or(false))
    return fmt::format(
        "{} is one of the parent process {}, which is not traced: the lock was held when it forked, and the child has "
        "it without its owner.{}",
        text, *object.stranger, weak);
  if (object.stranger)
    return fmt::format(
        "{} is not one of this process. Process {}, which is not traced, has a thread of that number, but not this "
        "memory: the lock was held when the owner forked, or it ended without letting go.{}",
        text, *object.stranger, weak);
  return text + " has ended without letting go." + weak;
}

std::string Wording::former_wakers(std::size_t i) const {
  const Waiter& waiter = it_.waiters[i];
  if (waiter.wakers.empty() && !waiter.wakers_gone) return "";
  std::string text = " Woken before by ";
  if (waiter.wakers.empty()) return text + "threads that have ended.";
  text += listed(waiter.wakers, ", ", [&](std::size_t waker) { return name(waker); });
  return text + (waiter.wakers_gone ? ", and threads that have ended." : ".");
}

std::string Wording::stall(const GraphFinding& finding) const {
  std::string text = told_once(finding.threads, [&](std::size_t i) { return waits(i); });
  text +=
      finding.threads.size() == 1 ? ". Nobody is left who could wake it: " : ". Nobody is left who could wake them: ";
  const Waiter& first = it_.waiters[finding.threads[0]];
  std::size_t others = 0;
  for (std::size_t i = 0; i < it_.waiters.size(); i++)
    if (i != finding.threads[0] && can_reach(it_.waiters[i], first)) others++;
  const bool one_process = std::all_of(it_.waiters.begin(), it_.waiters.end(), [&](const Waiter& waiter) {
    return waiter.process == first.process || !can_reach(waiter, first);
  });
  const std::string whose =
      first.releaser == Releaser::kAnyone || !one_process ? "of these processes" : "of the process";
  if (others == 0) text += fmt::format("there is no other thread {}.", whose);
  if (others == 1) text += fmt::format("the other thread {} is blocked for good, too.", whose);
  if (others > 1) text += fmt::format("all {} other threads {} are blocked for good, too.", others, whose);
  if (finding.threads.size() == 1) text += former_wakers(finding.threads[0]);
  return text;
}

}  // namespace

std::string object_phrase(const WaitedObject& object) {
  if (!object.lock_name.empty()) return object.lock_name;
  if (object.what.idle) return "work for an idle thread of OpenMP's pool";
  std::string phrase(primitive_phrase(object.what.primitive));
  const bool is_libcs = object.what.primitive == Primitive::kLibcLock;
  if (is_libcs && !object.what.part.empty()) phrase += " (" + object.what.part + ")";
  return phrase;
}

bool computes(const LastCalls& calls, const LastCall& thread) {
  const bool known = !calls.events_missing && !calls.tasks_missing && !calls.calls_left_out;
  return known && thread.standing == Standing::kRuns && thread.idle_ns >= kSecondNs;
}

std::vector<std::size_t> waiting_elsewhere(const LastCalls& calls) {
  std::int64_t last_ns = 0;
  for (const LastProcess& process : calls.processes) last_ns = std::max(last_ns, process.until_ns);
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < calls.threads.size(); i++) {
    const LastProcess& process = calls.processes[calls.threads[i].process];
    const bool was_there = !process.ended || ended_together(process.until_ns, last_ns);
    if (calls.threads[i].standing == Standing::kElsewhere && was_there) found.push_back(i);
  }
  return found;
}

std::string explain(const Situation& situation, const GraphFinding& finding) {
  const Wording wording(situation);
  if (finding.type == FindingType::kStopped) return wording.stopped(finding);
  if (finding.by_processes) return wording.holders(finding);
  switch (finding.type) {
    case FindingType::kCycle:
      return finding.signal ? wording.signal_cycle(finding) : wording.cycle(finding);
    case FindingType::kSelfDeadlock:
      return wording.self(finding);
    case FindingType::kOwnerGone:
      return wording.owner_gone(finding);
    default:
      return wording.stall(finding);
  }
}

}  // namespace uscope::analyzer
