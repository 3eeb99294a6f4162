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
