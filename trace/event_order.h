// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Puts the events of a raw trace in the order of their entry, in bounded memory.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "support/result.h"
#include "trace/hit.h"
#include "trace/ids.h"
#include "trace/ordered_string.h"
#include "trace/raw_reader.h"

namespace uscope::trace {

// Both passes show every event and verify record to an EntryClock, in the order of the file, and get the same answers.
class EntryClock {
 public:
  // An item whose call was entered this much before the latest entry seen is late: it is not sorted in the stream, but
  // found again by its place in the file. Longer than processors' rings are drained apart.
  static constexpr std::uint64_t kSlackNs = 200'000'000;

  // `record_ns` is the record's own time: an entry after that is damage, and no reason to think the others late.
  bool is_late(std::uint64_t entry_ns, std::uint64_t record_ns) {
    if (entry_ns > latest_ && entry_ns <= record_ns) latest_ = entry_ns;
    return entry_ns < latest_ && latest_ - entry_ns > kSlackNs;
  }

  // No item that is not late can still come with an entry before this.
  [[nodiscard]] std::uint64_t settled() const { return latest_ > kSlackNs ? latest_ - kSlackNs : 0; }

 private:
  std::uint64_t latest_ = 0;
};

// A late item, found in the first pass. The first kMost of them are kept; those beyond come out of order.
struct LateItem {
  static constexpr std::size_t kMost = std::size_t{1} << 22;
  std::uint64_t entry_ns = 0;
  std::uint64_t offset = 0;  // in the raw file
};

// What a usc_futex record says of a call.
struct OrderedFutex {
  std::uint64_t time = 0;  // when this was seen
  std::uint64_t address = 0;
  std::uint64_t timeout = USC_FUTEX_NO_TIMEOUT;
  std::uint64_t dev = 0;
  std::uint64_t ino = 0;
  std::uint64_t offset = 0;
  std::uint64_t words_from = 0;
  std::uint32_t op = 0;
  std::uint32_t expected = 0;
  MmId mm;
  std::uint32_t untraced_sharers = USC_FUTEX_SHARERS_UNKNOWN;
  std::uint32_t futexes = 0;
  std::uint8_t key = USC_FUTEX_UNKNOWN;
  std::uint8_t flags = 0;
  std::uint16_t bytes = 0;
  std::array<char, USC_FUTEX_WORDS> words{};
};

// An event of any source. A usc_logged has its values for arguments, and how = logged; a usc_signal has how = sent or
// delivered, and no arguments; a usc_hit is as it is recorded.
struct OrderedEvent : Event {
  LoggedStackNumber kernel_stack{};  // of LoggedStacks, which has `stack` and kernel frames; none: no kernel frames
  std::uint32_t signal = 0;          // of a usc_signal: by what number as_event has kept the rest of it
};

// One event with all that was recorded of it.
struct OrderedCall {
  std::span<const OrderedEvent> events;  // with the same task, entry and source, in no order; may be empty
  std::span<const usc_verify> verifies;  // of them
  std::span<const OrderedString> strings;
  std::span<const OrderedFutex> futexes;
};

class EventOrder {
 public:
  using Sink = std::function<Result<void>(const OrderedCall&)>;
  using Intern = std::function<Result<OrderedString>(const RawRecord&)>;
  using AsEvent = std::function<OrderedEvent(const RawRecord&)>;

  // `late` is what the first pass found; `reader` gives these items again. `intern` is asked for every usc_string,
  // once, `as_event` for every usc_logged, usc_signal and usc_hit, once.
  EventOrder(const RawReader& reader, std::vector<LateItem> late, Sink sink, Intern intern, AsEvent as_event);

  // The types that are put in order. Others are ignored by add().
  [[nodiscard]] static bool takes(std::uint16_t type) {
    return type == USC_RECORD_EVENT || type == USC_RECORD_VERIFY || type == USC_RECORD_STRING ||
           type == USC_RECORD_FUTEX || type == USC_RECORD_LOGGED || type == USC_RECORD_SIGNAL || type == USC_RECORD_HIT;
  }
  // Of such a record: when its call was entered.
  [[nodiscard]] static std::uint64_t entry_of(const RawRecord& record);

  // Takes a record of the second pass.
  Result<void> add(const RawRecord& record);
  Result<void> finish();

  // False where the window was too small and some event came after one that was entered later.
  [[nodiscard]] bool in_order() const { return in_order_; }

 private:
  static constexpr std::uint32_t kSourceShift = 28;
  static constexpr std::uint32_t kSourceBits = 0xfU << kSourceShift;
  static constexpr std::uint32_t kVerifyBit = 1U << 27;
  static constexpr std::uint32_t kStringBit = 1U << 26;
  static constexpr std::uint32_t kFutexBit = 1U << 25;
  static constexpr std::uint32_t kPlaceBits = kFutexBit - 1;
  static_assert(USC_SOURCE_COUNT <= 16 && USC_SOURCE_SYSCALL == 0, "sources have four bits in Key::place");

  // Sorted by entry, task, source, and place: events, futexes, strings, verify records. The last three are of calls;
  // strings may also be of a hit, whose source comes behind.
  struct Key {
    std::uint64_t entry_ns;
    TaskId task;
    std::uint32_t
        place;  // in events_, with the source in kSourceBits; or, with one bit, in verifies_, strings_, futexes_
    [[nodiscard]] bool same_event(const Key& other) const {
      return entry_ns == other.entry_ns && task == other.task && ((place ^ other.place) & kSourceBits) == 0;
    }
    bool operator<(const Key& other) const {
      if (entry_ns != other.entry_ns) return entry_ns < other.entry_ns;
      if (task != other.task) return task < other.task;
      return place < other.place;
    }
  };

  Result<void> hold(const RawRecord& record);
  Result<void> take_late(std::uint64_t before);
  Result<void> emit(std::uint64_t before);
  [[nodiscard]] std::size_t end_of_event(std::size_t first) const;
  Result<void> emit_call(std::size_t first, std::size_t last);
  void drop_emitted(std::size_t count);

  const RawReader& reader_;
  std::vector<LateItem> late_;
  std::size_t next_late_ = 0;
  std::size_t late_met_ = 0;
  Sink sink_;
  Intern intern_;
  AsEvent as_event_;
  EntryClock clock_;
  std::vector<OrderedEvent> events_;  // in places that are used again once they are given out
  std::vector<std::uint32_t> free_events_;
  std::vector<usc_verify> verifies_;
  std::vector<std::uint32_t> free_verifies_;
  std::vector<OrderedString> strings_;
  std::vector<std::uint32_t> free_strings_;
  std::vector<OrderedFutex> futexes_;
  std::vector<std::uint32_t> free_futexes_;
  std::vector<Key> keys_;
  std::size_t sorted_ = 0;  // of keys_, from its start
  std::vector<OrderedEvent> call_events_;
  std::vector<usc_verify> call_verifies_;
  std::vector<OrderedString> call_strings_;
  std::vector<OrderedFutex> call_futexes_;
  std::vector<std::byte> storage_;
  std::uint64_t last_entry_ = 0;
  bool in_order_ = true;
};

}  // namespace uscope::trace
