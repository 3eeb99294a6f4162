// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Messages of every length arrive whole and in order, and nobody waits for who does not take them.
#include "tracer/scouts/message_port.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <optional>

#include "tracer/scouts/scout_packets.h"

namespace uscope::tracer {
namespace {

using Came = MessagePort::Came;

std::vector<std::byte> bytes_of(std::size_t length) {
  std::vector<std::byte> bytes(length);
  for (std::size_t i = 0; i < length; i++) bytes[i] = static_cast<std::byte>(i * 7 + length);
  return bytes;
}

class MessagePortTest : public testing::Test {
 protected:
  void SetUp() override {
    std::array<int, 2> ends{};
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
    here_.emplace(UniqueFd(ends[0]));
    there_.emplace(UniqueFd(ends[1]));
  }
  // As two processes would by turns, until the message is there.
  ScoutMessage exchange(MessagePort& from, MessagePort& to) {
    ScoutMessage message;
    for (int turn = 0; turn < 10'000; turn++) {
      if (to.next(message) == Came::kMessage) return message;
      ScoutMessage none;
      EXPECT_EQ(from.next(none), Came::kNothing);
    }
    ADD_FAILURE() << "no message has come";
    return message;
  }
  std::optional<MessagePort> here_;
  std::optional<MessagePort> there_;
};

TEST_F(MessagePortTest, MessagesAroundTheLimitOfAPacketArriveWhole) {
  constexpr std::array<std::size_t, 10> kLengths{
      0, 1, kMostInPacket - 1, kMostInPacket, kMostInPacket + 1, 2 * kMostInPacket - 1, 2 * kMostInPacket, 4'000'000,
      3, 0};
  for (const std::size_t length : kLengths) here_->send(bytes_of(length));
  for (const std::size_t length : kLengths) EXPECT_EQ(exchange(*here_, *there_).bytes, bytes_of(length)) << length;
  ScoutMessage none;
  EXPECT_EQ(there_->next(none), Came::kNothing);
}

TEST_F(MessagePortTest, BothMaySendMoreThanASocketHoldsBeforeEitherTakesAnything) {
  for (int i = 0; i < 2'000; i++) {
    here_->send(bytes_of(50));
    there_->send(bytes_of(60));
  }
  here_->send(bytes_of(1'000'000));
  EXPECT_NE(here_->events() & POLLOUT, 0);
  for (int i = 0; i < 2'000; i++) {
    ASSERT_EQ(exchange(*here_, *there_).bytes, bytes_of(50)) << i;
    ASSERT_EQ(exchange(*there_, *here_).bytes, bytes_of(60)) << i;
  }
  EXPECT_EQ(exchange(*here_, *there_).bytes, bytes_of(1'000'000));
  EXPECT_EQ(here_->events() & POLLOUT, 0);
}

TEST_F(MessagePortTest, DescriptorsGoWithTheirMessageThoughTheSenderHasClosedThem) {
  for (int i = 0; i < 1'000; i++) here_->send(bytes_of(100));
  struct stat sent {};
  {
    const UniqueFd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
    ASSERT_EQ(fstat(null.get(), &sent), 0);
    here_->send(bytes_of(kMostInPacket + 1), std::array{null.get(), null.get()});
  }
  for (int i = 0; i < 1'000; i++) ASSERT_TRUE(exchange(*here_, *there_).fds.empty());
  const ScoutMessage message = exchange(*here_, *there_);
  EXPECT_EQ(message.bytes, bytes_of(kMostInPacket + 1));
  ASSERT_EQ(message.fds.size(), 2U);
  struct stat come {};
  ASSERT_EQ(fstat(message.fds[1].get(), &come), 0);
  EXPECT_EQ(come.st_rdev, sent.st_rdev);
}

TEST_F(MessagePortTest, AMessageWhoseDescriptorsFindNoRoomIsToldWithItsBytes) {
  here_->send(bytes_of(kMostInPacket + 1), std::array{STDIN_FILENO, STDIN_FILENO});
  here_->send(bytes_of(5));
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit none{0, limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  ScoutMessage message;
  EXPECT_EQ(there_->next(message), Came::kLost);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(message.bytes, bytes_of(kMostInPacket + 1));
  EXPECT_TRUE(message.fds.empty());
  EXPECT_EQ(there_->next(message), Came::kMessage);
  EXPECT_EQ(message.bytes, bytes_of(5));
}

TEST_F(MessagePortTest, WhatWasSentBeforeTheEndIsTaken) {
  here_->send(bytes_of(9));
  here_.reset();
  ScoutMessage message;
  there_->send(bytes_of(4));
  EXPECT_EQ(there_->next(message), Came::kMessage);
  EXPECT_EQ(message.bytes, bytes_of(9));
  EXPECT_EQ(there_->next(message), Came::kClosed);
  EXPECT_EQ(there_->fd(), -1);
}

}  // namespace
}  // namespace uscope::tracer
