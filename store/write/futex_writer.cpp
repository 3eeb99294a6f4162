// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "store/write/futex_writer.h"

#include <fmt/core.h>

#include <limits>
#include <utility>

#include "support/text.h"
#include "uscope/futex.h"

namespace uscope::store {
namespace {

constexpr __int128 kMost = std::numeric_limits<std::int64_t>::max();

// Words as bytes; nothing where there are none.
std::optional<Blob> words_of(const trace::OrderedFutex* futex) {
  if (futex == nullptr || futex->bytes == 0) return std::nullopt;
  return Blob{{futex->words.data(), futex->bytes}};
}

std::optional<std::uint64_t> words_from(const trace::OrderedFutex* futex) {
  return futex == nullptr || futex->bytes == 0 ? std::nullopt : std::optional(futex->words_from);
}

}  // namespace

std::optional<std::string> futex_key_text(const trace::OrderedFutex& futex) {
  if (futex.key == USC_FUTEX_PRIVATE) return fmt::format("mm:{}:{:#x}", futex.mm.value(), futex.address);
  if (futex.key == USC_FUTEX_SHARED) return fmt::format("file:{}:{}:{:#x}", futex.dev, futex.ino, futex.offset);
  return std::nullopt;
}

Result<void> FutexWriter::prepare() {
  // A damaged trace may describe one call twice: the first record counts.
  auto waits = database_.rows("futex_wait", 15, OnConflict::kIgnore);
  if (!waits) return waits.error();
  wait_rows_ = std::move(*waits);
  auto wakes = database_.rows("futex_wake", 4, OnConflict::kIgnore);
  if (!wakes) return wakes.error();
  wake_rows_ = std::move(*wakes);
  return {};
}

Result<void> FutexWriter::write(EventRowId event_id, const usc_event& event,
                                std::span<const trace::OrderedFutex> futexes) {
  const trace::OrderedFutex* entered = nullptr;
  const trace::OrderedFutex* seen = nullptr;
  for (const trace::OrderedFutex& futex : futexes) {
    if ((futex.flags & USC_FUTEX_WAKE) != 0) return write_wake(event_id, futex);
    const bool later = (futex.flags & USC_FUTEX_AT_STOP) != 0;
    if (!later && entered == nullptr) entered = &futex;
    if (later && (seen == nullptr || futex.time >= seen->time)) seen = &futex;
  }
  if (event.how == USC_HOW_RETURNED && entered != nullptr) seen = nullptr;
  if (entered == nullptr && seen == nullptr) return {};
  return write_wait(event_id, event.entry_ns, entered, seen);
}

std::optional<std::int64_t> FutexWriter::time_left(const trace::OrderedFutex& wait, std::uint64_t entry_ns) const {
  if (wait.timeout == USC_FUTEX_NO_TIMEOUT) return std::nullopt;
  __int128 left = wait.timeout;
  if ((wait.flags & USC_FUTEX_ABSOLUTE) != 0) {
    left -= entry_ns;
    const bool real = (wait.op & USC_FUTEX_OP_REALTIME) != 0 || usc_futex_command(wait.op) == USC_FUTEX_OP_LOCK_PI;
    if (real) left -= utc_offset_ns_;
  }
  if (left < 0) left = 0;
  return static_cast<std::int64_t>(left < kMost ? left : kMost);
}

Result<void> FutexWriter::write_wait(EventRowId event_id, std::uint64_t entry_ns, const trace::OrderedFutex* entered,
                                     const trace::OrderedFutex* seen) {
  const trace::OrderedFutex& wait = entered != nullptr ? *entered : *seen;
  // Mappings that were locked at its entry may have been found later.
  const bool is_found_later = wait.key == USC_FUTEX_UNKNOWN && seen != nullptr;
  const auto if_seen = [seen](auto value) { return seen != nullptr ? std::optional(value(*seen)) : std::nullopt; };
  const auto has = [](std::uint8_t flag) {
    return [flag](const trace::OrderedFutex& futex) { return (futex.flags & flag) != 0; };
  };
  const bool is_counted = seen != nullptr && seen->untraced_sharers != USC_FUTEX_SHARERS_UNKNOWN;
  // Only processes that share its address space can reach memory that belongs to one process. They are counted.
  const bool is_shared = seen != nullptr && seen->key == USC_FUTEX_SHARED;
  return wait_rows_->add(event_id, wait.address, wait.op, wait.expected, time_left(wait, entry_ns), words_of(entered),
                         words_of(seen), futex_key_text(is_found_later ? *seen : wait), words_from(entered),
                         words_from(seen), if_seen(has(USC_FUTEX_ASLEEP)),
                         is_counted ? std::optional(seen->untraced_sharers) : std::nullopt, wait.futexes,
                         if_seen(has(USC_FUTEX_HANDLERS)), is_shared ? if_seen(has(USC_FUTEX_OPEN)) : std::nullopt);
}

Result<void> FutexWriter::write_wake(EventRowId event_id, const trace::OrderedFutex& wake) {
  return wake_rows_->add(event_id, wake.address, wake.expected, futex_key_text(wake));
}

}  // namespace uscope::store
