// Who holds what a thread waits for, as the words around the futex say it.
#pragma once

#include <cstdint>
#include <optional>

#include "analyzer/deadlock/futex_wait.h"
#include "analyzer/deadlock/primitive.h"

namespace uscope::analyzer {

// The owner's tid as the program knows it, that is in its innermost pid namespace; none where the words do not say.
//
//   glibc mutex      lock 0, owner 8 (set once it has the lock, cleared before it lets go), nusers 12, kind 16
//   robust, PI       the lock word's low 30 bits (the kernel's rule)
//   glibc rwlock     readers 0, wrphase_futex 8, writers_futex 12, cur_writer 24; a writer only while it has the lock
//   join             the futex is the joined thread's tid (glibc), or lies 8 bytes behind it (musl)
//   musl mutex       type -4, lock 0: a tid but for the normal type
//
// Sources: glibc 2.36 sysdeps/nptl/bits/struct_mutex.h, struct_rwlock.h, nptl/pthread_join_common.c; musl 1.2.3
// src/internal/pthread_impl.h, src/thread/pthread_mutex_timedlock.c.
[[nodiscard]] std::optional<std::uint32_t> owner_of(const FutexWait& wait, const Classified& what);

// Whether another thread than its owner may unlock it: glibc's normal mutexes do not ask. (musl's normal mutexes name
// no owner.)
[[nodiscard]] bool others_may_unlock(const FutexWait& wait, const Classified& what);

// The address by which the program knows the lock, where it is not that of the futex (a glibc rwlock).
[[nodiscard]] std::uint64_t lock_address(const FutexWait& wait, const Classified& what);

}  // namespace uscope::analyzer
