// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/runtime_modules.h"

#include <gtest/gtest.h>

namespace uscope::trace {
namespace {

TEST(RuntimeModules, AreThoseOfGlibcAndMusl) {
  for (const char* path : {"/usr/lib/x86_64-linux-gnu/libc.so.6", "/lib/libc-2.31.so", "/lib64/ld-linux-x86-64.so.2",
                           "/lib/libpthread.so.0", "/lib/libpthread-2.31.so", "/lib/libc.musl-x86_64.so.1",
                           "/lib/ld-musl-x86_64.so.1", "libc.so.6", "/lib/ld64.so.1", "/usr/bin/ld.so"})
    EXPECT_TRUE(is_runtime(path)) << path;
  for (const char* path : {"", "/usr/bin/ld", "/usr/lib/libcap.so.2", "/opt/libc.so.6/app", "/usr/lib/libstdc++.so.6"})
    EXPECT_FALSE(is_runtime(path)) << path;
}

}  // namespace
}  // namespace uscope::trace
