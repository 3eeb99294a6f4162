// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/session/output_owner.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "support/end_signals.h"
#include "support/process/inherited.h"

namespace uscope::cli {
namespace {

void give_away(int file, uid_t uid, gid_t gid) {
  struct stat status {};
  if (file < 0 || fstat(file, &status) != 0) return;
  const bool ours = S_ISDIR(status.st_mode) || (S_ISREG(status.st_mode) && status.st_nlink == 1);
  if (!ours || status.st_uid != 0) return;
  (void)!fchown(file, uid, gid);
}

}  // namespace

OutputOwner::OutputOwner(const std::vector<int>& files) {
  const char* uid = std::getenv("SUDO_UID");
  const char* gid = std::getenv("SUDO_GID");
  std::array<int, 2> ends{};
  if (geteuid() != 0 || uid == nullptr || gid == nullptr || pipe2(ends.data(), O_CLOEXEC) != 0) return;
  UniqueFd read_end(ends[0]);
  gate_.reset(ends[1]);
  child_ = fork();
  if (child_ == 0) {
    gate_.reset();
    close_inherited_descriptors();
    let_go_of_standard_input();
    (void)hold_signals();  // it ends with its parent
    char go = 0;
    if (read(read_end.get(), &go, 1) == 1)
      for (const int file : files)
        give_away(file, static_cast<uid_t>(std::strtoul(uid, nullptr, 10)),
                  static_cast<gid_t>(std::strtoul(gid, nullptr, 10)));
    _exit(0);
  }
  if (child_ < 0) child_ = 0;
}

void OutputOwner::end() {
  gate_.reset();
  if (child_ == 0) return;
  while (waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
  }
  child_ = 0;
}

void OutputOwner::give() {
  const char go = 1;
  if (child_ != 0 && gate_) (void)!write(gate_.get(), &go, 1);
  end();
}

OutputOwner::~OutputOwner() {
  end();
}

}  // namespace uscope::cli
