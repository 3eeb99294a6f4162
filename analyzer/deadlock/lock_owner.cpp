// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/deadlock/lock_owner.h"

#include "analyzer/deadlock/glibc_mutex.h"

namespace uscope::analyzer {
namespace {

using Owner = std::optional<std::uint32_t>;

Owner tid_or_none(std::uint32_t value) {
  if (value == 0 || value > kFutexTid) return std::nullopt;
  return value;
}

bool is_pi(const FutexWait& wait) {
  return wait.command() == kFutexLockPi || wait.command() == kFutexLockPi2;
}

// The lock word of a robust mutex names the owner, and once the owner has died only the kernel's value there counts.
Owner glibc_mutex(const FutexWait& wait) {
  const auto lock = wait.word(0);
  if (!lock || *lock == 0) return std::nullopt;
  if (is_pi(wait)) return tid_or_none(*lock & kFutexTid);
  const auto mutex = glibc_mutex_at(wait);
  if (!mutex) return std::nullopt;
  if (mutex->is_robust()) return tid_or_none(mutex->lock & kFutexTid);
  if (mutex->users == 0) return std::nullopt;
  return tid_or_none(mutex->owner);
}

Owner musl_mutex(const FutexWait& wait) {
  constexpr std::uint32_t kTypeBits = 15;  // none of them set: the normal type, without a tid in the lock
  const auto lock = wait.word(0);
  const auto type = wait.word(-4);
  if (is_pi(wait)) return lock ? tid_or_none(*lock & kFutexTid) : std::nullopt;
  if (!lock || !type || (*type & ~(kTypeBits | kFutexPrivate)) != 0 || (*type & kTypeBits) == 0) return std::nullopt;
  return tid_or_none(*lock & kFutexTid);
}

// Finds which of a rwlock's futexes this is: a reader waits for the write phase to end (value 3, at 8) or, if writers
// have priority, at 0; a writer waits for its turn among writers (3, at 12) or for the readers to leave (2, at 8).
std::int64_t rwlock_offset(const FutexWait& wait, const Classified& what) {
  constexpr std::uint32_t kUsedAndSet = 3;
  constexpr std::int64_t kWrphase = 8;
  constexpr std::int64_t kWriters = 12;
  const bool writes = what.api.find("wrlock") != std::string::npos;
  if (writes) return wait.expected == kUsedAndSet ? kWriters : kWrphase;
  return wait.expected == kUsedAndSet ? kWrphase : 0;
}

Owner glibc_rwlock(const FutexWait& wait, const Classified& what) {
  constexpr std::uint32_t kWriteLocked = 3;  // write phase, and a writer
  constexpr std::int64_t kWriter = 24;
  const std::int64_t base = -rwlock_offset(wait, what);
  const auto readers = wait.word(base);
  const auto writer = wait.word(base + kWriter);
  if (!readers || !writer || (*readers & kWriteLocked) != kWriteLocked) return std::nullopt;
  return tid_or_none(*writer);
}

// Finds which word of a glibc condition variable this is. Waiters sleep at the signals of one of two groups (40, 44;
// with 2.41's layout, too); who signals waits for a group to become empty (16, 20) or for the inner lock (32); who
// destroys it for the number of waiters (36).
std::int64_t condition_offset(const FutexWait& wait, const Classified& what) {
  constexpr std::int64_t kReferences = 16;
  constexpr std::int64_t kInnerLock = 32;
  constexpr std::int64_t kWaiters = 36;
  constexpr std::int64_t kSignals = 40;
  const bool is_second = (wait.address & 4) != 0;
  if (what.api.find("destroy") != std::string::npos) return kWaiters;
  if (!what.leaves) return is_second ? kSignals + 4 : kSignals;
  if (is_second) return kReferences + 4;
  return (wait.expected & 1) != 0 ? kReferences : kInnerLock;
}

// The tid of the joined thread, which is there as long as it lives.
Owner joined(const FutexWait& wait, Library library) {
  constexpr std::int64_t kMuslTid = -8;
  if (library == Library::kMusl) {
    const auto tid = wait.word(kMuslTid);
    return tid ? tid_or_none(*tid) : std::nullopt;
  }
  if (wait.word(0) && wait.word(0) != wait.expected) return std::nullopt;
  return tid_or_none(wait.expected);
}

}  // namespace

Owner owner_of(const FutexWait& wait, const Classified& what) {
  if (what.library == Library::kOther) return std::nullopt;
  const bool musl = what.library == Library::kMusl;
  switch (what.primitive) {
    case Primitive::kMutex:
      return musl ? musl_mutex(wait) : glibc_mutex(wait);
    case Primitive::kRwlock:
      return musl ? std::nullopt : glibc_rwlock(wait, what);
    case Primitive::kJoin:
      return joined(wait, what.library);
    default:
      return std::nullopt;
  }
}

bool others_may_unlock(const FutexWait& wait, const Classified& what) {
  if (what.primitive != Primitive::kMutex || what.library != Library::kGlibc || is_pi(wait)) return false;
  const auto mutex = glibc_mutex_at(wait);
  return mutex && !mutex->asks_who_unlocks();
}

std::uint64_t lock_address(const FutexWait& wait, const Classified& what) {
  if (what.library == Library::kMusl && what.primitive == Primitive::kMutex) return wait.address - 4;
  if (what.at_parker) return 0;
  // Writers sleep at a word of their own, behind the state.
  if (what.primitive == Primitive::kRustRwlock && what.api.find("write_contended") != std::string::npos)
    return wait.address - 4;
  if (what.library == Library::kGlibc && what.primitive == Primitive::kConditionVariable)
    return wait.address - static_cast<std::uint64_t>(condition_offset(wait, what));
  if (what.library != Library::kGlibc || what.primitive != Primitive::kRwlock) return wait.address;
  return wait.address - static_cast<std::uint64_t>(rwlock_offset(wait, what));
}

}  // namespace uscope::analyzer
