// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/own_libraries.h"

#include <gtest/gtest.h>

#include <string>

namespace uscope::trace {
namespace {

bool owns(const std::string& executable, const std::string& library) {
  OwnLibraries libraries;
  libraries.add_executable(executable);
  return libraries.owns(library);
}

TEST(OwnLibraries, AreInTheExecutablesFolderAndBelow) {
  EXPECT_TRUE(owns("/opt/app/server", "/opt/app/libcore.so"));
  EXPECT_TRUE(owns("/opt/app/server", "/opt/app/plugins/x.so"));
  EXPECT_FALSE(owns("/opt/app/server", "/opt/apple/x.so"));
  EXPECT_FALSE(owns("/opt/app/server", "/usr/lib/x86_64-linux-gnu/libz.so.1"));
  EXPECT_TRUE(owns("/usr/lib/libreoffice/program/soffice.bin", "/usr/lib/libreoffice/program/libsofficeapp.so"));
}

TEST(OwnLibraries, AreInTheLibFolderOfTheSamePrefix) {
  EXPECT_TRUE(owns("/opt/jdk/bin/java", "/opt/jdk/lib/server/libjvm.so"));
  EXPECT_TRUE(owns("/root/py/bin/python3.11", "/root/py/lib/libpython3.11.so.1.0"));
  EXPECT_FALSE(owns("/home/u/bin/tool", "/home/u/other/libz.so"));
}

TEST(OwnLibraries, FoldersThatProgramsShareAreNobodys) {
  for (const std::string executable : {"/usr/bin/a1", "/bin/a1", "/usr/local/bin/a1", "/usr/lib/a1", "/a1",
                                       "/usr/lib/x86_64-linux-gnu/a1", "/usr/libexec/a1"}) {
    EXPECT_FALSE(owns(executable, "/usr/lib/x86_64-linux-gnu/libz.so.1")) << executable;
    EXPECT_FALSE(owns(executable, "/usr/lib/libz.so")) << executable;
    EXPECT_FALSE(owns(executable, "/usr/bin/other")) << executable;
    EXPECT_FALSE(owns(executable, "/lib64/libz.so")) << executable;
  }
}

TEST(OwnLibraries, AreInTheSystemsFolderOfTheirName) {
  EXPECT_TRUE(owns("/usr/sbin/nginx", "/usr/lib/nginx/modules/ngx_x.so"));
  EXPECT_TRUE(owns("/usr/bin/python3.11", "/usr/lib/python3.11/lib-dynload/_ssl.so"));
  EXPECT_TRUE(owns("/usr/bin/python3.11", "/usr/lib/python3/dist-packages/x.so"));
  EXPECT_TRUE(owns("/usr/bin/perl", "/usr/lib/x86_64-linux-gnu/perl-base/auto/POSIX/POSIX.so"));
  EXPECT_TRUE(owns("/usr/bin/perl", "/usr/lib/x86_64-linux-gnu/perl5/5.36/auto/X.so"));
  EXPECT_TRUE(owns("/usr/lib/jvm/java-17/bin/java", "/usr/lib/jvm/java-17/conf/x.so"));
  EXPECT_TRUE(owns("/usr/lib/systemd/systemd", "/usr/lib/x86_64-linux-gnu/systemd/libsystemd-shared-252.so"));
  EXPECT_FALSE(owns("/usr/sbin/nginx", "/usr/lib/nginy/x.so"));
  EXPECT_FALSE(owns("/usr/bin/git", "/usr/lib/gitolite/x.so"));
}

TEST(OwnLibraries, HaveTheExecutablesName) {
  EXPECT_TRUE(owns("/usr/bin/python3.11", "/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0"));
  EXPECT_TRUE(owns("/usr/bin/node", "/usr/lib/x86_64-linux-gnu/libnode.so.108"));
  EXPECT_TRUE(owns("/usr/bin/ruby3.1", "/usr/lib/x86_64-linux-gnu/libruby-3.1.so.3.1"));
  EXPECT_FALSE(owns("/usr/bin/python3.11", "/usr/lib/x86_64-linux-gnu/libpythonic.so"));
  EXPECT_FALSE(owns("/usr/bin/m", "/usr/lib/x86_64-linux-gnu/libm.so.6"));
}

TEST(OwnLibraries, WhatIsNoPathIsNothing) {
  EXPECT_FALSE(owns("", "/x"));
  EXPECT_FALSE(owns("[file 3]", "[file 4]"));
  EXPECT_FALSE(owns("/opt/app/server", ""));
  EXPECT_FALSE(owns("/opt/app/server", "[vdso]"));
}

TEST(ModuleMatches, TheWholePathOrItsBaseName) {
  EXPECT_TRUE(module_matches("libz.so*", "/usr/lib/libz.so.1"));
  EXPECT_TRUE(module_matches("/usr/*", "/usr/lib/libz.so.1"));
  EXPECT_FALSE(module_matches("libz", "/usr/lib/libz.so.1"));
}

}  // namespace
}  // namespace uscope::trace
