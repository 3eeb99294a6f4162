// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The user of `record -u USER`: what a process has to leave behind to become that user. Its session and its terminal
// are tracer/process/command_session.h's.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "support/result.h"

namespace uscope::tracer {

struct UserIds {
  uid_t uid = 0;
  gid_t gid = 0;
  std::string name;
  std::string home;
  std::string shell;
};

// By name, or by a number of the user database.
[[nodiscard]] Result<UserIds> look_up_user(const std::string& user);

// The environment of a login of this user, NAME=VALUE: HOME, SHELL, USER, LOGNAME and a PATH of the system's; of
// `before` only what says which terminal and language there is (TERM, COLORTERM, NO_COLOR, LANG, LANGUAGE, LC_*).
// `keep`: all of `before`, with HOME, SHELL, USER and LOGNAME of the user.
[[nodiscard]] std::vector<std::string> environment_of(const UserIds& user, const char* const* before, bool keep);

// Becomes the user for good, in a forked child: user, groups, no capability that an exec passes on, a session keyring
// of its own with the user's own keys, and no descriptor but 0, 1 and 2 after the exec. Returns false, with errno, if
// any of it fails.
[[nodiscard]] bool become(const UserIds& user);

}  // namespace uscope::tracer
