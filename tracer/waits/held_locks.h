// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Locks of files, and who used System V objects last, as records of a look. Asking has no effect on any of them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "uscope/record.h"

namespace uscope::tracer {

// The lines of /proc/locks.
[[nodiscard]] std::vector<usc_held_lock> read_locks();

// An operation of semop.
struct SemaphoreChange {
  std::uint16_t number = 0;
  std::int16_t by = 0;
};

// Who changed the semaphores of a set last; and `waiter`, for each of those that keep it waiting. Of uscope's own IPC
// namespace. Nothing: it cannot be asked.
[[nodiscard]] std::optional<std::vector<usc_held_lock>> semaphore_users(int id, std::uint32_t waiter,
                                                                        const std::vector<SemaphoreChange>& changes);

// Who sent to a message queue last (id 0), and who received last (id 1). The same.
[[nodiscard]] std::optional<std::vector<usc_held_lock>> message_users(int id);

}  // namespace uscope::tracer
