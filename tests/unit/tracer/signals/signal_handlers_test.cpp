// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/signals/signal_handlers.h"

#include <gtest/gtest.h>

#include "tests/support/frame_word.h"
#include "tests/unit/trace/memory_sink.h"

namespace uscope::tracer {
namespace {

class SignalHandlersTest : public testing::Test {
 protected:
  void map(std::uint32_t file, std::uint64_t start, std::uint64_t end, std::uint64_t offset, std::uint64_t time) {
    usc_map record{};
    record.head.time = time;
    record.mm = 1;
    record.file = file;
    record.start = start;
    record.end = end;
    record.offset = offset;
    mappings_.add(record);
  }

  void deliver(std::uint64_t handler, std::uint64_t time) {
    usc_signal signal{};
    signal.head = {
        .size = sizeof(signal), .type = USC_RECORD_SIGNAL, .cpu = 1, .seq = 9, .task = 5, .pad = 0, .time = time};
    signal.number = 15;
    signal.flags = USC_SIGNAL_DELIVERED;
    signal.mm = 1;
    signal.handler = handler;
    ASSERT_TRUE(handlers_.add(signal));
  }

  MappingTimeline mappings_;
  MemorySink sink_;
  SignalHandlers handlers_{mappings_, sink_};
};

TEST_F(SignalHandlersTest, WithoutAHandlerASignalIsWrittenAtOnce) {
  deliver(0, 10);
  deliver(1, 11);
  EXPECT_EQ(sink_.all<usc_signal>().size(), 2U);
  EXPECT_TRUE(handlers_.empty());
}

// The mapping's record comes after the delivery's, from another CPU.
TEST_F(SignalHandlersTest, TheHandlersFileIsLookedUpARoundLater) {
  deliver(0x401234, 10);
  ASSERT_TRUE(handlers_.work());
  EXPECT_TRUE(sink_.all<usc_signal>().empty());
  EXPECT_FALSE(handlers_.empty());
  map(7, 0x401000, 0x402000, 0x3000, 5);
  ASSERT_TRUE(handlers_.work());
  const auto written = sink_.all<usc_signal>();
  ASSERT_EQ(written.size(), 1U);
  EXPECT_EQ(written[0].handler_frame, test::frame_word(7, 0x3234, 1));
  EXPECT_EQ(written[0].handler, 0x401234U);
  EXPECT_EQ(written[0].head.cpu, 1U);
  EXPECT_EQ(written[0].head.seq, 9U);
  EXPECT_TRUE(handlers_.empty());
}

TEST_F(SignalHandlersTest, CodeWithoutAFileIsKnownByItsAddress) {
  map(USC_FILE_NONE, 0x7000, 0x9000, 0, 5);
  deliver(0x8010, 10);
  deliver(0xf000, 10);  // nothing is mapped there
  for (int i = 0; i < 2; i++) ASSERT_TRUE(handlers_.work());
  const auto written = sink_.all<usc_signal>();
  ASSERT_EQ(written.size(), 2U);
  EXPECT_EQ(written[0].handler_frame, test::frame_word(USC_FILE_NONE, 0x8010, 1));
  EXPECT_EQ(written[1].handler_frame, 0U);
}

TEST_F(SignalHandlersTest, TheMappingIsThatOfItsTime) {
  map(7, 0x401000, 0x402000, 0, 5);
  map(8, 0x401000, 0x402000, 0, 20);
  deliver(0x401010, 10);
  for (int i = 0; i < 2; i++) ASSERT_TRUE(handlers_.work());
  EXPECT_EQ(usc_frame_file(sink_.all<usc_signal>()[0].handler_frame), 7U);
}

}  // namespace
}  // namespace uscope::tracer
