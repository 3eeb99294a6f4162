// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The owner of a lock that a thread waits for, read from the words around the futex.
#pragma once

#include <cstdint>
#include <optional>

#include "analyzer/deadlock/futex_wait.h"
#include "analyzer/deadlock/primitive.h"

namespace uscope::analyzer {

// The owner's tid as the program knows it, in its innermost pid namespace. Returns nullopt if the words do not show an
// owner.
//
//   glibc mutex      lock 0, owner 8 (set after locking, cleared before unlocking), nusers 12, kind 16
//   robust, PI       the lock word's low 30 bits (the kernel's rule)
//   glibc rwlock     readers 0, wrphase_futex 8, writers_futex 12, cur_writer 24; a writer only while it holds the lock
//   join             the futex is the joined thread's tid (glibc), or lies 8 bytes after it (musl)
//   musl mutex       type -4, lock 0: a tid unless the type is normal
//
// Sources: glibc 2.36 sysdeps/nptl/bits/struct_mutex.h, struct_rwlock.h, nptl/pthread_join_common.c; musl 1.2.3
// src/internal/pthread_impl.h, src/thread/pthread_mutex_timedlock.c.
[[nodiscard]] std::optional<std::uint32_t> owner_of(const FutexWait& wait, const Classified& what);

// Whether a thread other than the owner may unlock it: glibc does not check the owner of a normal mutex. (musl's normal
// mutexes record no owner.)
[[nodiscard]] bool others_may_unlock(const FutexWait& wait, const Classified& what);

// The address by which the program knows the lock, which is not always that of the futex (glibc's rwlock).
[[nodiscard]] std::uint64_t lock_address(const FutexWait& wait, const Classified& what);

}  // namespace uscope::analyzer
