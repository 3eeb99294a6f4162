// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/reader/file_owner.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/vfs.h>

namespace uscope::symbolizer {
namespace {

constexpr long kFuse = 0x65735546;  // FUSE_SUPER_MAGIC

}  // namespace

std::string owner_of(int fd) {
  struct stat status {};
  struct statfs system {};
  if (fstat(fd, &status) != 0 || fstatfs(fd, &system) != 0) return "unknown";
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) == 0 && system.f_type != kFuse)
    return fmt::format("user {}", status.st_uid);
  return fmt::format("user {} device {} inode {}", status.st_uid, status.st_dev, status.st_ino);
}

std::string payer_of(int fd) {
  struct stat status {};
  struct statfs system {};
  if (fstatfs(fd, &system) != 0 || system.f_type == kFuse || fstat(fd, &status) != 0) return "unknown";
  return status.st_uid != 0 ? fmt::format("user {}", status.st_uid)
                            : fmt::format("user {} device {}", status.st_uid, status.st_dev);
}

}  // namespace uscope::symbolizer
