// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Tracepoints of a tracefs that stands in a folder.
#include "tracer/targets/tracepoints.h"

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.h"
#include "tracer/targets/target_search.h"

namespace uscope::tracer {
namespace {

constexpr const char* kCommon =
    "name: x\nID: 7\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

TEST(Tracepoints, FieldsBecomeArguments) {
  const auto fields = parse_tracepoint_format(std::string(kCommon) +
                                              "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
                                              "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
                                              "\tfield:u8 address[16];\toffset:28;\tsize:16;\tsigned:0;\n"
                                              "\tfield:unsigned long * page;\toffset:48;\tsize:8;\tsigned:0;\n"
                                              "\tfield:__data_loc char[] cmd;\toffset:56;\tsize:4;\tsigned:0;\n"
                                              "\tfield:__data_loc u64[] many;\toffset:60;\tsize:4;\tsigned:0;\n"
                                              "\tfield:struct pair both;\toffset:64;\tsize:16;\tsigned:0;\n"
                                              "\tfield:bool last;\toffset:80;\tsize:1;\tsigned:0;\n"
                                              "\nprint fmt: \"field:int no;\", REC->x\n");
  const std::vector<ProbeArgument>& arguments = fields.arguments;
  EXPECT_EQ(fields.unreadable, (std::vector<std::string>{"address", "many", "both"}));
  EXPECT_TRUE(fields.too_many.empty());
  ASSERT_EQ(arguments.size(), 5U);
  EXPECT_EQ(arguments[0].name, "prev_comm");
  EXPECT_EQ(arguments[0].type, "char[16]");
  EXPECT_TRUE(arguments[0].is_string);
  EXPECT_EQ(arguments[0].from, ProbeArgument::From::kRecord);
  EXPECT_EQ(arguments[0].offset, 8);
  EXPECT_EQ(arguments[1].type, "pid_t");
  EXPECT_EQ(arguments[1].bytes, 4);
  EXPECT_TRUE(arguments[1].is_signed);
  EXPECT_EQ(arguments[2].name, "page");
  EXPECT_EQ(arguments[2].type, "unsigned long *");
  EXPECT_EQ(arguments[3].name, "cmd");
  EXPECT_EQ(arguments[3].type, "__data_loc char[]");
  EXPECT_TRUE(arguments[3].is_string);
  EXPECT_EQ(arguments[4].name, "last");
  EXPECT_EQ(arguments[4].bytes, 1);
}

TEST(Tracepoints, SixArgumentsAtMost) {
  std::string format = kCommon;
  for (int i = 0; i < 9; i++) format += "\tfield:int f" + std::to_string(i) + ";\toffset:8;\tsize:4;\tsigned:1;\n";
  const auto fields = parse_tracepoint_format(format);
  EXPECT_EQ(fields.arguments.size(), 6U);
  EXPECT_EQ(fields.too_many, (std::vector<std::string>{"f6", "f7", "f8"}));
}

TEST(Tracepoints, WhatIsNotKeptIsSaidWithTheReason) {
  EXPECT_EQ(what_is_not_kept({}, {}), "");
  EXPECT_EQ(what_is_not_kept({"next_prio"}, {}), "next_prio is not kept: an event holds six arguments");
  EXPECT_EQ(what_is_not_kept({"a", "b"}, {"c"}),
            "a, b are not kept: an event holds six arguments; c is not kept: it is neither a number nor a text");
  EXPECT_EQ(what_is_not_kept({}, {"c", "d"}), "c, d are not kept: they are neither numbers nor texts");
}

TEST(Tracepoints, DamagedFormatsGiveFewerArguments) {
  for (const char* line : {"field:", "field:int", "field:int a;", "field:int a;\toffset:x;\tsize:4;", "field:];",
                           "field:a];\toffset:8;\tsize:4;", "\tfield:int a;\toffset:8;\tsize:3;\tsigned:0;", "nothing"})
    EXPECT_TRUE(parse_tracepoint_format(line).arguments.empty()) << line;
}

class TracefsTest : public testing::Test {
 protected:
  TracefsTest() {
    put("sched", "sched_switch", "372", "\tfield:int a;\toffset:8;\tsize:4;\tsigned:1;\n");
    put("sched", "sched_waking", "373", "");
    put("syscalls", "sys_enter_openat", "782", "\tfield:const char * filename;\toffset:24;\tsize:8;\tsigned:0;\n");
    std::filesystem::create_directories(events("ftrace", "function"));  // has no `enable`
  }
  [[nodiscard]] std::filesystem::path events(const std::string& system, const std::string& event) const {
    return folder_ / "sys/kernel/tracing/events" / system / event;
  }
  void put(const std::string& system, const std::string& event, const std::string& id,
           const std::string& fields) const {
    const auto folder = events(system, event);
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "id") << id << "\n";
    std::ofstream(folder / "enable") << "0\n";
    std::ofstream(folder / "format") << kCommon << fields;
  }
  [[nodiscard]] TargetAnswer find(const std::string& text) const {
    const auto target = parse_target(text);
    EXPECT_TRUE(target);
    TargetSearch search;
    search.host.root = folder_.path();
    const std::vector targets{*target};
    auto answers = search_targets(targets, search);
    EXPECT_TRUE(answers && answers->size() == 1);
    return std::move(answers->front());
  }
  test::TemporaryFolder folder_;
};

TEST_F(TracefsTest, PatternsAreMatched) {
  const TargetAnswer all = find("tracepoint:sched");
  ASSERT_EQ(all.matches.size(), 2U);
  EXPECT_EQ(all.matches[0].target, "tracepoint:sched:sched_switch");
  EXPECT_EQ(all.matches[0].probe.source, USC_SOURCE_TRACEPOINT);
  EXPECT_EQ(all.matches[0].probe.event_id, 372U);
  EXPECT_EQ(all.matches[0].probe.name, "sched:sched_switch");
  EXPECT_EQ(all.matches[0].probe.arguments.size(), 1U);
  EXPECT_EQ(find("tracepoint:*:sched_w*").matches.size(), 1U);
  EXPECT_EQ(find("tracepoint:*:*").matches.size(), 3U);
}

TEST_F(TracefsTest, PointersIntoTheProgramAreTexts) {
  const TargetAnswer call = find("tracepoint:syscalls:sys_enter_openat");
  ASSERT_EQ(call.matches.size(), 1U);
  EXPECT_TRUE(call.matches[0].probe.arguments.at(0).is_string);
}

TEST_F(TracefsTest, AFieldThatIsNotKeptIsSaid) {
  std::string fields;
  for (int i = 0; i < 7; i++) fields += "\tfield:int f" + std::to_string(i) + ";\toffset:8;\tsize:4;\tsigned:1;\n";
  put("sched", "wide", "374", fields);
  const TargetAnswer wide = find("tracepoint:sched:wide");
  ASSERT_EQ(wide.matches.size(), 1U);
  EXPECT_EQ(wide.matches[0].note, "f6 is not kept: an event holds six arguments");
  EXPECT_EQ(wide.matches[0].probe.not_kept, wide.matches[0].note);
  EXPECT_EQ(find("tracepoint:sched:sched_switch").matches.at(0).note, "");
}

TEST_F(TracefsTest, NearNamesAreOffered) {
  EXPECT_EQ(find("tracepoint:sched:sched_swich").problem.what, "tracepoint:sched:sched_swich: no such tracepoint");
  EXPECT_EQ(find("tracepoint:sched:sched_swich").problem.remedy, "did you mean sched:sched_switch?");
  EXPECT_EQ(find("tracepoint:none:such").problem.remedy, "`uscope list tracepoint` shows all of them");
}

TEST(Tracefs, SaysHowItIsMounted) {
  const test::TemporaryFolder folder;
  Host host{folder.path(), "6.1.0", 0};
  EXPECT_NE(tracefs_folder(host).error().what.find("has no tracefs"), std::string::npos);
  std::filesystem::create_directories(folder / "sys/kernel/tracing");
  EXPECT_NE(tracefs_folder(host).error().remedy.find("mount -t tracefs"), std::string::npos);
  std::filesystem::create_directories(folder / "sys/kernel/debug/tracing/events");
  EXPECT_EQ(*tracefs_folder(host), folder.path() + "/sys/kernel/debug/tracing");
}

}  // namespace
}  // namespace uscope::tracer
