// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/waits/mounts.h"

#include <gtest/gtest.h>

#include <sstream>

namespace uscope::tracer {
namespace {

std::vector<Mount> mounts() {
  std::istringstream lines(
      "22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw\n"
      "30 22 0:57 / /mnt rw,nosuid shared:9 master:2 - fuse.sshfs host:/a rw,user_id=0\n"
      "31 30 0:58 / /mnt/two\\040words rw - tmpfs none rw\n"
      "32 22 0:59 / /srv rw - tmpfs none rw\n"
      "33 32 0:60 / /srv rw - nfs4 server:/export rw\n"
      "broken\n");
  return read_mounts(lines);
}

std::string type_at(std::string_view path) {
  const std::vector<Mount> all = mounts();
  const Mount* found = mount_of(all, path);
  return found == nullptr ? "" : found->type;
}

TEST(Mounts, AreFoundByTheLongestName) {
  ASSERT_EQ(mounts().size(), 5U);
  EXPECT_EQ(type_at("/mnt"), "fuse.sshfs");
  EXPECT_EQ(type_at("/mnt/x"), "fuse.sshfs");
  EXPECT_EQ(type_at("/mntx"), "ext4");
  EXPECT_EQ(type_at("/"), "ext4");
  EXPECT_EQ(type_at("/mnt/two words/x"), "tmpfs");
  EXPECT_EQ(type_at("/srv/x"), "nfs4");  // the last one hides the other
}

TEST(Mounts, AreToldWithTypeAndSource) {
  const std::vector<Mount> all = mounts();
  EXPECT_EQ(mount_of(all, "/mnt")->text(), "/mnt (fuse.sshfs of host:/a)");
  EXPECT_EQ(mount_of(all, "/srv")->text(), "/srv (nfs4 of server:/export)");
  EXPECT_EQ((Mount{1, 0, 57, "/m", "fuse.deadfs", "deadfs"}.text()), "/m (fuse.deadfs)");
}

TEST(Mounts, ServersThatMayNotAnswer) {
  for (const char* type : {"fuse", "fuse.sshfs", "fuseblk", "nfs", "nfs4", "cifs", "9p", "ceph"})
    EXPECT_TRUE(is_served(type)) << type;
  for (const char* type : {"ext4", "tmpfs", "overlay", "proc", "fusectl", "nfsd"})
    EXPECT_FALSE(is_served(type)) << type;
  for (const char* wchan : {"", "0", "request_wait_answer", "rpc_wait_bit_killable", "folio_wait_bit_common"})
    EXPECT_TRUE(may_wait_for_server(wchan)) << wchan;
  for (const char* wchan : {"pipe_read", "futex_wait_queue", "do_wait", "hrtimer_nanosleep"})
    EXPECT_FALSE(may_wait_for_server(wchan)) << wchan;
}

}  // namespace
}  // namespace uscope::tracer
