// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/deadlock/undecided.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

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
};

bool is_of_java(const LastCall& thread) {
  return std::any_of(thread.stack.begin(), thread.stack.end(),
                     [](const StackLine& line) { return line.module == "libjvm.so"; });
}

void add(const LastCall& thread, const LookedThread* seen, const CallWait& wait, const WaitedObject& object,
         ProcessWaits& into) {
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
      (wait.by_handler ? into.handler : into.outside) = true;
      return;
    case CallWait::State::kUnknown:
      into.unknown = wait.text;
      into.why = wait.why;
      return;
    case CallWait::State::kFollowed:
      return;
  }
}

}  // namespace

std::string why_undecided(const LastCalls& calls, const Look& look, const std::vector<CallWait>& waits,
                          const std::vector<WaitedObject>& objects) {
  if (look.threads.empty()) return "";
  std::map<std::size_t, ProcessWaits> processes;
  for (std::size_t i = 0; i < calls.threads.size(); i++) {
    const LastCall& thread = calls.threads[i];
    const auto seen = look.threads.find(thread.thread_id);
    add(thread, seen == look.threads.end() ? nullptr : &seen->second, waits[i], objects[i], processes[thread.process]);
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
    for (const Look::Trouble& trouble : look.troubles)
      if (trouble.process_id == process.id && it.timed == 0 && !it.java)
        return fmt::format("all threads sleep, and not everything of {} could be read: {}", name, trouble.what);
    if (it.timed == 0 && !it.unknown.empty() && !it.java)
      return fmt::format("all threads sleep, and it cannot be followed who could end {} of {}: {}", it.unknown, name,
                         it.why);
  }
  return "";
}

}  // namespace uscope::analyzer
