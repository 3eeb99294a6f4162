// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Adds up what threads did, from their events in order of time: samples, times off the CPU, and calls. A thread is in
// at most one call at a time; a sample, or a time off the CPU, that begins within a call belongs to it, and to the
// stack of the call. A thread that was found asleep in a call has two events of that: one of the call, which was
// attached to, and one of the time off the CPU; the two begin when each was found, in any order, and belong together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analyzer/read/row_ids.h"

namespace uscope::analyzer {

// Sums of one thread, call, stack or function. Times are nanoseconds.
struct TimeParts {
  std::uint64_t samples = 0;
  std::uint64_t user_ns = 0;    // running, by samples: the program's code
  std::uint64_t kernel_ns = 0;  // and the kernel's
  double squares = 0;           // sum of the squares of the times that samples stand for
  std::uint64_t times_off = 0;
  std::uint64_t sleeping_ns = 0;  // without the time for which the thread then waited for a CPU
  std::uint64_t blocked_ns = 0;
  std::uint64_t stopped_ns = 0;
  std::uint64_t for_cpu_ns = 0;  // it could have run: preempted, or woken and not yet running
  std::uint64_t calls = 0;
  std::uint64_t call_ns = 0;          // inside recorded calls, running or not
  std::uint64_t call_sampled_ns = 0;  // the part of it running, by samples
  std::uint64_t call_off_ns = 0;      // the part of it off the CPU

  [[nodiscard]] std::uint64_t sampled_ns() const { return user_ns + kernel_ns; }
  [[nodiscard]] std::uint64_t waiting_ns() const { return sleeping_ns + blocked_ns + stopped_ns; }
  [[nodiscard]] std::uint64_t off_ns() const { return waiting_ns() + for_cpu_ns; }
  TimeParts& operator+=(const TimeParts& other);
};

// What an event says of a thread's time.
enum class TimeUse : std::uint8_t { kNothing, kCall, kUser, kKernel, kPreempted, kSleeping, kBlocked, kStopped };

struct TimeEvent {
  std::size_t thread = 0;  // its place in the sweep's list of threads
  TimeUse use = TimeUse::kNothing;
  std::size_t call = 0;  // kCall: a number of its kind, from 1
  std::int64_t ts_ns = 0;
  std::optional<std::int64_t> dur_ns{};  // nullopt: not known to have ended. Of samples not used
  StackRowId stack{};                    // may be none
  std::int64_t waker_tid = 0;            // off the CPU: 0: an interrupt
  std::int64_t waker_pid = 0;
  bool attached = false;     // found by the tracer in the midst of it
  std::int64_t part_ns = 0;  // of a sample: what it stands for; off the CPU: how long the thread then waited for a CPU
};

// While a thread was seen.
struct TimeSpan {
  std::optional<std::int64_t> begin_ns;  // nullopt: from its first event on
  std::int64_t end_ns = 0;
  // It was made while tracing, and whatever ran had samples: up to its first event it waited for its first CPU.
  bool is_new = false;
};

class TimeSweep {
 public:
  // A thread or a stack, and the call that it was in; 0: in none.
  struct Cell {
    std::int64_t of = 0;
    std::size_t call = 0;
    bool operator==(const Cell&) const = default;
  };
  // Waits that one thread ended.
  struct Woken {
    StackRowId stack;
    std::size_t call = 0;
    TimeUse state = TimeUse::kSleeping;
    std::int64_t waker_tid = 0;  // 0: an interrupt; kNobody, kSomebody
    std::int64_t waker_pid = 0;
    bool operator==(const Woken&) const = default;
  };
  struct WokenSum {
    std::uint64_t times = 0;
    std::uint64_t waited_ns = 0;  // without the time for which the thread then waited for a CPU
    std::uint64_t for_cpu_ns = 0;
    std::uint64_t longest_ns = 0;  // of waited_ns
  };
  static constexpr std::int64_t kNobody = -1;    // it has not ended
  static constexpr std::int64_t kSomebody = -2;  // too many wakers to tell them apart

  struct Hash {
    std::size_t operator()(const Cell& cell) const noexcept;
    std::size_t operator()(const Woken& woken) const noexcept;
  };
  template <typename Key, typename Sum>
  using Sums = std::unordered_map<Key, Sum, Hash>;

  // `most_wakers`: how many waits are told apart by who ended them; for tests.
  explicit TimeSweep(const std::vector<TimeSpan>& threads, std::size_t most_wakers = std::size_t{1} << 18U);

  // Of one thread by rising ts_ns; of two with the same, the call first.
  void add(const TimeEvent& event);
  // Ends what nothing has ended. To be called last.
  void finish();

  [[nodiscard]] const Sums<Cell, TimeParts>& by_thread() const { return by_thread_; }  // of: its place
  [[nodiscard]] const Sums<Cell, TimeParts>& by_stack() const { return by_stack_; }    // of: a StackRowId, or 0
  [[nodiscard]] const Sums<Woken, WokenSum>& by_waker() const { return by_waker_; }
  // How long a thread was seen.
  [[nodiscard]] std::uint64_t lived_ns(std::size_t thread) const;

 private:
  struct Thread {
    TimeSpan span;
    std::size_t call = 0;  // that it is in, or was in last; 0: none
    StackRowId stack{};
    std::int64_t entered_ns = 0;
    std::int64_t returned_ns = 0;
    bool seen = false;                     // it had an event
    bool open = false;                     // the call lasts until the next one, or to the thread's end
    std::optional<TimeEvent> found_off{};  // it was found off the CPU, and not yet in which call
  };
  static std::uint64_t within(const Thread& thread, std::int64_t from, std::int64_t until);
  void begin(Thread& thread, const TimeEvent& first);
  void add_call(Thread& thread, const TimeEvent& event);
  void end_call(Thread& thread, std::size_t place, std::int64_t time);
  void count_call(const Thread& thread, std::size_t place);
  void add_within(const Thread& thread, const TimeEvent& event);
  void add_sample(const TimeEvent& event, std::size_t call, StackRowId stack);
  void add_off(const Thread& thread, const TimeEvent& event, std::size_t call, StackRowId stack);

  std::vector<Thread> threads_;
  std::size_t most_wakers_;
  Sums<Cell, TimeParts> by_thread_;
  Sums<Cell, TimeParts> by_stack_;
  Sums<Woken, WokenSum> by_waker_;
};

}  // namespace uscope::analyzer
