// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Hits on their way to the trace, and what their kinds are called.
#include "tracer/probes/hit_records.h"

#include <gtest/gtest.h>

#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "tests/unit/trace/memory_sink.h"
#include "tracer/probes/plan_kinds.h"

namespace uscope::tracer {
namespace {

class HitRecordsTest : public testing::Test {
 protected:
  // A hit as the kernel side sends it.
  static std::vector<char> hit_with(const std::vector<std::uint64_t>& addresses,
                                    std::uint8_t source = USC_SOURCE_SAMPLE) {
    usc_hit hit{};
    hit.head.cpu = 1;
    hit.head.seq = 9;
    hit.head.task = 5;
    hit.source = source;
    hit.how = USC_HOW_HIT;
    hit.frames = static_cast<__u16>(addresses.size());
    hit.flags = USC_HIT_ADDRESSES | USC_EVENT_NO_RESULT;
    return trace::RecordBuilder<usc_hit>(hit).add_values(std::span<const std::uint64_t>(addresses)).take();
  }

  Result<void> write(const std::vector<char>& bytes, bool is_own = false) {
    return hits_.write(*reinterpret_cast<const usc_hit*>(bytes.data()), is_own);
  }

  std::vector<std::uint32_t> frames_of(std::size_t number) {
    std::vector<std::string> tails;
    const auto hits = sink_.all<usc_hit>(&tails);
    std::vector<std::uint32_t> frames(hits.at(number).frames);
    std::memcpy(frames.data(), tails.at(number).data(), frames.size() * sizeof(frames[0]));
    return frames;
  }

  MemorySink sink_;
  int reads_ = 0;
  HitRecords hits_{sink_, [this] {
                     reads_++;
                     std::istringstream symbols("ffffffff81000000 T _text\nffffffff81000100 T schedule\n");
                     std::istringstream modules;
                     return KernelSymbols(symbols, modules);
                   }};
};

TEST_F(HitRecordsTest, AddressesBecomePlacesThatAreToldOnce) {
  ASSERT_TRUE(write(hit_with({0xffffffff81000108, 0xffffffff81000110})));
  ASSERT_TRUE(write(hit_with({0xffffffff81000108})));
  std::vector<std::string> texts;
  const auto places = sink_.all<usc_kernel_place>(&texts);
  ASSERT_EQ(places.size(), 2U);
  EXPECT_GE(places[0].place, HitRecords::kFirstPlace);  // smaller ones are the module's
  EXPECT_EQ(texts[0].substr(0, places[0].text_bytes), "vmlinux+0x108 schedule+0x8");
  EXPECT_EQ(texts[1].substr(0, places[1].text_bytes), "vmlinux+0x110 schedule+0x10");
  EXPECT_EQ(frames_of(0), (std::vector<std::uint32_t>{places[0].place, places[1].place}));
  EXPECT_EQ(frames_of(1), (std::vector<std::uint32_t>{places[0].place}));
  const auto hits = sink_.all<usc_hit>();
  EXPECT_EQ(hits[0].flags, USC_EVENT_NO_RESULT);
  EXPECT_EQ(hits[0].head.seq, 9U);  // in the ring's record's place
  EXPECT_EQ(hits[0].head.cpu, 1U);
  EXPECT_EQ(reads_, 1);
}

// A thread that was switched off comes back to each of its places; a clock may have met the first instruction of a
// function.
TEST_F(HitRecordsTest, ReturnAddressesAreLookedUpBeforeThem) {
  ASSERT_TRUE(write(hit_with({0xffffffff81000100})));
  ASSERT_TRUE(write(hit_with({0xffffffff81000100}, USC_SOURCE_OFFCPU)));
  std::vector<std::string> texts;
  const auto places = sink_.all<usc_kernel_place>(&texts);
  ASSERT_EQ(places.size(), 2U);
  EXPECT_EQ(texts[0].substr(0, places[0].text_bytes), "vmlinux+0x100 schedule+0x0");
  EXPECT_EQ(texts[1].substr(0, places[1].text_bytes), "vmlinux+0x100 _text+0x100");
}

TEST_F(HitRecordsTest, OneThatWasAskedForIsTheTracersOwn) {
  ASSERT_TRUE(write(hit_with({}), true));
  const auto hits = sink_.all<usc_hit>();
  ASSERT_EQ(hits.size(), 1U);
  EXPECT_EQ(hits[0].head.cpu, USC_CPU_USER);
  EXPECT_EQ(hits[0].head.task, 5U);
  EXPECT_EQ(reads_, 0);  // nothing was to be named
}

TEST_F(HitRecordsTest, FramesThatTheRecordHasNotAreNone) {
  std::vector<char> bytes = hit_with({0xffffffff81000108});
  reinterpret_cast<usc_hit*>(bytes.data())->frames = 60;
  ASSERT_TRUE(write(bytes));
  EXPECT_EQ(frames_of(0).size(), 1U);
}

TEST(PlanKinds, EachKindThatCanOccurIsTold) {
  ProbePlan plan;
  MemorySink nothing;
  ASSERT_TRUE(write_kinds(nothing, plan, 7));
  EXPECT_TRUE(nothing.all<usc_kind>().empty());
  plan.sample_hz = 99;
  plan.offcpu = true;
  Probe probe;
  probe.source = USC_SOURCE_USDT;
  probe.kind = 3;
  probe.name = "libc.so.6:libc:setjmp";
  probe.arguments.resize(1);
  probe.arguments[0].name = "arg1";
  probe.arguments[0].type = "long";
  plan.probes.push_back(probe);
  probe = {};
  probe.kind = 4;
  probe.name = "libc.so.6:strdup";
  probe.result_type = "char *";
  plan.probes.push_back(probe);  // what it returns is not seen
  plan.probes.push_back(probe);
  plan.probes.back().kind = 5;
  plan.probes.back().with_return = true;
  MemorySink sink;
  std::vector<std::uint32_t> told;  // to whoever observes
  ASSERT_TRUE(write_kinds(sink, plan, 7, [&](const usc_kind& kind) { told.push_back(kind.kind); }));
  EXPECT_EQ(told,
            (std::vector<std::uint32_t>{USC_SAMPLE_USER, USC_SAMPLE_KERNEL, USC_OFFCPU_PREEMPTED, USC_OFFCPU_SLEEPING,
                                        USC_OFFCPU_BLOCKED, USC_OFFCPU_STOPPED, 3, 4, 5, 5}));
  std::vector<std::string> texts;
  const auto kinds = sink.all<usc_kind>(&texts);
  ASSERT_EQ(kinds.size(), 10U);
  EXPECT_EQ(kinds[0].source, USC_SOURCE_SAMPLE);
  EXPECT_EQ(texts[0].substr(0, kinds[0].text_bytes),
            std::string("user\0cpu:unsigned int\0period_ns:unsigned long\0", 46));
  EXPECT_EQ(kinds[3].source, USC_SOURCE_OFFCPU);
  EXPECT_EQ(kinds[3].kind, USC_OFFCPU_SLEEPING);
  EXPECT_EQ(kinds[6].kind, 3U);
  EXPECT_EQ(kinds[6].args, 1U);
  EXPECT_EQ(texts[6].substr(0, kinds[6].text_bytes), std::string("libc.so.6:libc:setjmp\0arg1:long\0", 32));
  EXPECT_EQ(texts[9].substr(0, kinds[9].text_bytes), std::string("libc.so.6:strdup\0return:char *\0", 31));
}

}  // namespace
}  // namespace uscope::tracer
