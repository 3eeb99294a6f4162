// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/session/live_printer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "cli/session/program_names.h"
#include "support/clock.h"
#include "syscalls/syscall_table.h"
#include "trace/record_builder.h"
#include "tracer/model/task_table.h"

namespace uscope::cli {
namespace {

constexpr std::uint64_t kBegin = 1'000'000'000'000;

std::uint32_t number_of_call(const char* name) {
  return syscalls::syscall_number(USC_ABI_X86_64, name).value_or(9999);
}

class LivePrinterTest : public testing::Test {
 protected:
  void SetUp() override { printer_.on_start(kBegin); }

  void task(std::uint32_t serial, std::uint32_t flags = USC_TASK_PROCESS, std::uint32_t image = 0) {
    usc_task task{};
    task.head.task = serial;
    task.process = serial;
    task.pid = task.tid = 1000 + serial;
    task.mm = serial;
    task.flags = flags;
    task.image = image;
    tasks_.start(task);
    printer_.on_task(task);
  }

  void exec(std::uint32_t serial, std::uint32_t image, const std::string& path, std::uint64_t time) {
    usc_exec exec{};
    exec.head.task = serial;
    exec.head.time = time;
    exec.process = serial;
    exec.image = image;
    exec.old_tid = exec.tid = 1000 + serial;
    exec.path_bytes = static_cast<__u16>(path.size());
    const std::vector<char> record = trace::RecordBuilder<usc_exec>(exec).add(path).take();
    printer_.on_image(*reinterpret_cast<const usc_exec*>(record.data()));
  }

  void string(std::uint32_t serial, std::uint64_t entry, std::uint8_t arg, const std::string& text) {
    usc_string string{};
    string.head.task = serial;
    string.entry_ns = entry;
    string.arg = arg;
    string.kind = USC_STRING_TEXT;
    string.bytes = static_cast<__u16>(text.size());
    const std::vector<char> record = trace::RecordBuilder<usc_string>(string).add(text).take();
    printer_.on_string(*reinterpret_cast<const usc_string*>(record.data()));
  }

  void event(std::uint32_t serial, const char* call, std::uint64_t entry, std::uint32_t image = 1) {
    usc_event event{};
    event.head.task = serial;
    event.head.time = entry + 10;
    event.entry_ns = entry;
    event.args[0] = 0x7000;
    event.kind = number_of_call(call);
    event.image = image;
    event.how = USC_HOW_RETURNED;
    printer_.on_event(event, tasks_.find(trace::TaskId(serial)));
  }

  std::string round(std::uint64_t before_ns) {
    testing::internal::CaptureStderr();
    printer_.on_round(before_ns, tasks_);
    return testing::internal::GetCapturedStderr();
  }

  StatusLine status_{nullptr};
  LivePrinter printer_{status_, true};
  tracer::TaskTable tasks_;
};

TEST_F(LivePrinterTest, TheExecThatStartsTheCommandIsTheCommands) {
  task(1, USC_TASK_PROCESS | USC_TASK_LAUNCHED);
  event(1, "execve", kBegin + 5, 0);
  EXPECT_EQ(round(kBegin + 100), "");  // the image comes from another processor
  exec(1, 1, "/usr/bin/cat", kBegin + 7);
  EXPECT_EQ(round(kBegin + 200), "cat[1001/1001] 0.000000 execve(\"/usr/bin/cat\", [], NULL) = 0 <10 ns>\n");
}

// However many other tasks have something to be printed: nothing of a task that lives is forgotten.
TEST_F(LivePrinterTest, AStringOutlastsThoseOfAnyNumberOfTasks) {
  task(1);
  exec(1, 1, "/bin/app", kBegin + 1);
  string(1, kBegin + 10, 0, "/the/path");
  constexpr std::uint32_t kTasks = 70'000;
  for (std::uint32_t serial = 2; serial < kTasks; serial++) {
    task(serial);
    string(serial, kBegin + 20, 0, "/another");
  }
  EXPECT_EQ(round(kBegin + 5 * kSecondNs), "");
  event(1, "rmdir", kBegin + 10);
  EXPECT_EQ(round(kBegin + 6 * kSecondNs), "app[1001/1001] 0.000000 rmdir(\"/the/path\") = 0 <10 ns>\n");
}

// A string whose event was lost is not taken for another call's, and does not stay.
TEST_F(LivePrinterTest, StringsOfLostEventsAreForgotten) {
  task(1);
  exec(1, 1, "/bin/app", kBegin + 1);
  for (std::uint64_t i = 0; i < 1000; i++) {
    string(1, kBegin + 2 + i * kSecondNs, 0, "/lost");
    EXPECT_EQ(round(kBegin + 1 + (i + 1) * kSecondNs), "");
  }
  EXPECT_LE(printer_.kept_calls(), 4U);
  const std::uint64_t last = kBegin + 2000 * kSecondNs;
  string(1, last, 0, "/there");
  event(1, "rmdir", last);
  EXPECT_NE(round(last + kSecondNs).find("rmdir(\"/there\")"), std::string::npos);
  EXPECT_EQ(printer_.kept_calls(), 0U);
  // Tasks that are not known any more.
  for (std::uint32_t serial = 2; serial < 5000; serial++) string(serial, last + 5, 0, "/lost");
  EXPECT_EQ(round(last + 10 * kSecondNs), "");
  EXPECT_LT(printer_.kept_calls(), 10U);
}

TEST(ProgramNames, AreNeverForgotten) {
  ProgramNames names;
  names.inherit(trace::ProcessId(7), trace::ImageId(1));
  names.inherit(trace::ProcessId(7), trace::ImageId(2));  // it became this later
  for (std::uint32_t image = 1; image < 100'000; image++)
    names.define(trace::ImageId(image), image % 2 != 0 ? "one" : "two");
  EXPECT_EQ(names.of(trace::ImageId(1), {}), "one");
  EXPECT_EQ(names.of(trace::ImageId(99'998), {}), "two");
  EXPECT_EQ(names.of({}, trace::ProcessId(7)), "one");
  EXPECT_EQ(names.of({}, trace::ProcessId(8)), "");
  EXPECT_FALSE(names.knows(trace::ImageId(100'000), {}));
  EXPECT_FALSE(names.is_full());
}

TEST(ProgramNames, SayThatThereWereTooMany) {
  ProgramNames names(2);
  for (std::uint32_t image = 1; image < 4; image++) names.define(trace::ImageId(image), std::to_string(image));
  EXPECT_TRUE(names.is_full());
  EXPECT_EQ(names.of(trace::ImageId(2), {}), "2");
  EXPECT_EQ(names.of(trace::ImageId(3), {}), "");
}

}  // namespace
}  // namespace uscope::cli
