// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/render/hit_text.h"

#include <gtest/gtest.h>

#include "cli/render/events_render.h"

namespace uscope::cli {
namespace {

using analyzer::EventRow;
using Source = analyzer::EventString::Source;

EventRow hit_of(const std::string& source, const std::string& kind, std::vector<trace::KindArgument> arguments,
                std::vector<std::int64_t> values) {
  EventRow row;
  row.process = "app";
  row.pid = 7;
  row.tid = 8;
  row.source = source;
  row.call = kind;
  row.abi = "none";
  row.how = "hit";
  row.arguments = std::move(arguments);
  row.args.fill(0);
  for (std::size_t i = 0; i < values.size(); i++) row.args.at(i) = values[i];
  return row;
}

TEST(HitText, TypesDecideTheForm) {
  const auto text = [](const char* type, std::int64_t value) { return typed_value_text(type, value); };
  EXPECT_EQ(text("int", 0xffffffff), "-1");
  EXPECT_EQ(text("int", 0x700000003), "3");  // the upper half of the register is undefined
  EXPECT_EQ(text("unsigned int", -1), "4294967295");
  EXPECT_EQ(text("const unsigned", -1), "4294967295");
  EXPECT_EQ(text("long", -1), "-1");
  EXPECT_EQ(text("long int", -1), "-1");
  EXPECT_EQ(text("unsigned long", -1), "0xffffffffffffffff");
  EXPECT_EQ(text("long unsigned int", 0x55d0c0de1000), "0x55d0c0de1000");
  EXPECT_EQ(text("unsigned long", 10101010), "10101010");
  EXPECT_EQ(text("uintptr_t", 0x7f0000001000), "0x7f0000001000");
  EXPECT_EQ(text("long", 0x7f0000001000), "139637976731648");
  EXPECT_EQ(text("unsigned long", 0), "0");
  EXPECT_EQ(text("size_t", -1), "18446744073709551615");
  EXPECT_EQ(text("short", 0x1ffff), "-1");
  EXPECT_EQ(text("unsigned short", 0x1ffff), "65535");
  EXPECT_EQ(text("unsigned char", 0x1ff), "255");
  EXPECT_EQ(text("char", 0xff), "-1");
  EXPECT_EQ(text("u32", -1), "4294967295");
  EXPECT_EQ(text("__s16", 0xffff), "-1");
  EXPECT_EQ(text("uint64_t", -1), "18446744073709551615");
  EXPECT_EQ(text("int8_t", 0x80), "-128");
  EXPECT_EQ(text("bool", 0x100), "false");
  EXPECT_EQ(text("_Bool", 1), "true");
  EXPECT_EQ(text("const char *", 0x7f00), "0x7f00");
  EXPECT_EQ(text("struct file *", 0), "NULL");
  EXPECT_EQ(text("enum pid_type", 0x100000002), "2");
  EXPECT_EQ(text("pid_t", 0xffffffff), "-1");
  EXPECT_EQ(text("uid_t", -1), "4294967295");
  EXPECT_EQ(text("", -5), "-5");
  EXPECT_EQ(text("loff_t", -5), "-5");
}

TEST(HitText, ALineForEachKind) {
  EXPECT_EQ(event_text(hit_of("sample", "user", {{"cpu", "unsigned int"}, {"period_ns", "u64"}}, {1, 10101010}), "0.5"),
            "app[7/8] 0.5 sample user(cpu=1, period_ns=10101010)\n");
  EventRow off = hit_of("offcpu", "sleeping", {{"waker_tid", "pid_t"}, {"queued_ns", "u64"}}, {9, 1200});
  off.how = "returned";
  off.dur_ns = 1'500'000;
  EXPECT_EQ(event_text(off, "0.5"), "app[7/8] 0.5 offcpu sleeping(waker_tid=9, queued_ns=1200) <1.5 ms>\n");
  off.how = "open";
  off.dur_ns.reset();
  EXPECT_EQ(event_text(off, "0.5"), "app[7/8] 0.5 offcpu sleeping(waker_tid=9, queued_ns=1200) (not over)\n");
  off.how = "attached";
  EXPECT_TRUE(event_text(off, "0.5").ends_with(") (not over)\n"));
  off.dur_ns = 1'500'000;
  EXPECT_TRUE(event_text(off, "0.5").ends_with(") <1.5 ms>\n"));
  EventRow function = hit_of("ufunction", "libssl.so.3:SSL_read", {{"ssl", "SSL *"}, {"num", "int"}}, {0x5000, 16});
  EXPECT_EQ(event_text(function, "0"), "app[7/8] 0 ufunction libssl.so.3:SSL_read(ssl=0x5000, num=16)\n");
  function.how = "open";
  EXPECT_EQ(event_text(function, "0"),
            "app[7/8] 0 ufunction libssl.so.3:SSL_read(ssl=0x5000, num=16) = ? (has not returned)\n");
  function.how = "returned";
  function.dur_ns = 12'300;
  EXPECT_EQ(event_text(function, "0"), "app[7/8] 0 ufunction libssl.so.3:SSL_read(ssl=0x5000, num=16) <12.3 µs>\n");
  function.result = -2;
  EXPECT_EQ(event_text(function, "0"),
            "app[7/8] 0 ufunction libssl.so.3:SSL_read(ssl=0x5000, num=16) = -2 <12.3 µs>\n");
  function.result = 0x7f0012345678;
  EXPECT_TRUE(event_text(function, "0").ends_with(") = 0x7f0012345678 <12.3 µs>\n")) << event_text(function, "0");
  const auto result = [&function](const std::string& source, const std::string& type, std::int64_t value) {
    function.source = source;
    function.result_type = type;
    function.result = value;
    const std::string text = event_text(function, "0");
    const std::size_t from = text.find(") = ") + 4;
    return text.substr(from, text.find(" <") - from);
  };
  EXPECT_EQ(result("ufunction", "char *", 0x7f00), "0x7f00");
  EXPECT_EQ(result("ufunction", "char *", 0), "NULL");
  EXPECT_EQ(result("ufunction", "int", -2), "-2");
  EXPECT_EQ(result("ufunction", "bool", 1), "true");
  EXPECT_EQ(result("ufunction", "size_t", -1), "18446744073709551615");
  EXPECT_EQ(result("kfunction", "unsigned int", 0xfffffffe), "4294967294");
  EXPECT_EQ(result("kfunction", "ssize_t", -2), "-2 ENOENT");
  EXPECT_EQ(result("kfunction", "struct file *", -2), "-2 ENOENT");
  EXPECT_EQ(result("kfunction", "struct file *", -5000), "0xffffffffffffec78");
  EXPECT_EQ(result("kfunction", "size_t", -2), "18446744073709551614");
  EXPECT_EQ(result("kfunction", "bool", 0), "false");
  EXPECT_EQ(result("kfunction", "", -2), "-2");
  function.source = "ufunction";
  function.result.reset();
  function.dur_ns.reset();
  function.how = "left";
  EXPECT_TRUE(event_text(function, "0").ends_with(") = ? (left)\n")) << event_text(function, "0");
  EXPECT_EQ(event_text(hit_of("tracepoint", "tracepoint_5", {}, {1}), "0"), "app[7/8] 0 tracepoint tracepoint_5()\n");
}

TEST(HitText, EscapesWhatOthersChose) {
  EventRow row = hit_of("usdt", "a\x1b:b", {{"n\n", "const char *"}}, {0x10});
  EXPECT_EQ(event_text(row, "0"), "app[7/8] 0 usdt a\\x1b:b(n\\x0a=0x10)\n");
  row.strings = {{0, "say \"hi\"\n", false, Source::kProgram}};
  EXPECT_EQ(event_text(row, "0"), "app[7/8] 0 usdt a\\x1b:b(n\\x0a=\"say \\\"hi\\\"\\x0a\")\n");
}

}  // namespace
}  // namespace uscope::cli
