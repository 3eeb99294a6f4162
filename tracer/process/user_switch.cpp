// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/process/user_switch.h"

#include <grp.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/keyctl.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <string_view>

namespace uscope::tracer {
namespace {

constexpr std::array<std::string_view, 5> kKept{"TERM", "COLORTERM", "NO_COLOR", "LANG", "LANGUAGE"};
constexpr std::array<std::string_view, 4> kOfUser{"HOME", "SHELL", "USER", "LOGNAME"};

// A container's filter may refuse all calls for keys: then its processes reach no keys by what they inherit either.
bool join_own_keyring() {
  if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr) < 0) {
    const int number = errno;
    const bool has_keys = syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0) >= 0;
    errno = number;
    return !has_keys && (number == ENOSYS || number == EPERM || number == EACCES || number == EOPNOTSUPP);
  }
  // As a login does (pam_keyinit); without it the user's own keys are not found.
  (void)syscall(SYS_keyctl, KEYCTL_LINK, KEY_SPEC_USER_KEYRING, KEY_SPEC_SESSION_KEYRING);
  return true;
}

// An exec passes on what is ambient or inheritable, whoever the user is.
bool drop_inherited_capabilities() {
  __user_cap_header_struct header{};
  header.version = _LINUX_CAPABILITY_VERSION_3;
  std::array<__user_cap_data_struct, 2> data{};
  if (syscall(SYS_capget, &header, data.data()) != 0) return false;
  for (__user_cap_data_struct& half : data) half.inheritable = 0;
  (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  return syscall(SYS_capset, &header, data.data()) == 0;
}

}  // namespace

Result<UserIds> look_up_user(const std::string& user) {
  const passwd* entry = getpwnam(user.c_str());
  if (entry == nullptr && !user.empty() && user.find_first_not_of("0123456789") == std::string::npos)
    entry = getpwuid(static_cast<uid_t>(std::strtoul(user.c_str(), nullptr, 10)));
  if (entry == nullptr) return Error{"no such user: " + user, "-u takes a name or a number of the user database"};
  const std::string shell = entry->pw_shell;
  return UserIds{entry->pw_uid, entry->pw_gid, entry->pw_name, entry->pw_dir, shell.empty() ? "/bin/sh" : shell};
}

std::vector<std::string> environment_of(const UserIds& user, const char* const* before, bool keep) {
  std::vector<std::string> out;
  for (const char* const* at = before; *at != nullptr; at++) {
    const std::string_view entry(*at);
    const std::string_view name = entry.substr(0, entry.find('='));
    const bool is_users = std::find(kOfUser.begin(), kOfUser.end(), name) != kOfUser.end();
    const bool is_plain = std::find(kKept.begin(), kKept.end(), name) != kKept.end() || name.starts_with("LC_");
    if (!is_users && (keep || is_plain)) out.emplace_back(entry);
  }
  out.push_back("HOME=" + user.home);
  out.push_back("SHELL=" + user.shell);
  out.push_back("USER=" + user.name);
  out.push_back("LOGNAME=" + user.name);
  if (!keep)
    out.emplace_back(user.uid == 0 ? "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
                                   : "PATH=/usr/local/bin:/usr/bin:/bin");
  return out;
}

bool become(const UserIds& user) {
  if (initgroups(user.name.c_str(), user.gid) != 0 || setresgid(user.gid, user.gid, user.gid) != 0 ||
      setresuid(user.uid, user.uid, user.uid) != 0)
    return false;
  if (!drop_inherited_capabilities() || !join_own_keyring()) return false;
  // The caller still needs its own until the exec.
  return syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC) == 0;
}

}  // namespace uscope::tracer
