// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which open file each descriptor is of, followed without a database.
#include <gtest/gtest.h>
#include <linux/close_range.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "descriptors/descriptor_tracker.h"
#include "tests/unit/descriptors/calls_of.h"
#include "trace/event_order.h"
#include "trace/raw_reader.h"

namespace uscope::descriptors {
namespace {

class RawTraceTest : public testing::Test {
 protected:
  test::TemporaryFolder folder_;
  std::optional<RawTrace> trace_;
};

class OpenFilesTest : public CallsOf<RawTraceTest> {
 protected:
  void SetUp() override {
    trace_.emplace(folder_ / "raw");
    trace_->task({});
    trace_->descriptor(1, USC_FD_CWD, "/work", kStart);
    trace_->descriptor(1, USC_FD_END, "", kStart);
  }

  // As the loader does it: definitions first, then the events in order.
  void follow() {
    trace_.reset();
    auto reader = trace::RawReader::open(folder_ / "raw");
    ASSERT_TRUE(reader) << reader.error().what;
    trace::RawRecord record;
    while (true) {
      auto more = reader->next(record);
      ASSERT_TRUE(more) << more.error().what;
      if (!*more) break;
      definitions_.add(record);
    }
    definitions_.finish();
    DescriptorTracker tracker(definitions_, texts_);
    trace::EventOrder order(
        *reader, {}, [&](const trace::OrderedCall& call) { return take(tracker, call); },
        [&](const trace::RawRecord& string) { return trace::ordered_string(string, texts_, contents_); },
        [](const trace::RawRecord&) { return trace::OrderedEvent{}; });
    reader->rewind();
    while (true) {
      auto more = reader->next(record);
      ASSERT_TRUE(more) << more.error().what;
      if (!*more) break;
      ASSERT_TRUE(order.add(record));
    }
    ASSERT_TRUE(order.finish());
    auto held = tracker.finish();
    ASSERT_TRUE(held) << held.error().what;
    held_.assign(held->begin(), held->end());
  }

  Result<void> take(DescriptorTracker& tracker, const trace::OrderedCall& call) {
    for (const trace::OrderedEvent& event : call.events) {
      const auto named = tracker.observe(event, call.strings);
      if (!named) return named.error();
      tracker.set_event(EventId(++events_));
      if (event.kind != syscalls::syscall_number(USC_ABI_X86_64, "read")) continue;
      for (const DescriptorTracker::Named& one : *named) {
        auto text = texts_.text(one.string_id);
        if (!text) return text.error();
        files_.push_back(one.open_file);
        names_.push_back(text->value_or("none"));
      }
      if (named->empty()) files_.emplace_back();
      if (named->empty()) names_.emplace_back("?");
    }
    return {};
  }

  // The open files of all reads in their order, by letters: the same letter is the same one, "?" none. A small one may
  // be another letter's, too.
  std::string letters() {
    std::map<OpenFileId, char> known;
    std::string all;
    for (const OpenFile& file : files_) {
      const char next = static_cast<char>((file.unsure ? 'a' : 'A') + static_cast<int>(known.size()));
      all += file.id ? known.try_emplace(file.id, next).first->second : '?';
    }
    return all;
  }
  // Device and inode of each.
  std::string inodes() {
    std::string all;
    for (const OpenFile& file : files_)
      all += (all.empty() ? "" : " ") + std::to_string(file.file.dev) + ":" + std::to_string(file.file.ino);
    return all;
  }
  // The kernel side says which file the last call opened.
  void opened(std::uint64_t ino) {
    usc_passed file{};
    file.dev = 1;
    file.ino = ino;
    file.space = 9;
    file.mode = S_IFREG;
    trace_->string(task_, next_, 0, std::string(reinterpret_cast<const char*>(&file), sizeof(file)), USC_STRING_OPENED);
  }

  store::Definitions definitions_;
  trace::KeptTexts texts_;
  trace::KeptContents contents_;
  std::vector<OpenFile> files_;     // of the reads
  std::vector<std::string> names_;  // "?": nothing was known
  std::vector<HeldDescriptor> held_;
  std::uint64_t events_ = 0;
};

TEST_F(OpenFilesTest, TwoOpensOfOnePathAreTwoOfOneFile) {
  open("/a", 3);
  opened(77);
  open("/a", 4);
  opened(77);
  read(3);
  read(4);
  read(3);
  follow();
  EXPECT_EQ(letters(), "ABA");
  EXPECT_EQ(inodes(), "1:77 1:77 1:77");
  EXPECT_EQ(names_, (std::vector<std::string>{"/a", "/a", "/a"}));
}

TEST_F(OpenFilesTest, CopiesAreOfOneOpenFile) {
  open("/a", 3);
  call("dup", 4, 3);
  call("fcntl", 5, 3, F_DUPFD);
  call("fcntl", 6, 4, F_DUPFD_CLOEXEC);
  call("close", 0, 3);
  open("/a", 3);
  for (const int fd : {4, 5, 6, 3}) read(static_cast<std::uint64_t>(fd));
  follow();
  EXPECT_EQ(letters(), "AAAB");
}

TEST_F(OpenFilesTest, ACopyOverAnOpenOneTakesItsPlace) {
  open("/a", 3);
  open("/b", 4);
  call("dup", 5, 4);
  read(4);
  call("dup2", 4, 3, 4);
  read(4);
  read(3);
  read(5);
  call("dup3", 5, 4, 5, O_CLOEXEC);
  read(5);
  follow();
  EXPECT_EQ(letters(), "ABBAB");  // first letters by the first read
  EXPECT_EQ(names_, (std::vector<std::string>{"/b", "/a", "/a", "/b", "/a"}));
}

// A pipe has two ends, a socket one, whatever numbers it has.
TEST_F(OpenFilesTest, EndsOfAPipeAreTwo) {
  call("pipe2", 0, 0);
  const std::uint64_t both = 3 | std::uint64_t{4} << 32;
  trace_->string(1, next_, 0, std::string(reinterpret_cast<const char*>(&both), 8), USC_STRING_PAIR);
  call("socket", 5, AF_INET);
  call("dup", 6, 5);
  call("accept", 7, 5);
  for (const int fd : {3, 4, 5, 6, 7}) read(static_cast<std::uint64_t>(fd));
  follow();
  EXPECT_EQ(letters(), "ABCCD");
}

TEST_F(OpenFilesTest, AChildHasTheSameUntilItClosesItsOwn) {
  open("/a", 3);
  opened(77);
  call("fork", 101);
  make(2, 2);
  of_task(2);
  read(3);
  call("close", 0, 3);
  open("/a", 3);
  read(3);
  of_task(1);
  read(3);
  follow();
  EXPECT_EQ(letters(), "ABA");
  EXPECT_EQ(inodes(), "1:77 0:0 1:77");
}

TEST_F(OpenFilesTest, ATaskThatSharesTheTableClosesForBoth) {
  open("/a", 3);
  call("clone", 101, CLONE_FILES);
  make(2, 2, USC_TASK_SAME_FILES);
  of_task(2);
  read(3);
  call("dup", 4, 3);
  call("close", 0, 3);
  of_task(1);
  read(3);
  read(4);
  follow();
  EXPECT_EQ(letters(), "A?A");
}

TEST_F(OpenFilesTest, AnExecClosesSomeAndKeepsTheOthers) {
  open("/kept", 3);
  open("/closed", 4, O_CLOEXEC);
  call("fcntl", 5, 3, F_DUPFD_CLOEXEC);
  call("dup", 6, 4);
  for (const int fd : {3, 4, 5, 6}) read(static_cast<std::uint64_t>(fd));
  call("execve", 0);
  for (const int fd : {3, 4, 5, 6}) read(static_cast<std::uint64_t>(fd));
  follow();
  EXPECT_EQ(letters(), "ABABA??B");
}

TEST_F(OpenFilesTest, CloseRangeClosesAllOfIt) {
  for (const int fd : {3, 4, 5, 6}) open("/a", fd);
  call("dup", 7, 5);
  call("close_range", 0, 4, 5);
  for (const int fd : {3, 4, 5, 6, 7}) read(static_cast<std::uint64_t>(fd));
  call("close_range", 0, 6, 7, CLOSE_RANGE_CLOEXEC);
  read(7);
  call("execve", 0);
  read(7);
  read(3);
  follow();
  EXPECT_EQ(letters(), "A??BCC?A");
}

// A message carries the open file. What one end is told of it, all of its descriptors are.
TEST_F(OpenFilesTest, AMessageCarriesTheOpenFile) {
  const std::string name = std::string("a") + '\0';
  call("clone", 101);
  make(2, 2);
  open("/a", 5);
  call("dup", 6, 5);
  call("sendmsg", 1, 3);
  carries(USC_STRING_PASSED, 5, 77, S_IFREG, name);
  call("close", 0, 5);
  of_task(2);
  call("recvmsg", 1, 4);
  carries(USC_STRING_PASSED_OUT, 9, 77, S_IFREG, name);
  read(9);
  of_task(1);
  read(6);
  follow();
  EXPECT_EQ(letters(), "AA");
  EXPECT_EQ(inodes(), "1:77 1:77");
}

// The messages name the file alone: which of the two came first is not known.
TEST_F(OpenFilesTest, OfTwoThatWereSentItIsNotKnownWhichHasCome) {
  const std::string name = std::string("a") + '\0';
  call("clone", 101);
  make(2, 2);
  for (const int fd : {5, 6}) {
    open("/a", fd);
    call("sendmsg", 1, 3);
    carries(USC_STRING_PASSED, fd, 77, S_IFREG, name);
  }
  read(5);
  read(6);
  of_task(2);
  for (const int fd : {9, 10}) {
    call("recvmsg", 1, 4);
    carries(USC_STRING_PASSED_OUT, fd, 77, S_IFREG, name);
    read(static_cast<std::uint64_t>(fd));
  }
  follow();
  EXPECT_EQ(letters(), "ABcd");
  EXPECT_EQ(inodes(), "1:77 1:77 1:77 1:77");
}

// A socket's inode is of no other open file.
TEST_F(OpenFilesTest, ASocketInAMessageIsTheSame) {
  call("clone", 101);
  make(2, 2);
  call("socket", 6, AF_INET);
  call("sendmsg", 1, 3);
  carries(USC_STRING_PASSED, 6, 90, S_IFSOCK, "");
  of_task(2);
  for (const int fd : {9, 10}) {
    call("recvmsg", 1, 4);
    carries(USC_STRING_PASSED_OUT, fd, 90, S_IFSOCK, "");
  }
  read(9);
  read(10);
  of_task(1);
  read(6);
  follow();
  EXPECT_EQ(letters(), "AAA");
  EXPECT_EQ(inodes(), "1:90 1:90 1:90");
}

TEST_F(OpenFilesTest, AnUntracedSenderMayHaveSentWhatIsKnown) {
  open("/a", 3);
  call("recvmsg", 1, 4);
  carries(USC_STRING_PASSED_OUT, 9, 77, S_IFREG, std::string("a") + '\0');
  read(3);
  read(9);
  call("dup", 10, 9);
  read(10);
  follow();
  EXPECT_EQ(letters(), "Abb");
  EXPECT_EQ(inodes(), "0:0 1:77 1:77");
}

TEST_F(OpenFilesTest, PidfdGetfdTakesTheOtherProcesssOpenFile) {
  for (const std::uint32_t task : {2U, 3U})
    trace_->task({.task = task,
                  .process = task,
                  .parent_task = 1,
                  .pid = 200 + task,
                  .tid = 200 + task,
                  .flags = USC_TASK_FORKED | USC_TASK_PROCESS,
                  .time = next_,
                  .below = 0});
  of_task(3);
  open("/b", 7);
  opened(78);
  read(7);
  of_task(2);
  call("pidfd_open", 3, 203);
  call("pidfd_getfd", 4, 3, 7);
  read(4);
  read(3);
  follow();
  EXPECT_EQ(letters(), "AAB");
  EXPECT_EQ(inodes(), "1:78 1:78 0:0");
}

// /proc tells the file, and not whether two descriptors of it are of one open file; but of sockets it does.
TEST_F(OpenFilesTest, WhatWasOpenBeforeHasItsFile) {
  trace_->task({.task = 2,
                .process = 2,
                .pid = 102,
                .tid = 102,
                .flags = USC_TASK_PROCESS | USC_TASK_SAME_FILES | USC_TASK_SAME_FS | USC_TASK_ATTACHED,
                .time = next_});
  const usc_fd_file file{.dev = 8, .ino = 99, .space = 9, .pad = 0};
  const usc_fd_file socket{.dev = 7, .ino = 50, .space = 9, .pad = 0};
  trace_->descriptor(2, USC_FD_CWD, "/there", next_ + 1);
  trace_->descriptor(2, 3, "/log", next_ + 1, 0, file);
  trace_->descriptor(2, 4, "/log", next_ + 1, 0, file);
  trace_->descriptor(2, 5, "socket:[50]", next_ + 1, 0, socket);
  trace_->descriptor(2, 6, "socket:[50]", next_ + 1, 0, socket);
  trace_->descriptor(2, 7, "/old", next_ + 1);
  trace_->descriptor(2, USC_FD_END, "", next_ + 2);
  of_task(2);
  call("dup", 8, 3);
  for (const int fd : {3, 4, 8, 5, 6, 7}) read(static_cast<std::uint64_t>(fd));
  follow();
  EXPECT_EQ(letters(), "abaccd");
  EXPECT_EQ(inodes(), "8:99 8:99 8:99 7:50 7:50 0:0");
}

TEST_F(OpenFilesTest, WhoHadWhatOpenSaysTheOpenFileToo) {
  open("/a", 3);
  call("dup", 4, 3);
  open("/b", 5);
  follow();
  ASSERT_EQ(held_.size(), 3);
  EXPECT_EQ(held_[0].open_file.id, held_[1].open_file.id);
  EXPECT_NE(held_[0].open_file.id, held_[2].open_file.id);
  EXPECT_EQ(held_[0].opened, EventId(1U));
  EXPECT_EQ(held_[1].opened, EventId(2U));
}

}  // namespace
}  // namespace uscope::descriptors
