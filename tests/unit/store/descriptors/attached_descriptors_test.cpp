// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Calls that threads were inside when their process came into the trace: /proc names the descriptors only afterwards.
#include "tests/unit/store/descriptors/descriptor_trace.h"

namespace uscope::store {
namespace {

class AttachedDescriptors : public DescriptorsTest {
 protected:
  static constexpr std::uint64_t kMet = kStart + 2000;   // the process's first task comes into the trace
  static constexpr std::uint64_t kRead = kStart + 3000;  // and from here on /proc is read
  static constexpr std::uint64_t kDone = kStart + 3500;  // until here
  static constexpr std::uint32_t kOwn = USC_TASK_PROCESS | USC_TASK_SAME_FILES | USC_TASK_SAME_FS | USC_TASK_ATTACHED;

  void meet(std::uint32_t task, std::uint32_t flags, std::uint64_t time = kMet) {
    trace_->task({.task = task, .process = 2, .pid = 102, .tid = 100 + task, .flags = flags, .time = time});
  }
  void inside(std::uint32_t task, const char* name, std::uint64_t end, std::uint8_t how, std::uint64_t fd = 3) {
    trace_->event({.task = task,
                   .entry = kMet - 10 + task,  // as the kernel side has it: just before the task's record
                   .end = end,
                   .nr = syscalls::syscall_number(USC_ABI_X86_64, name).value_or(999),
                   .how = how,
                   .flags = USC_EVENT_ATTACHED,
                   .a0 = fd});
  }
  void list(const std::string& also = "") {
    trace_->descriptor(2, USC_FD_CWD, "/there", kRead);
    trace_->descriptor(2, 3, "/tmp/fifo", kRead);
    if (!also.empty()) trace_->descriptor(2, 4, also, kRead);
    trace_->descriptor(2, USC_FD_END, "", kDone);
  }
  // Name and `late` of each descriptor, by event.
  std::string named() {
    load();
    return rows(
        "SELECT kind.name, value, late FROM event JOIN kind ON kind.id = kind_id JOIN event_string ON event_id = "
        "event.id AND source = 2 JOIN string ON string.id = string_id ORDER BY event.id");
  }
};

TEST_F(AttachedDescriptors, OfAThreadAloneAreWhatProcSays) {
  meet(2, kOwn);
  inside(2, "read", kMet + 50, USC_HOW_ATTACHED);
  list();
  EXPECT_EQ(named(), "read|/tmp/fifo|0");
}

TEST_F(AttachedDescriptors, OfACallThatEndsLaterToo) {
  meet(2, kOwn);
  inside(2, "read", kMet + 50, USC_HOW_ATTACHED);
  inside(2, "read", kDone, USC_HOW_RETURNED);
  list();
  EXPECT_EQ(named(), "read|/tmp/fifo|0");
  EXPECT_EQ(rows("SELECT value, sum(events) FROM object_total JOIN string ON string.id = string_id GROUP BY value"),
            "/tmp/fifo|1");
}

TEST_F(AttachedDescriptors, OfAThreadThatWasKilledInItToo) {
  meet(2, kOwn);
  inside(2, "read", kMet + 50, USC_HOW_ATTACHED);
  inside(2, "read", kDone + 1, USC_HOW_KILLED);
  list();
  EXPECT_EQ(named(), "read|/tmp/fifo|0");
}

// Afterwards the thread may have closed it, and opened another one.
TEST_F(AttachedDescriptors, OfACallThatEndedBeforeAreNotSaid) {
  meet(2, kOwn);
  inside(2, "read", kMet + 50, USC_HOW_ATTACHED);
  inside(2, "read", kDone - 1, USC_HOW_RETURNED);
  list();
  EXPECT_EQ(named(), "");
}

TEST_F(AttachedDescriptors, ThatAnotherThreadCouldHaveChangedAreLate) {
  meet(2, kOwn);
  meet(3, USC_TASK_SAME_FILES | USC_TASK_SAME_FS | USC_TASK_ATTACHED, kMet + 100);
  inside(2, "read", kMet + 50, USC_HOW_ATTACHED);
  list();
  EXPECT_EQ(named(), "read|/tmp/fifo|1");
}

TEST_F(AttachedDescriptors, OfAnUntracedProcessTooAreNotSaid) {
  meet(2, kOwn & ~USC_TASK_SAME_FILES);
  inside(2, "read", kMet + 50, USC_HOW_ATTACHED);
  list();
  EXPECT_EQ(named(), "");
}

TEST_F(AttachedDescriptors, OfASupervisedProcessAreNotSaid) {
  meet(2, kOwn | USC_TASK_SUPERVISED);
  inside(2, "read", kMet + 50, USC_HOW_ATTACHED);
  list();
  EXPECT_EQ(named(), "");
}

TEST_F(AttachedDescriptors, WhereAThreadHasATableOfItsOwnAreNotSaid) {
  meet(2, kOwn);
  meet(3, USC_TASK_SAME_FS | USC_TASK_ATTACHED, kMet + 100);
  inside(2, "read", kMet + 50, USC_HOW_ATTACHED);
  list();
  EXPECT_EQ(named(), "");
}

TEST_F(AttachedDescriptors, OfAProcessWithARingAreNotSaid) {
  meet(2, kOwn);
  inside(2, "read", kMet + 50, USC_HOW_ATTACHED);
  list("anon_inode:[io_uring]");
  EXPECT_EQ(named(), "");
}

TEST_F(AttachedDescriptors, OfCallsThatFreeTheirNumberAreNotSaid) {
  meet(2, kOwn);
  inside(2, "close", kMet + 50, USC_HOW_ATTACHED);
  list();
  EXPECT_EQ(named(), "");
}

// They take a number that was free, whenever they do.
TEST_F(AttachedDescriptors, ACallThatAcceptsHidesNoNames) {
  meet(2, kOwn);
  inside(2, "accept", kDone + 100, USC_HOW_RETURNED);
  list();
  next_ = kDone + 200;
  of_task(2);
  read(3);
  EXPECT_EQ(named(), "accept|/tmp/fifo|0\nread|/tmp/fifo|0");
}

// It may have closed what /proc said, or be about to.
TEST_F(AttachedDescriptors, ACallThatClosesHidesThem) {
  meet(2, kOwn);
  inside(2, "close", kDone + 100, USC_HOW_RETURNED, 9);
  list();
  next_ = kDone + 50;
  of_task(2);
  read(3);
  EXPECT_EQ(named(), "");
}

// The end of the call may be among what was lost.
TEST_F(AttachedDescriptors, AreNotSaidWhereEventsWereLost) {
  meet(2, kOwn);
  inside(2, "read", kMet + 50, USC_HOW_ATTACHED);
  trace_->loss(USC_LOSS_RING_FULL_EVENT, 1, 2, kMet + 100, kMet + 200);
  list();
  EXPECT_EQ(named(), "");
}

TEST_F(AttachedDescriptors, ANumberThatIsNoDescriptorHasNoName) {
  meet(2, kOwn);
  inside(2, "read", kMet + 50, USC_HOW_ATTACHED, static_cast<std::uint64_t>(USC_FD_CWD));
  list();
  EXPECT_EQ(named(), "");
}

}  // namespace
}  // namespace uscope::store
