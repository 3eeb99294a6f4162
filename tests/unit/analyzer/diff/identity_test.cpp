// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/diff/identity.h"

#include <gtest/gtest.h>

namespace uscope::analyzer {
namespace {

TEST(FunctionIdentity, LeavesWhatACompilerAdds) {
  EXPECT_EQ(function_identity("parse.constprop.0"), "parse");
  EXPECT_EQ(function_identity("parse.isra.3.cold"), "parse");
  EXPECT_EQ(function_identity("parse.part.0.lto_priv.12"), "parse");
  EXPECT_EQ(function_identity("parse.llvm.123456"), "parse");
  EXPECT_EQ(function_identity("core::fmt::write::h0123456789abcdef"), "core::fmt::write");
  EXPECT_EQ(function_identity("main.main.func1"), "main.main.func1");
  EXPECT_EQ(function_identity("main.(*T).run"), "main.(*T).run");
  EXPECT_EQ(function_identity("a.7"), "a.7");
  EXPECT_EQ(function_identity(".part.0"), ".part.0");
  EXPECT_EQ(function_identity(""), "");
  EXPECT_EQ(function_identity("f::hgggggggggggggggg"), "f::hgggggggggggggggg");
}

TEST(ModuleIdentity, IsTheBaseName) {
  EXPECT_EQ(module_identity("/usr/lib/libc.so.6"), "libc.so.6");
  EXPECT_EQ(module_identity("/tmp/plugin.so (deleted)"), "plugin.so (deleted)");
  EXPECT_EQ(module_identity("/memfd:plugin (deleted)"), "memfd:plugin");
  EXPECT_EQ(module_identity("[file 12]"), "[file]");
  EXPECT_EQ(module_identity("[vdso]"), "[vdso]");
}

TEST(Nameless, IsModuleAndAddress) {
  EXPECT_TRUE(is_nameless("nginx+0x12af0"));
  EXPECT_TRUE(is_nameless("[anon]+0x7f00"));
  EXPECT_FALSE(is_nameless("operator+"));
  EXPECT_FALSE(is_nameless("f+0x"));
  EXPECT_FALSE(is_nameless("f+0x12g"));
}

TEST(ArgumentIdentity, LeavesNumbersThatDifferFromRunToRun) {
  EXPECT_EQ(argument_identity("inet:127.0.0.1:80"), "inet:127.0.0.1:80");
  EXPECT_EQ(argument_identity("inet:127.0.0.1:32767"), "inet:127.0.0.1:32767");
  EXPECT_EQ(argument_identity("inet:127.0.0.1:54321"), "inet:127.0.0.1:*");
  EXPECT_EQ(argument_identity("inet6:[::1]:54321"), "inet6:[::1]:*");
  EXPECT_EQ(argument_identity("socket:[123]"), "socket:[*]");
  EXPECT_EQ(argument_identity("pipe:[9]"), "pipe:[*]");
  EXPECT_EQ(argument_identity("pipe:[x]"), "pipe:[x]");
  EXPECT_EQ(argument_identity("/proc/123/stat"), "/proc/*/stat");
  EXPECT_EQ(argument_identity("/proc/123"), "/proc/*");
  EXPECT_EQ(argument_identity("/proc/self/stat"), "/proc/self/stat");
  EXPECT_EQ(argument_identity("/srv/54321"), "/srv/54321");
  EXPECT_EQ(argument_identity(""), "");
}

TEST(ArgumentIdentity, LeavesNumbersOfTheRunsTasks) {
  const TaskNumbers tasks{7, 100, 1234, 54321};
  EXPECT_EQ(argument_identity("/srv/54321", tasks), "/srv/*");
  EXPECT_EQ(argument_identity("/run/server.1234.sock", tasks), "/run/server.*.sock");
  EXPECT_EQ(argument_identity("unix:/run/server.1234", tasks), "unix:/run/server.*");
  EXPECT_EQ(argument_identity("worker1234", tasks), "worker*");
  EXPECT_EQ(argument_identity("/srv/54322", tasks), "/srv/54322");
  EXPECT_EQ(argument_identity("/srv/12345", tasks), "/srv/12345");
  EXPECT_EQ(argument_identity("a1234f", tasks), "a1234f");
  EXPECT_EQ(argument_identity("libx.so.7", tasks), "libx.so.7");  // too short to mean it
  EXPECT_EQ(argument_identity("inet:10.0.0.1:1234", tasks), "inet:10.0.0.1:1234");
  EXPECT_EQ(argument_identity("99999999999999999999999", tasks), "99999999999999999999999");
  EXPECT_EQ(argument_identity("/proc/7/task/8/stat"), "/proc/*/task/*/stat");
  EXPECT_EQ(argument_identity("/proc/self/task/8/stat"), "/proc/self/task/*/stat");
  EXPECT_EQ(argument_identity("socket:[to inet:10.0.0.1:54321]"), "socket:[to inet:10.0.0.1:*]");
  EXPECT_EQ(argument_identity("socket:[at unix:/run/x]"), "socket:[at unix:/run/x]");
}

TEST(ArgumentIdentity, LeavesRandomPartsOfTemporaryNames) {
  EXPECT_EQ(argument_identity("/tmp/ccXo4MEJ.s"), "/tmp/*.s");
  EXPECT_EQ(argument_identity("/tmp/tmp.aB3dE5fG1h"), "/tmp/tmp.*");
  EXPECT_EQ(argument_identity("/tmp/tmpk3j_9x2a/data"), "/tmp/tmp*/data");
  EXPECT_EQ(argument_identity("/tmp/tmpabcdefgh"), "/tmp/tmp*");
  EXPECT_EQ(argument_identity("/var/tmp/etilqs_a3f81c09e2b47d55"), "/var/tmp/etilqs_*");
  EXPECT_EQ(argument_identity("unix:/tmp/ssh-QvBnxkPq/agent.1"), "unix:/tmp/ssh-*/agent.1");
  EXPECT_EQ(argument_identity("/dev/shm/sem.kQvBnx"), "/dev/shm/sem.*");
  for (const char* name : {"/tmp/session12", "/tmp/README", "/tmp/FileName.txt", "/tmp/fileName", "/tmp/Makefile",
                           "/tmp/20260131", "/tmp/data.json", "/tmp/a1b", "/tmp/", "/srv/ccXo4MEJ.s", "ccXo4MEJ"})
    EXPECT_EQ(argument_identity(name), name);
}

TEST(OffsetTrust, HoldsWhereTheBuildsAreTheSame) {
  const OffsetTrust trust({{{"same", "aa"}, {"rebuilt", "bb"}, {"bare", ""}, {"once", "cc"}},
                           {{"same", "aa"}, {"rebuilt", "dd"}, {"bare", ""}},
                           {{"same", "aa"}, {"twice", "ee"}, {"twice", "ff"}}});
  EXPECT_TRUE(trust.trusted("same"));
  EXPECT_TRUE(trust.trusted("once"));
  EXPECT_FALSE(trust.trusted("rebuilt"));
  EXPECT_FALSE(trust.trusted("bare"));
  EXPECT_FALSE(trust.trusted("twice"));
}

}  // namespace
}  // namespace uscope::analyzer
