// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A user number for a process that nobody else may signal, trace, renice or limit. The kernel lets every process of a
// user do that to the others of that user, so the number must be one that no other process has or can get.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/result.h"

namespace uscope {

// Numbers of users or groups, from `first` on, `end` excluded.
struct IdRange {
  std::uint64_t first = 0;
  std::uint64_t end = 0;
  bool operator==(const IdRange&) const = default;
};

// The ranges of a user namespace's map (/proc/PID/uid_map, gid_map): numbers inside of it, and those that they stand
// for outside.
struct IdMap {
  std::vector<IdRange> inside;
  std::vector<IdRange> outside;
};
[[nodiscard]] IdMap parse_id_map(const std::string& text);

// The numbers in the lines Uid, Gid and Groups of a process's status: real, effective, saved and file system's.
[[nodiscard]] std::vector<IdRange> ids_in_status(const std::string& status);

// The ranges that /etc/subuid and /etc/subgid give to users for their containers.
[[nodiscard]] std::vector<IdRange> ids_given_away(const std::string& text);

// Where a number may be drawn that is `mapped`, and not `taken`: the best ranges that leave anything. These are the
// upper half of the numbers, which no system hands out (systemd.io, "Users, groups, UIDs and GIDs on systemd systems");
// in a user namespace that lacks them, those above 65535, and then all but root's and nobody's.
[[nodiscard]] std::vector<IdRange> free_ids(std::vector<IdRange> mapped, std::vector<IdRange> taken);

// Draws, at random, a number that is free as user and as group: no process that this one sees has it or can take it in
// a user namespace of its own, nor is it given to a user for containers. Reads /proc.
[[nodiscard]] Result<std::uint32_t> draw_own_user();

}  // namespace uscope
