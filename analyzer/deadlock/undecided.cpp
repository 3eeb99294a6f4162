// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/deadlock/undecided.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "analyzer/deadlock/nearly_stuck.h"
#include "analyzer/deadlock/task_names.h"
#include "support/clock.h"

namespace uscope::analyzer {
namespace {

// What the threads of one process tell.
struct ProcessWaits {
  std::size_t threads = 0;
  std::size_t timed = 0;  // wait for a futex with a timeout, as threads of a runtime do that serve it
  bool moves = false;     // some thread runs, or its state is not known
  bool outside = false;   // something outside can wake some thread
  bool handler = false;   // a handler of a signal could
  std::size_t go = 0;     // threads in Go's scheduler
  bool java = false;      // it has threads of a Java virtual machine
  bool monitors = false;  // its Java threads could be read
  std::string unknown;    // a call of which it is not known who could end it
  std::string why;
  std::string served;                // a thread waits for the server of a file system
  std::vector<std::size_t> by_name;  // threads whose waits whoever knows a name could end
};

// Waits that only somebody could end who knows the name of a thing, and of which something tells that nobody will come:
// FIFOs that several processes wait for, as they do who open two of them crosswise; what somebody used last who has
// ended; a terminal that both its sides wait for. One process at a FIFO, or at semaphores, is a service at rest.
class Names {
 public:
  Names(const LastCalls& calls, const std::vector<CallWait>& waits) {
    for (std::size_t i = 0; i < calls.threads.size(); i++) {
      if (waits[i].by_name.empty() || !waits[i].is_at_fifo) continue;
      names_.insert(waits[i].by_name);
      processes_.insert(calls.threads[i].process);
    }
  }
  [[nodiscard]] bool are_all(const CallWait& wait) const {
    return !wait.by_name.empty() && (wait.nobody_comes || (names_.count(wait.by_name) != 0 && is_crosswise()));
  }
  [[nodiscard]] bool is_crosswise() const { return names_.size() > 1 && processes_.size() > 1; }

 private:
  std::set<std::string> names_;  // of FIFOs
  std::set<std::size_t> processes_;
};

void add_thread(const LastCall& thread, const LookedThread* seen, const CallWait& wait, const WaitedObject& object,
                const Names& names, std::size_t index, ProcessWaits& into) {
  into.threads++;
  into.java = into.java || is_of_java(thread);
  if (!seen) {
    into.moves = true;
    return;
  }
  into.monitors = into.monitors || !seen->monitors.empty();
  if (thread.wait) {
    if (object.what.primitive == Primitive::kGo) into.go++;
    if (thread.standing == Standing::kTimed) into.timed++;
    if (thread.standing == Standing::kUncertain) into.moves = true;
    return;
  }
  switch (wait.state) {
    case CallWait::State::kNotLooked:
    case CallWait::State::kGoesOn:
      into.moves = true;
      return;
    case CallWait::State::kOutside:
      if (names.are_all(wait)) {
        into.by_name.push_back(index);
        return;
      }
      (wait.by_handler ? into.handler : into.outside) = true;
      return;
    case CallWait::State::kUnknown:
      if (wait.at_mount)
        into.served = fmt::format(
            "{} waits in {} for an answer of {}. Such a call has no time limit, and only a signal that kills ends it",
            thread_text(thread), wait.text, wait.why);
      into.unknown = wait.text;
      into.why = wait.why;
      return;
    case CallWait::State::kFollowed:
      return;
  }
}

// "all threads sleep, and those that know these names could go on with them: …"
std::string by_names(const LastCalls& calls, const Look& look, const std::vector<CallWait>& waits,
                     const std::map<std::size_t, ProcessWaits>& processes) {
  constexpr std::size_t kNamed = 6;
  std::string list;
  std::string tool;
  std::size_t told = 0;
  for (const auto& [index, it] : processes)
    for (const std::size_t i : it.by_name) {
      const LastCall& thread = calls.threads[i];
      const char* const lock_class = system_v_class(thread.call);
      if (lock_class && tool.empty())
        tool = fmt::format(". `ipcs -{} -i {}` shows who used it", lock_class == std::string_view("sem") ? 's' : 'q',
                           static_cast<std::int32_t>(look.threads.at(thread.thread_id).args[0]));
      if (++told > kNamed) continue;
      list += fmt::format("{}thread {} `{}` in {} for {}", list.empty() ? "" : "; ", thread.tid, thread.name,
                          waits[i].text, waits[i].why);
    }
  if (told == 0) return "";
  if (told > kNamed) list += fmt::format("; and {} more", told - kNamed);
  return "all threads sleep, and nobody is seen who will let them go on. They wait: " + list + tool;
}

// Of a thread that waits for a lock of libc's own that more than one thread may have: nobody keeps one for a second.
std::string of_candidates(const Situation& situation) {
  for (std::size_t i = 0; i < situation.waiters.size(); i++) {
    const WaitedObject& object = situation.objects[i];
    const LastCall& thread = situation.calls.threads[i];
    if (object.candidates.size() < 2 || !situation.waiters[i].held || thread.waited_ns < kSecondNs) continue;
    std::string list;
    for (const std::size_t other : object.candidates)
      list +=
          (list.empty() ? "" : ", ") + (other == i ? "the thread itself" : thread_text(situation.calls.threads[other]));
    return fmt::format("{} has waited for {} for {} s, and by their stacks each of these may have it: {}",
                       thread_text(thread), object_phrase(object), thread.waited_ns / kSecondNs, list);
  }
  return "";
}

}  // namespace

std::string why_undecided(const Situation& situation, const Look& look, const std::vector<CallWait>& waits) {
  if (auto why = of_candidates(situation); !why.empty()) return why;
  if (look.threads.empty()) return "";
  const LastCalls& calls = situation.calls;
  if (auto why = why_nearly_stuck(situation, look, waits); !why.empty()) return why;
  std::int64_t looked_ns = std::numeric_limits<std::int64_t>::max();
  for (const auto& [id, thread] : look.threads) looked_ns = std::min(looked_ns, thread.ts_ns);
  std::map<std::size_t, ProcessWaits> processes;
  const Names names(calls, waits);
  for (std::size_t i = 0; i < calls.threads.size(); i++) {
    const LastCall& thread = calls.threads[i];
    const LastProcess& process = calls.processes[thread.process];
    if (process.ended && process.until_ns < looked_ns) continue;
    const auto seen = look.threads.find(thread.thread_id);
    add_thread(thread, seen == look.threads.end() ? nullptr : &seen->second, waits[i], situation.objects[i], names, i,
               processes[thread.process]);
  }
  // Who moves, or is woken from outside, may wake the others, whatever process these are of.
  // Go's runtime handles all signals itself, and uses its poller's descriptors for other ends.
  for (const auto& [index, it] : processes)
    if (it.moves || it.outside || (it.handler && it.go == 0)) return "";
  for (const auto& [index, it] : processes) {
    const LastProcess& process = calls.processes[index];
    const std::string name = process.program.empty() ? fmt::format("process {}", process.pid)
                                                     : fmt::format("process {} `{}`", process.pid, process.program);
    if (it.go > 0)
      return fmt::format(
          "{} is a Go program: all its threads sleep in the scheduler, and goroutines that wait for each other cannot "
          "be followed. SIGQUIT lets it print what each goroutine waits for, and ends it (kill -QUIT {})",
          name, process.pid);
    if (it.java && !it.monitors)
      return fmt::format(
          "{} is a Java virtual machine whose monitors could not be read: Java threads that wait for each other cannot "
          "be followed. `jstack {}` shows what each thread waits for",
          name, process.pid);
    if (!it.served.empty() && it.timed == 0 && !it.java) return it.served;
    for (const Look::Trouble& trouble : look.troubles)
      if (trouble.process_id == process.id && it.timed == 0 && !it.java)
        return fmt::format("all threads sleep, and not everything of {} could be read: {}", name, trouble.what);
    if (it.timed == 0 && !it.unknown.empty() && !it.java)
      return fmt::format("all threads sleep, and it cannot be followed who could end {} of {}: {}", it.unknown, name,
                         it.why);
  }
  return by_names(calls, look, waits, processes);
}

}  // namespace uscope::analyzer
