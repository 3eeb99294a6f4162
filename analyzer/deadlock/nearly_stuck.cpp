// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The graph is examined once more, with less caution: a wait that only a way out (ways_out.h) could end, a handler
// above all, waits for what else could end it; a futex wait in a Java process waits for any other thread of the
// process; and threads of the virtual machine itself (compilers, collectors, its clock) do nothing for others, though
// they wake up now and then. A thread that is stuck then, and was not before, is told of in three cases: it has
// something to write that nobody reads; it and a Java process wait for each other; or it waits in a circle.
#include "analyzer/deadlock/nearly_stuck.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>

namespace uscope::analyzer {
namespace {

// Names as the kernel has them, of 15 characters at most.
bool is_vm_thread(std::string_view name) {
  constexpr std::array<std::string_view, 19> kStarts{
      "VM Thread",       "VM Periodic",   "C1 Compiler", "C2 Compiler",   "GC Thread",      "G1 ",
      "Shenandoah",      "ZWorker",       "XWorker",     "Monitor Defla", "Service Thread", "Notification",
      "Signal Dispatch", "Attach Listen", "Sweeper",     "Common-Clean",  "Finalizer",      "Reference Hand",
      "Parallel GC"};
  return std::any_of(kStarts.begin(), kStarts.end(), [&](std::string_view start) { return name.starts_with(start); });
}

class LessCaution {
 public:
  LessCaution(const Situation& situation, const Look& look, const std::vector<CallWait>& waits)
      : it_(situation), waits_(waits) {
    for (std::size_t i = 0; i < size(); i++) {
      const auto seen = look.threads.find(call(i).thread_id);
      if (is_of_java(call(i)) || (seen != look.threads.end() && !seen->second.monitors.empty()))
        java_.insert(call(i).process);
    }
    stuck_ = loosened(true);
    without_self_pipes_ = loosened(false);
  }

  [[nodiscard]] std::string why() const;

 private:
  [[nodiscard]] std::size_t size() const { return it_.calls.threads.size(); }
  [[nodiscard]] const LastCall& call(std::size_t i) const { return it_.calls.threads[i]; }
  [[nodiscard]] bool is_java(std::size_t process) const { return java_.count(process) != 0; }
  [[nodiscard]] bool only_now(std::size_t i) const { return stuck_[i] && !it_.stuck[i]; }
  [[nodiscard]] std::vector<Waiter> loosened_waiters(bool self_pipes) const;
  [[nodiscard]] std::vector<bool> loosened(bool self_pipes) const {
    return stuck_threads(loosened_waiters(self_pipes));
  }
  void loosen(std::size_t i, bool self_pipes, Waiter& waiter) const;
  [[nodiscard]] bool waits_in_circle(std::size_t i) const;
  [[nodiscard]] bool tells(std::size_t i) const;
  [[nodiscard]] std::string of_circle() const;
  [[nodiscard]] std::string ways_text(const std::vector<std::size_t>& threads) const;
  [[nodiscard]] bool waits_for(std::size_t thread, std::size_t process) const;
  [[nodiscard]] std::optional<std::size_t> java_behind(std::size_t i) const;
  [[nodiscard]] std::string of_java(std::size_t i, std::size_t java) const;
  [[nodiscard]] std::string of_handler(std::size_t i) const;
  [[nodiscard]] std::string process_text(std::size_t process) const;
  [[nodiscard]] std::string wait_text(std::size_t i) const;

  const Situation& it_;
  const std::vector<CallWait>& waits_;
  std::set<std::size_t> java_;
  std::vector<bool> stuck_;
  std::vector<bool> without_self_pipes_;  // handlers that use these are a hope
};

std::vector<Waiter> LessCaution::loosened_waiters(bool self_pipes) const {
  std::vector<Waiter> waiters = it_.waiters;
  for (std::size_t i = 0; i < size(); i++) loosen(i, self_pipes, waiters[i]);
  return waiters;
}

void LessCaution::loosen(std::size_t i, bool self_pipes, Waiter& waiter) const {
  const CallWait& wait = waits_[i];
  const bool may_end = wait.by_handler || (wait.state == CallWait::State::kUnknown && wait.doubtful);
  if (may_end && (self_pipes || !wait.by_self_pipe) && !wait.by_timer && !wait.has_unknown && !wait.holders.empty()) {
    waiter.held = true;
    waiter.releaser = Releaser::kProcesses;
    waiter.holders = wait.holders;
  }
  if (!is_java(waiter.process)) return;
  const bool is_vm = is_vm_thread(call(i).name);
  const bool is_held =
      call(i).wait && call(i).standing == Standing::kHeld && waiter.releaser == Releaser::kUnknown && !waiter.outsiders;
  if (!is_vm && !is_held) return;
  waiter.held = true;
  waiter.releaser = Releaser::kSpace;
  waiter.shared = false;
  waiter.lenient = false;
}

bool LessCaution::waits_for(std::size_t thread, std::size_t process) const {
  const auto& holders = waits_[thread].holders;
  return std::find(holders.begin(), holders.end(), process) != holders.end();
}

// "a handler of SIGTERM in process 12 `sh`, or a signal to process 13 (which it traces)"
std::string LessCaution::ways_text(const std::vector<std::size_t>& threads) const {
  std::vector<std::string> ways;
  for (const std::size_t i : threads)
    if ((waits_[i].by_handler || waits_[i].doubtful) &&
        std::find(ways.begin(), ways.end(), waits_[i].why) == ways.end())
      ways.push_back(waits_[i].why);
  return fmt::format("{}", fmt::join(ways, ", or "));
}

// Whether it waits for another process which waits for its own, to read or to write; who only waits for its end may
// rest.
bool LessCaution::waits_in_circle(std::size_t i) const {
  const auto is_own = [&](const WaitEnd& end) { return end.process == call(i).process && !end.object.empty(); };
  for (std::size_t other = 0; other < size(); other++)
    if (call(other).process != call(i).process && waits_for(i, call(other).process) &&
        std::any_of(waits_[other].ends.begin(), waits_[other].ends.end(), is_own))
      return true;
  return false;
}

// Whether a way out of its wait makes a circle worth telling: one that is there for handlers is at rest.
bool LessCaution::tells(std::size_t i) const {
  const bool may_end = waits_[i].by_handler || waits_[i].doubtful;
  return only_now(i) && may_end && (!waits_[i].by_own_end || waits_in_circle(i));
}

// A circle that would be a deadlock, if nothing came from outside.
std::string LessCaution::of_circle() const {
  const std::vector<Waiter> waiters = loosened_waiters(false);
  for (const GraphFinding& found : find_stuck(waiters, false)) {
    const bool is_new =
        std::any_of(found.threads.begin(), found.threads.end(), [&](std::size_t i) { return tells(i); });
    const bool is_circle = found.type == FindingType::kCycle || found.type == FindingType::kSelfDeadlock ||
                           found.type == FindingType::kStopped;
    if (!is_new || !is_circle) continue;
    const auto handles =
        std::find_if(found.threads.begin(), found.threads.end(), [&](std::size_t i) { return waits_[i].by_handler; });
    std::string text = fmt::format("{} Nothing but {} could let {} go on.",
                                   explain({it_.calls, it_.objects, waiters, without_self_pipes_}, found),
                                   ways_text(found.threads), found.threads.size() == 1 ? "it" : "one of them");
    if (handles != found.threads.end())
      text += fmt::format(" `grep SigCgt /proc/{}/status` shows which signals have a handler",
                          it_.calls.processes[call(*handles).process].pid);
    return text;
  }
  return "";
}

// A Java process that the thread waits for, and one of whose threads waits for the thread's process.
std::optional<std::size_t> LessCaution::java_behind(std::size_t i) const {
  if (is_java(call(i).process)) return std::nullopt;
  for (const std::size_t process : java_) {
    if (!waits_for(i, process)) continue;
    for (std::size_t other = 0; other < size(); other++)
      if (call(other).process == process && waits_for(other, call(i).process)) return process;
  }
  return std::nullopt;
}

std::string LessCaution::process_text(std::size_t process) const {
  const LastProcess& it = it_.calls.processes[process];
  return it.program.empty() ? fmt::format("process {}", it.pid) : fmt::format("process {} `{}`", it.pid, it.program);
}

// "thread 12 `yes` waits in write(1<pipe:[7]>): the read end of pipe:[7] is open in process 11 `java`"
std::string LessCaution::wait_text(std::size_t i) const {
  std::string text = fmt::format("thread {} `{}` waits in {}", call(i).tid, call(i).name, waits_[i].text);
  std::set<std::size_t> told;
  for (const WaitEnd& end : waits_[i].ends)
    if (!end.object.empty() && told.insert(end.process).second)
      text += fmt::format("{} {} {} is open in {}", told.size() == 1 ? ":" : ",", end.part, end.object,
                          end.process == call(i).process ? "its own process" : process_text(end.process));
  return text;
}

std::string LessCaution::of_java(std::size_t i, std::size_t java) const {
  return fmt::format(
      "{}, which waits for {}, and none of whose threads is seen to be about to use it. What a Java virtual machine "
      "does "
      "next cannot be followed: `jstack {}` shows what each of its threads waits for",
      wait_text(i), process_text(call(i).process), it_.calls.processes[java].pid);
}

// Those whose handlers are the only hope are the thread's own process, or what it waits for.
std::string LessCaution::of_handler(std::size_t i) const {
  std::set<std::size_t> seen{i};
  std::vector<std::size_t> queue{i};
  for (std::size_t next = 0; next < queue.size(); next++) {
    const std::size_t at = queue[next];
    if (waits_[at].by_handler) {
      const std::string where = at == i ? "" : fmt::format(". That waits in {}", waits_[at].text);
      return fmt::format(
          "{}{}. Nothing but {} could let it go on. `grep SigCgt /proc/{}/status` shows which signals have a handler",
          wait_text(i), where, waits_[at].why, it_.calls.processes[call(at).process].pid);
    }
    for (std::size_t other = 0; other < size(); other++)
      if (waits_for(at, call(other).process) && seen.insert(other).second) queue.push_back(other);
  }
  return "";
}

// Who has something to write says more than who waits to read.
std::string LessCaution::why() const {
  if (it_.calls.tasks_missing) return "";
  for (std::size_t i = 0; i < size(); i++) {
    if (!only_now(i) || call(i).wait) continue;
    if (const auto java = java_behind(i)) return of_java(i, *java);
    if (auto text = waits_[i].writes ? of_handler(i) : ""; !text.empty()) return text;
  }
  return of_circle();
}

}  // namespace

bool is_of_vm(const LastCall& thread) {
  return is_vm_thread(thread.name) && is_of_java(thread);
}

bool is_of_java(const LastCall& thread) {
  return std::any_of(thread.stack.begin(), thread.stack.end(),
                     [](const StackLine& line) { return line.module == "libjvm.so"; });
}

std::string why_nearly_stuck(const Situation& situation, const Look& look, const std::vector<CallWait>& waits) {
  return LessCaution(situation, look, waits).why();
}

}  // namespace uscope::analyzer
