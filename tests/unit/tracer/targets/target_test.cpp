// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/targets/target.h"

#include <gtest/gtest.h>

namespace uscope::tracer {
namespace {

Target right(const std::string& text) {
  const auto target = parse_target(text);
  EXPECT_TRUE(target) << text;
  return target ? *target : Target();
}

Error wrong(const std::string& text) {
  const auto target = parse_target(text);
  EXPECT_FALSE(target) << text;
  return target ? Error{} : target.error();
}

TEST(Targets, EachClassHasItsNames) {
  EXPECT_EQ(right("sample").hz, 99U);
  EXPECT_EQ(right("sample:997").hz, 997U);
  EXPECT_EQ(right("offcpu").what, TargetClass::kOffcpu);

  const Target tracepoint = right("tracepoint:sched:sched_*");
  EXPECT_EQ(tracepoint.what, TargetClass::kTracepoint);
  EXPECT_EQ(tracepoint.group, "sched");
  EXPECT_EQ(tracepoint.name, "sched_*");
  EXPECT_EQ(right("tracepoint:block").name, "*");

  const Target usdt = right("usdt:/usr/bin/python3:python:gc__*");
  EXPECT_EQ(usdt.binary, "/usr/bin/python3");
  EXPECT_EQ(usdt.group, "python");
  EXPECT_EQ(usdt.name, "gc__*");

  const Target function = right("ufunction:app:ns::Type::f");
  EXPECT_EQ(function.binary, "app");
  EXPECT_EQ(function.name, "ns::Type::f");
  EXPECT_EQ(function.text, "ufunction:app:ns::Type::f");
  EXPECT_EQ(right("kfunction:vfs_*").name, "vfs_*");
}

TEST(Targets, WhatIsNoneSaysWhatToWrite) {
  EXPECT_EQ(wrong("tracepont:sched:x").what,
            "'tracepont:sched:x' is not a target: no class of events is called 'tracepont'");
  EXPECT_EQ(wrong("tracepont:sched:x").remedy, "did you mean tracepoint?");
  EXPECT_NE(wrong("zzz").remedy.find("ufunction:BINARY:FUNCTION"), std::string::npos);
  EXPECT_EQ(wrong("").what, "'' is not a target: no class of events is called ''");
  EXPECT_EQ(wrong("usdt:libc.so.6:setjmp").remedy,
            "write usdt:BINARY:PROVIDER:NAME; `uscope list usdt` shows what there is");
  for (const char* text : {"tracepoint", "tracepoint:", "tracepoint::x", "tracepoint:a:b:c", "offcpu:1", "ufunction",
                           "ufunction:libc.so.6", "ufunction:libc.so.6:", "ufunction::f", "kfunction",
                           "kfunction:", "usdt:a:b:c:d", "usdt:a::c"})
    EXPECT_NE(wrong(text).what.find("is not a target"), std::string::npos) << text;
  for (const char* text : {"sample:", "sample:0", "sample:-1", "sample:99x", "sample:10001", "sample:99:1"})
    EXPECT_NE(wrong(text).remedy.find("from 1 to 10000"), std::string::npos) << text;
}

TEST(Targets, FunctionsMayBeTracedToTheirReturns) {
  const Target lasting = right("ufunction:app:ns::Type::f%return");
  EXPECT_TRUE(lasting.with_return);
  EXPECT_EQ(lasting.name, "ns::Type::f");
  EXPECT_EQ(lasting.text, "ufunction:app:ns::Type::f%return");
  EXPECT_TRUE(right("kfunction:vfs_*%return").with_return);
  EXPECT_FALSE(right("kfunction:vfs_*").with_return);
  EXPECT_EQ(wrong("ufunction:app:f%retrun").what,
            "'ufunction:app:f%retrun' is not a target: '%retrun' means nothing behind a function");
  EXPECT_EQ(wrong("ufunction:app:f%").remedy, "write %return for events from a function's entry to its return");
  EXPECT_NE(wrong("ufunction:app:%return").what.find("is not a target"), std::string::npos);
  for (const char* text : {"tracepoint:sched:x%return", "usdt:app:a:b%return", "offcpu%return", "sample:99%return"})
    EXPECT_FALSE(parse_target(text)) << text;
  EXPECT_EQ(wrong("tracepoint:sched:x%return").what,
            "'tracepoint:sched:x%return' is not a target: only functions return");
  const auto listed = parse_list_pattern("ufunction:app:f%return");
  ASSERT_TRUE(listed);
  EXPECT_TRUE(listed->at(0).with_return);
}

TEST(Targets, ListTakesLess) {
  const auto all = parse_list_pattern("tracepoint");
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 1U);
  EXPECT_EQ((*all)[0].group + (*all)[0].name, "**");
  const auto binary = parse_list_pattern("usdt:nginx");
  ASSERT_TRUE(binary);
  EXPECT_EQ((*binary)[0].binary, "nginx");
  EXPECT_EQ((*binary)[0].name, "*");
  EXPECT_FALSE(parse_list_pattern("usdt:a:b:c:d"));
  EXPECT_FALSE(parse_list_pattern("tracepont:x"));

  const auto word = parse_list_pattern("open");
  ASSERT_TRUE(word);
  EXPECT_EQ(word->size(), kTargetForms.size());
  for (const Target& target : *word) {
    EXPECT_EQ(target.word, "open");
    EXPECT_EQ(target.name, "*");
  }
  const auto pattern = parse_list_pattern("tcp_*");
  ASSERT_TRUE(pattern);
  EXPECT_EQ((*pattern)[2].name, "tcp_*");
  EXPECT_EQ((*pattern)[2].word, "");

  const auto file = parse_list_pattern("/usr/bin/python3");
  ASSERT_TRUE(file);
  ASSERT_EQ(file->size(), 2U);
  EXPECT_EQ((*file)[0].what, TargetClass::kUsdt);
  EXPECT_EQ((*file)[1].binary, "/usr/bin/python3");
  EXPECT_EQ(parse_list_pattern("./a/b")->size(), 2U);
}

}  // namespace
}  // namespace uscope::tracer
