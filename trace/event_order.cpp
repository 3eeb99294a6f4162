// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Each processor's records come nearly in the order in which calls ended, and most calls are short, so the order of
// entry differs from the file's only locally: a window of kSlackNs is kept, sorted in batches, and given out once
// nothing earlier can come. Calls that took longer than the window are known from the first pass by entry and place (16
// bytes each) and are read again, one by one, when their turn comes. Records of one call (open, later returned;
// verified) have the same task and entry, so they meet here.
//
// Limits: more than kMostHeld events inside one window are given out early, and then order is lost (in_order() says so)
// and an open call may stand beside its return. So are late calls beyond LateItem::kMost (64 MiB of them).
#include "trace/event_order.h"

#include <algorithm>
#include <utility>

#include "trace/hit.h"

namespace uscope::trace {
namespace {

constexpr std::size_t kBatch = 1U << 16;
constexpr std::size_t kMostHeld = 3U << 17;  // 51 MiB of events and keys

OrderedFutex futex_of(const RawRecord& record) {
  const auto futex = record.as<usc_futex>();
  OrderedFutex out{.time = futex.head.time,
                   .address = futex.address,
                   .timeout = futex.timeout,
                   .dev = futex.dev,
                   .ino = futex.ino,
                   .offset = futex.offset,
                   .words_from = futex.words_from,
                   .op = futex.op,
                   .expected = futex.expected,
                   .mm = MmId(futex.mm),
                   .untraced_sharers = futex.untraced_sharers,
                   .futexes = futex.futexes,
                   .key = futex.key,
                   .flags = futex.flags,
                   .bytes = futex.bytes};
  const std::string_view words = record.data<usc_futex>(0, out.bytes);
  std::copy(words.begin(), words.end(), out.words.begin());
  return out;
}

}  // namespace

std::uint64_t EventOrder::entry_of(const RawRecord& record) {
  switch (record.head.type) {
    case USC_RECORD_EVENT:
      return record.as<usc_event>().entry_ns;
    case USC_RECORD_VERIFY:
      return record.as<usc_verify>().entry_ns;
    case USC_RECORD_FUTEX:
      return record.as<usc_futex>().entry_ns;
    case USC_RECORD_HIT:
      return record.as<usc_hit>().entry_ns;
    case USC_RECORD_LOGGED:
    case USC_RECORD_SIGNAL:
      return record.head.time;
    default:
      return record.as<usc_string>().entry_ns;
  }
}

EventOrder::EventOrder(const RawReader& reader, std::vector<LateItem> late, Sink sink, Intern intern, AsEvent as_event)
    : reader_(reader),
      late_(std::move(late)),
      sink_(std::move(sink)),
      intern_(std::move(intern)),
      as_event_(std::move(as_event)) {
  std::sort(late_.begin(), late_.end(), [](const LateItem& a, const LateItem& b) {
    return a.entry_ns != b.entry_ns ? a.entry_ns < b.entry_ns : a.offset < b.offset;
  });
}

Result<void> EventOrder::add(const RawRecord& record) {
  if (!takes(record.head.type)) return {};
  if (clock_.is_late(entry_of(record), record.head.time) && late_met_++ < late_.size()) return {};
  if (auto done = hold(record); !done) return done;
  if (keys_.size() - sorted_ < kBatch) return {};
  if (auto done = emit(clock_.settled()); !done) return done;
  if (keys_.size() <= kMostHeld) return {};
  return emit(keys_[keys_.size() / 2].entry_ns + 1);
}

Result<void> EventOrder::finish() {
  return emit(~std::uint64_t{0});
}

Result<void> EventOrder::hold(const RawRecord& record) {
  const auto put = [](auto& items, auto& free, const auto& item) {
    if (free.empty()) {
      items.push_back(item);
      return static_cast<std::uint32_t>(items.size() - 1);
    }
    const std::uint32_t place = free.back();
    free.pop_back();
    items[place] = item;
    return place;
  };
  const auto hold_event = [&](const OrderedEvent& event) {
    const std::uint32_t place = put(events_, free_events_, event);
    keys_.push_back({event.entry_ns, TaskId(event.head.task), place | std::uint32_t{event.source} << kSourceShift});
  };
  static_assert(kPlaceBits > LateItem::kMost + kMostHeld + kBatch, "as many may be held at once");
  if (record.head.type == USC_RECORD_EVENT) {
    hold_event({trace::Event(record.as<usc_event>())});
  } else if (record.head.type == USC_RECORD_LOGGED || record.head.type == USC_RECORD_SIGNAL ||
             record.head.type == USC_RECORD_HIT) {
    hold_event(as_event_(record));
  } else if (record.head.type == USC_RECORD_STRING) {
    const auto string = intern_(record);
    if (!string) return string.error();
    keys_.push_back({entry_of(record), TaskId(record.head.task), put(strings_, free_strings_, *string) | kStringBit});
  } else if (record.head.type == USC_RECORD_FUTEX) {
    keys_.push_back(
        {entry_of(record), TaskId(record.head.task), put(futexes_, free_futexes_, futex_of(record)) | kFutexBit});
  } else {
    const auto verify = record.as<usc_verify>();
    keys_.push_back({verify.entry_ns, TaskId(verify.head.task), put(verifies_, free_verifies_, verify) | kVerifyBit});
  }
  return {};
}

// Holds the late items whose entry is before `before`.
Result<void> EventOrder::take_late(std::uint64_t before) {
  for (; next_late_ < late_.size() && (late_[next_late_].entry_ns < before || before == ~std::uint64_t{0});
       next_late_++) {
    auto record = reader_.at(late_[next_late_].offset, storage_);
    if (!record) return record.error();
    if (auto done = hold(*record); !done) return done;
  }
  return {};
}

// Gives out every call that was entered before `before`; with the largest number, all.
Result<void> EventOrder::emit(std::uint64_t before) {
  const bool all = before == ~std::uint64_t{0};
  // Late items are many when a trace is long: no more than a batch of them is in memory at a time.
  while (next_late_ + kBatch < late_.size() && late_[next_late_ + kBatch].entry_ns < before) {
    const std::uint64_t step = late_[next_late_ + kBatch].entry_ns;
    if (step <= late_[next_late_].entry_ns) break;
    if (auto done = emit(step); !done) return done;
  }
  if (auto done = take_late(before); !done) return done;
  std::sort(keys_.begin() + static_cast<std::ptrdiff_t>(sorted_), keys_.end());
  std::inplace_merge(keys_.begin(), keys_.begin() + static_cast<std::ptrdiff_t>(sorted_), keys_.end());
  std::size_t first = 0;
  while (first < keys_.size() && (all || keys_[first].entry_ns < before)) {
    const std::size_t last = end_of_event(first);
    if (auto done = emit_call(first, last); !done) return done;
    first = last;
  }
  drop_emitted(first);
  return {};
}

// Where the next event begins. Strings do not tell their source: those that no call has are of a hit in that moment.
std::size_t EventOrder::end_of_event(std::size_t first) const {
  const auto end = [this](std::size_t from) {
    std::size_t last = from + 1;
    while (last < keys_.size() && keys_[last].same_event(keys_[from])) last++;
    return last;
  };
  const std::size_t last = end(first);
  const bool strings_alone = (keys_[first].place & (kSourceBits | kStringBit)) == kStringBit;
  if (!strings_alone || last == keys_.size()) return last;
  const Key& next = keys_[last];
  const bool same_moment = next.entry_ns == keys_[first].entry_ns && next.task == keys_[first].task;
  return same_moment && is_of_probes(next.place >> kSourceShift) ? end(last) : last;
}

Result<void> EventOrder::emit_call(std::size_t first, std::size_t last) {
  if (keys_[first].entry_ns < last_entry_) in_order_ = false;
  last_entry_ = std::max(last_entry_, keys_[first].entry_ns);
  if (last == first + 1 && (keys_[first].place & (kVerifyBit | kStringBit | kFutexBit)) == 0)
    return sink_({std::span(&events_[keys_[first].place & kPlaceBits], 1), {}, {}, {}});
  call_events_.clear();
  call_verifies_.clear();
  call_strings_.clear();
  call_futexes_.clear();
  for (std::size_t i = first; i < last; i++) {
    const std::uint32_t place = keys_[i].place;
    if (place & kVerifyBit) {
      call_verifies_.push_back(verifies_[place & kPlaceBits]);
    } else if (place & kStringBit) {
      call_strings_.push_back(strings_[place & kPlaceBits]);
    } else if (place & kFutexBit) {
      call_futexes_.push_back(futexes_[place & kPlaceBits]);
    } else {
      call_events_.push_back(events_[place & kPlaceBits]);
    }
  }
  return sink_({call_events_, call_verifies_, call_strings_, call_futexes_});
}

void EventOrder::drop_emitted(std::size_t count) {
  for (std::size_t i = 0; i < count; i++) {
    const std::uint32_t place = keys_[i].place;
    if (place & kVerifyBit) {
      free_verifies_.push_back(place & kPlaceBits);
    } else if (place & kStringBit) {
      free_strings_.push_back(place & kPlaceBits);
    } else if (place & kFutexBit) {
      free_futexes_.push_back(place & kPlaceBits);
    } else {
      free_events_.push_back(place & kPlaceBits);
    }
  }
  keys_.erase(keys_.begin(), keys_.begin() + static_cast<std::ptrdiff_t>(count));
  sorted_ = keys_.size();
}

}  // namespace uscope::trace
