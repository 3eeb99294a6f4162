// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/java/java_look.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/unit/trace/memory_sink.h"

namespace uscope::tracer {
namespace {

JavaMonitors two_waits() {
  MonitorWait enters;
  enters.tid = 101;
  enters.monitor = 0x10;
  enters.object = 0x900000;
  enters.owner = MonitorWait::Owner::kThread;
  enters.owner_tid = 102;
  enters.class_name = "java.lang.Object";
  enters.java_thread = "left";
  MonitorWait waits;
  waits.tid = 103;
  waits.what = MonitorWait::What::kWait;
  waits.owner_tid = 7;  // of an owner that is not known, it means nothing
  return {{enters, waits}, {"trouble"}};
}

TEST(JavaLook, RecordsOfItsThreads) {
  MemorySink sink;
  const auto count = append_monitors(sink, 5, 1000, 9, two_waits(), [](std::uint32_t tid) { return tid - 100; });
  ASSERT_TRUE(count);
  EXPECT_EQ(*count, 3U);
  std::vector<std::string> texts;
  const auto monitors = sink.all<usc_monitor>(&texts);
  ASSERT_EQ(monitors.size(), 2U);
  EXPECT_EQ(monitors[0].head.task, 1U);
  EXPECT_EQ(monitors[0].head.time, 1000U);
  EXPECT_EQ(monitors[0].look, 5U);
  EXPECT_EQ(monitors[0].what, USC_MONITOR_ENTER);
  EXPECT_EQ(monitors[0].owner_tid, 102U);
  EXPECT_EQ(monitors[0].object, 0x900000U);
  EXPECT_EQ(texts[0].substr(0, monitors[0].class_bytes), "java.lang.Object");
  EXPECT_EQ(texts[0].substr(monitors[0].class_bytes, monitors[0].thread_bytes), "left");
  EXPECT_EQ(monitors[1].what, USC_MONITOR_WAIT);
  EXPECT_EQ(monitors[1].owner_tid, 0U);
  const auto troubles = sink.all<usc_look_trouble>(&texts);
  ASSERT_EQ(troubles.size(), 1U);
  EXPECT_EQ(troubles[0].process, 9U);
  EXPECT_EQ(texts.back().substr(0, troubles[0].text_bytes), "trouble");
}

TEST(JavaLook, NoRecordOfAThreadThatIsNotTraced) {
  MemorySink sink;
  const auto count =
      append_monitors(sink, 5, 1000, 9, two_waits(), [](std::uint32_t tid) { return tid == 103 ? 3U : 0U; });
  ASSERT_TRUE(count);
  EXPECT_EQ(*count, 2U);
  ASSERT_EQ(sink.all<usc_monitor>().size(), 1U);
  EXPECT_EQ(sink.all<usc_monitor>()[0].head.task, 3U);
}

TEST(JavaLook, WhatAScoutAnswers) {
  const JavaMonitors sent = two_waits();
  const auto got = monitors_in(bytes_of(sent));
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(got->troubles, sent.troubles);
  ASSERT_EQ(got->waits.size(), 2U);
  EXPECT_EQ(got->waits[0].tid, 101U);
  EXPECT_EQ(got->waits[0].class_name, "java.lang.Object");
  EXPECT_EQ(got->waits[0].java_thread, "left");
  EXPECT_EQ(got->waits[0].owner, MonitorWait::Owner::kThread);
  EXPECT_EQ(got->waits[1].what, MonitorWait::What::kWait);
  EXPECT_FALSE(monitors_in(bytes_of(std::nullopt)).has_value());
}

TEST(JavaLook, AProcessWithoutJavaSaysNothing) {
  EXPECT_FALSE(ask_java_monitors(nullptr, static_cast<std::uint32_t>(getpid())).has_value());
}

}  // namespace
}  // namespace uscope::tracer
