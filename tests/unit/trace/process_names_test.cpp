// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/process_names.h"

#include <gtest/gtest.h>

namespace uscope::trace {
namespace {

std::string name_by(const char* path, const char* title = "", const char* comm = "") {
  return ProcessNames{.executable = "file-that-runs", .comm = comm, .title = title, .script = "", .path = path}.name();
}

// However the program describes itself, and whatever file a link led to.
TEST(ProcessNames, AProcessIsCalledByThePathThatWasExecuted) {
  EXPECT_EQ(name_by("/usr/bin/redis-server", "/usr/bin/redis-server *:6379", "redis-server"), "redis-server");
  EXPECT_EQ(name_by("/usr/bin/python3", "python3"), "python3");
  EXPECT_EQ(name_by("./tools/run.py", "/usr/bin/python3", "run.py"), "run.py");
  EXPECT_EQ(name_by("/usr/sbin/nginx", "nginx: worker process", "nginx"), "nginx");
  EXPECT_EQ(name_by("/usr/lib/postgresql/15/bin/postgres", "postgres: main: walwriter", "postgres"), "postgres");
  EXPECT_EQ(name_by("/bin/bash", "-bash", "bash"), "bash");
  EXPECT_EQ(name_by("/bin/ls", "ls", "ls"), "ls");  // of busybox
  EXPECT_EQ(name_by("/usr/lib/systemd/systemd-resolved", "", "systemd-resolve"), "systemd-resolved");
  EXPECT_EQ(name_by("/usr/bin/app", "", "Web Content"), "app");
  EXPECT_EQ(name_by("/usr/bin/3", "three"), "3");
  EXPECT_EQ(name_by("[redacted]", "app"), "[redacted]");
}

TEST(ProcessNames, ADescriptorsNumberIsNoName) {
  for (const char* path : {"/dev/fd/3", "/proc/self/fd/17", "/proc/4711/fd/0", "/proc/self/exe", "/proc/7/exe", ""}) {
    EXPECT_EQ(name_by(path, "/usr/bin/runc init", "6"), "runc") << path;
    EXPECT_EQ(name_by(path, "sshd: ann [priv]", "sshd"), "sshd") << path;
    EXPECT_EQ(name_by(path, "", "memfd:tool"), "memfd:tool") << path;
    EXPECT_EQ(name_by(path, "/proc/self/exe", "exe"), "file-that-runs") << path;
  }
  EXPECT_EQ(name_by("/dev/fd/3/tool", "", "tool"), "tool");
  EXPECT_EQ(
      (ProcessNames{.executable = "tool", .comm = "3", .title = "/proc/self/fd/3", .script = "", .path = "/dev/fd/3"}
           .name()),
      "tool");
  EXPECT_EQ(name_by("/dev/fd/3"), "file-that-runs");
  EXPECT_EQ(name_by("/proc/self/fd/../exec"), "exec");
}

TEST(ProcessNames, EveryNameOfAProcessCounts) {
  const ProcessNames redis{"redis-check-rdb", "redis-server", "/usr/bin/redis-server *:6379", ""};
  for (const char* name : {"redis-check-rdb", "redis-server"}) EXPECT_TRUE(redis.has(name)) << name;
  for (const char* name : {"redis", "", "*:6379", "/usr/bin/redis-server"}) EXPECT_FALSE(redis.has(name)) << name;
  const ProcessNames worker{"nginx", "nginx", "nginx: worker process", ""};
  EXPECT_TRUE(worker.has("nginx"));
  EXPECT_EQ(worker.all(), (std::vector<std::string>{"nginx", "nginx: worker process"}));
  const ProcessNames script{"python3.11", "serve.py", "/usr/bin/python3", "serve.py", "/srv/serve.py"};
  EXPECT_EQ(script.all(), (std::vector<std::string>{"serve.py", "python3", "python3.11"}));
  const ProcessNames spaced{"app", "app", "/opt/My App/app", ""};
  EXPECT_TRUE(spaced.has("app"));
  const ProcessNames renamed{"tool-7", "worker", "working", "", "/usr/bin/tool"};
  for (const char* name : {"tool", "tool-7", "worker", "working"}) EXPECT_TRUE(renamed.has(name)) << name;
}

TEST(ProcessNames, WhatHasEndedHasNoName) {
  EXPECT_EQ(ProcessNames().name(), "");
  EXPECT_EQ(ProcessNames().all(), std::vector<std::string>());
  EXPECT_FALSE(ProcessNames().has(""));
}

}  // namespace
}  // namespace uscope::trace
