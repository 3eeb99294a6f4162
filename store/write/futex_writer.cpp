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

// Words as bytes; NULL where there are none.
void bind_words(sqlite3_stmt* row, int words_parameter, int from_parameter, const trace::OrderedFutex* futex) {
  if (futex == nullptr || futex->bytes == 0) {
    sqlite3_bind_null(row, words_parameter);
    sqlite3_bind_null(row, from_parameter);
    return;
  }
  sqlite3_bind_blob(row, words_parameter, futex->words.data(), futex->bytes, SQLITE_TRANSIENT);
  sqlite3_bind_int64(row, from_parameter, static_cast<std::int64_t>(futex->words_from));
}

void bind_key(sqlite3_stmt* row, int parameter, const trace::OrderedFutex& futex) {
  const auto key = futex_key_text(futex);
  if (key)
    sqlite3_bind_text(row, parameter, key->data(), static_cast<int>(key->size()), SQLITE_TRANSIENT);
  else
    sqlite3_bind_null(row, parameter);
}

}  // namespace

std::optional<std::string> futex_key_text(const trace::OrderedFutex& futex) {
  if (futex.key == USC_FUTEX_PRIVATE) return fmt::format("mm:{}:{:#x}", futex.mm.value(), futex.address);
  if (futex.key == USC_FUTEX_SHARED) return fmt::format("file:{}:{}:{:#x}", futex.dev, futex.ino, futex.offset);
  return std::nullopt;
}

Result<void> FutexWriter::prepare() {
  // A damaged trace may describe one call twice: the first record counts.
  auto wait = database_.prepare(
      "INSERT OR IGNORE INTO futex_wait VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)");
  if (!wait) return wait.error();
  insert_wait_.emplace(std::move(*wait));
  auto wake = database_.prepare("INSERT OR IGNORE INTO futex_wake VALUES(?1, ?2, ?3, ?4)");
  if (!wake) return wake.error();
  insert_wake_.emplace(std::move(*wake));
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
  const auto timeout = time_left(wait, entry_ns);
  sqlite3_stmt* row = insert_wait_->handle();
  sqlite3_bind_int64(row, 1, event_id.value());
  sqlite3_bind_int64(row, 2, static_cast<std::int64_t>(wait.address));
  sqlite3_bind_int64(row, 3, wait.op);
  sqlite3_bind_int64(row, 4, wait.expected);
  timeout ? sqlite3_bind_int64(row, 5, *timeout) : sqlite3_bind_null(row, 5);
  bind_words(row, 6, 9, entered);
  bind_words(row, 7, 10, seen);
  // Mappings that were locked at its entry may have been found later.
  bind_key(row, 8, wait.key == USC_FUTEX_UNKNOWN && seen != nullptr ? *seen : wait);
  seen ? sqlite3_bind_int(row, 11, (seen->flags & USC_FUTEX_ASLEEP) != 0) : sqlite3_bind_null(row, 11);
  seen && seen->untraced_sharers != USC_FUTEX_SHARERS_UNKNOWN ? sqlite3_bind_int64(row, 12, seen->untraced_sharers)
                                                              : sqlite3_bind_null(row, 12);
  sqlite3_bind_int64(row, 13, wait.futexes);
  seen ? sqlite3_bind_int(row, 14, (seen->flags & USC_FUTEX_HANDLERS) != 0) : sqlite3_bind_null(row, 14);
  // Of what is one process's alone only those who share its address space can come, and they are counted.
  seen && seen->key == USC_FUTEX_SHARED ? sqlite3_bind_int(row, 15, (seen->flags & USC_FUTEX_OPEN) != 0)
                                        : sqlite3_bind_null(row, 15);
  if (sqlite3_step(row) != SQLITE_DONE) return insert_wait_->failure();
  sqlite3_reset(row);
  return {};
}

Result<void> FutexWriter::write_wake(EventRowId event_id, const trace::OrderedFutex& wake) {
  sqlite3_stmt* row = insert_wake_->handle();
  sqlite3_bind_int64(row, 1, event_id.value());
  sqlite3_bind_int64(row, 2, static_cast<std::int64_t>(wake.address));
  sqlite3_bind_int64(row, 3, wake.expected);
  bind_key(row, 4, wake);
  if (sqlite3_step(row) != SQLITE_DONE) return insert_wake_->failure();
  sqlite3_reset(row);
  return {};
}

}  // namespace uscope::store
