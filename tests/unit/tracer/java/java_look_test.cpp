// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/java/java_look.h"

#include <gtest/gtest.h>

#include <string>

namespace uscope::tracer {
namespace {

TEST(JavaLook, RecordOfAThreadThatEnters) {
  MonitorWait wait;
  wait.object = 0x900000;
  wait.owner = MonitorWait::Owner::kThread;
  wait.owner_tid = 102;
  wait.class_name = "java.lang.Object";
  wait.java_thread = "left";
  const MonitorRecord record = record_of(wait);
  EXPECT_EQ(record.fixed.what, USC_MONITOR_ENTER);
  EXPECT_EQ(record.fixed.owner_tid, 102U);
  EXPECT_EQ(record.fixed.object, 0x900000U);
  EXPECT_EQ(record.fixed.class_bytes, 16U);
  EXPECT_EQ(record.fixed.thread_bytes, 4U);
  EXPECT_EQ(record.text, "java.lang.Objectleft");
}

TEST(JavaLook, RecordOfAWaitWhoseOwnerIsNotKnown) {
  MonitorWait wait;
  wait.what = MonitorWait::What::kWait;
  wait.owner = MonitorWait::Owner::kUnknown;
  wait.owner_tid = 7;
  wait.java_thread = std::string(100'000, 'x');
  const MonitorRecord record = record_of(wait);
  EXPECT_EQ(record.fixed.what, USC_MONITOR_WAIT);
  EXPECT_EQ(record.fixed.owner_tid, 0U);
  EXPECT_EQ(record.fixed.class_bytes, 0U);
  EXPECT_EQ(record.fixed.thread_bytes, 4096U);
  EXPECT_EQ(record.text.size(), 4096U);
}

}  // namespace
}  // namespace uscope::tracer
