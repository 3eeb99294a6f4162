// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "support/sandbox/landlock.h"

#include <linux/landlock.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "support/unique_fd.h"

namespace uscope {
namespace {

// A right that is missing in Debian 12's headers: include/uapi/linux/landlock.h of Linux 6.2.
constexpr std::uint64_t kAccessTruncate = 1ull << 14;
constexpr int kAbiRefer = 2;
constexpr int kAbiTruncate = 3;

constexpr std::uint64_t kWriting = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                                   LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                                   LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                                   LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                                   LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;
constexpr std::uint64_t kReading =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;

Result<void> enter(std::uint64_t rights, const std::vector<int>& folders) {
  const long abi = syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (abi < 1) return {};  // this kernel has no Landlock
  landlock_ruleset_attr rules{};
  rules.handled_access_fs = rights;
  if (abi >= kAbiRefer) rules.handled_access_fs |= LANDLOCK_ACCESS_FS_REFER;
  if (abi >= kAbiTruncate) rules.handled_access_fs |= kAccessTruncate;
  const UniqueFd ruleset(static_cast<int>(syscall(SYS_landlock_create_ruleset, &rules, sizeof(rules), 0)));
  if (!ruleset) return errno_error("cannot make a Landlock ruleset", errno);
  for (const int folder : folders) {
    landlock_path_beneath_attr below{};
    below.allowed_access = rules.handled_access_fs;
    below.parent_fd = folder;
    if (syscall(SYS_landlock_add_rule, ruleset.get(), LANDLOCK_RULE_PATH_BENEATH, &below, 0) != 0)
      return errno_error("cannot add a folder to the Landlock ruleset", errno);
  }
  if (syscall(SYS_landlock_restrict_self, ruleset.get(), 0) != 0)
    return errno_error("cannot enter the Landlock ruleset", errno);
  return {};
}

}  // namespace

Result<void> limit_writing(const std::vector<int>& folders) {
  return enter(kWriting, folders);
}

Result<void> leave_file_systems() {
  return enter(kWriting | kReading, {});
}

}  // namespace uscope
