// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// glibc's pthread_mutex_t behind a futex word, as it lies on x86-64: lock, count, owner, users, kind
// (sysdeps/nptl/bits/struct_mutex.h; unchanged from 2.17 to 2.41).
#pragma once

#include <cstdint>
#include <optional>

#include "analyzer/deadlock/futex_wait.h"

namespace uscope::analyzer {

struct GlibcMutex {
  std::uint32_t lock = 0;
  std::uint32_t owner = 0;  // tid, 0 = no owner
  std::uint32_t users = 0;
  std::uint32_t kind = 0;

  [[nodiscard]] bool is_robust() const { return (kind & 0x10) != 0; }

  // Whether pthread_mutex_unlock checks that the caller is the owner: recursive, error-checking, robust and PI mutexes
  // do. Any thread can unlock a normal or adaptive mutex, and programs that use one as a semaphore do so.
  [[nodiscard]] bool asks_who_unlocks() const {
    const std::uint32_t type = kind & 3;
    return type == 1 || type == 2 || (kind & 0x30) != 0;
  }
};

// Returns nullopt if the words around the address are unknown, or if they cannot be a mutex because `kind` has bits
// that no kind uses.
inline std::optional<GlibcMutex> glibc_mutex_at(const FutexWait& wait) {
  constexpr std::uint32_t kKindBits = 0x3ff;
  const auto lock = wait.word(0);
  const auto owner = wait.word(8);
  const auto users = wait.word(12);
  const auto kind = wait.word(16);
  if (!lock || !owner || !users || !kind || (*kind & ~kKindBits) != 0) return std::nullopt;
  return GlibcMutex{*lock, *owner, *users, *kind};
}

}  // namespace uscope::analyzer
