// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/render/top_render.h"

#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "cli/terminal/text_width.h"
#include "live/line_choice.h"
#include "tests/support/frame_word.h"
#include "tests/unit/cli/run_command.h"
#include "trace/record_builder.h"
#include "tracer/files/file.h"
#include "tracer/jit/perf_map.h"
#include "tracer/model/task_table.h"

namespace uscope::test {
namespace {

using live::CallCounts;
using live::CallLine;

constexpr std::uint32_t kApp = 5;
constexpr std::uint32_t kLibrary = 6;
constexpr std::uint32_t kLibc = 7;

class TopTest : public CommandTest {
 protected:
  TopTest() {
    add_file(kLibc, "/usr/lib/libc.so.6");
    add_file(kLibrary, "/usr/lib/libssl.so.3");
    add_file(kApp, "/usr/sbin/server");
    usc_exec exec{};
    exec.exe_file = kApp;
    calls_.on_image(exec);
  }

  void add_file(std::uint32_t serial, const std::string& path) {
    tracer::File file;
    file.met = true;
    file.path = path;
    calls_.on_file(trace::FileId(serial), file);
  }

  void stack(std::uint32_t number, std::vector<std::uint64_t> frames, std::uint8_t ended = USC_ENDED_SCOPE,
             std::uint32_t mm = 0) {
    usc_stack record{};
    record.mm = mm;
    record.ended = ended;
    record.stack = number;
    record.depth = static_cast<__u16>(frames.size());
    calls_.on_stack(trace::RecordBuilder<usc_stack>(record).add_values(std::span(std::as_const(frames))).record());
  }

  // Most calls first.
  std::vector<CallLine> lines() {
    const std::vector<CallLine> all = calls_.lines();
    std::vector<CallLine> ordered;
    for (const std::size_t place : live::chosen(all, {})) ordered.push_back(all[place]);
    return ordered;
  }

  void call(std::uint32_t number, std::uint64_t took, std::int64_t result = 0, std::uint8_t how = USC_HOW_RETURNED) {
    usc_event event{};
    event.kind = 0;  // read
    event.how = how;
    event.entry_ns = 1000;
    event.head.time = 1000 + took;
    event.result = result;
    event.stack = number;
    calls_.on_event(event, {});
  }

  static std::uint64_t frame(std::uint32_t file, std::uint64_t offset) { return test::frame_word(file, offset, 0); }

  std::unique_ptr<live::LiveNames> names_ = std::move(*live::LiveNames::start());
  CallCounts calls_{*names_};
};

// The names of a perf map may come behind the stacks.
TEST_F(TopTest, GeneratedCodeCountsBeforeTheMachineThatRunsIt) {
  stack(1, {frame(kLibc, 0x10), frame(kApp, 0x20), frame(USC_FILE_NONE, 0x7020), frame(kApp, 0x30)}, USC_ENDED_ROOT, 3);
  stack(2, {frame(kLibc, 0x10), frame(kLibrary, 0x20), frame(kApp, 0x20)}, USC_ENDED_ROOT);
  call(1, 100);
  call(2, 100);
  EXPECT_EQ(lines()[0].function, "server+0x20");
  EXPECT_EQ(lines().size(), 1U);
  tracer::PerfMapEntry name{};
  name.address = 0x701f;
  name.name = "py::load:/srv/app.py";
  calls_.on_jit_name(trace::MmId(3), name);
  call(1, 100);
  const std::vector<CallLine> named = lines();
  ASSERT_EQ(named.size(), 2U);
  EXPECT_EQ(named[0].function, "py::load:/srv/app.py");
  EXPECT_FALSE(named[0].fallback);
  EXPECT_EQ(named[1].module, "/usr/lib/libssl.so.3");  // what is not of the machine comes first
  EXPECT_TRUE(named[1].fallback);
}

// All names were there when the stack of libraries came: what ran managed code showed later.
TEST_F(TopTest, WhatRunsManagedCodeMayShowLater) {
  stack(2, {frame(kLibc, 0x10), frame(kLibrary, 0x20), frame(kApp, 0x20)}, USC_ENDED_ROOT);
  call(2, 100);
  EXPECT_EQ(lines()[0].function, "server+0x20");
  names_->wait(std::chrono::seconds(60));
  EXPECT_EQ(lines()[0].function, "server+0x20");
  stack(1, {frame(kLibc, 0x10), frame(kApp, 0x20), frame(USC_FILE_NONE, 0x7020), frame(kApp, 0x30)}, USC_ENDED_ROOT, 3);
  tracer::PerfMapEntry name{};
  name.address = 0x701f;
  name.name = "py::load:/srv/app.py";
  calls_.on_jit_name(trace::MmId(3), name);
  call(1, 100);
  call(1, 100);
  const std::vector<CallLine> named = lines();
  ASSERT_EQ(named.size(), 2U);
  EXPECT_EQ(named[0].function, "py::load:/srv/app.py");
  EXPECT_EQ(named[1].module, "/usr/lib/libssl.so.3");
}

TEST_F(TopTest, CountsByCallAndTrigger) {
  stack(1, {frame(kLibc, 0x10), frame(kApp, 0x20), frame(kApp, 0x30)});
  stack(2, {frame(kLibc, 0x10), frame(kLibrary, 0x20), frame(kApp, 0x20)});  // another way to the same function
  stack(3, {frame(kLibc, 0x10), frame(kLibrary, 0x40)});
  stack(4, {frame(kLibc, 0x10)});
  call(1, 100);
  call(1, 300, -11);
  call(2, 200, -513);  // to be restarted: no error
  call(3, 400);
  call(4, 500);
  call(1, 600, 0, USC_HOW_OPEN);  // has not ended
  call(9, 700);                   // a stack that is not defined
  const std::vector<CallLine> lines = this->lines();
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0].call, "read");
  EXPECT_EQ(lines[0].module, "/usr/sbin/server");
  EXPECT_EQ(lines[0].function, "server+0x20");
  EXPECT_FALSE(lines[0].fallback);
  EXPECT_EQ(lines[0].calls, 3U);
  EXPECT_EQ(lines[0].errors, 1U);
  EXPECT_EQ(lines[0].times.percentile(50), 200U);
  EXPECT_EQ(lines[0].times.max(), 300U);
  EXPECT_EQ(lines[1].calls, 2U);
  EXPECT_EQ(lines[1].function, "");
  EXPECT_EQ(lines[2].module, "/usr/lib/libssl.so.3");
  EXPECT_TRUE(lines[2].fallback);
  const std::vector<live::ThreadLine> threads = calls_.threads();
  ASSERT_EQ(threads.size(), 1U);
  EXPECT_EQ(threads[0].calls, 6U);
  EXPECT_EQ(threads[0].errors, 1U);
  EXPECT_EQ(threads[0].time_ns, 2200U);
  EXPECT_EQ(threads[0].call, "read");
}

TEST_F(TopTest, ATriggerThatTheBudgetCutOffIsSaidToBe) {
  stack(1, {frame(kLibc, 0x10), frame(kLibrary, 0x20)}, USC_ENDED_BUDGET);
  stack(2, {frame(kLibc, 0x10), frame(kLibrary, 0x40)}, USC_ENDED_BUDGET);
  call(1, 100);
  call(2, 100);
  const std::vector<CallLine> lines = calls_.lines();
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].function, "(cut)");
  EXPECT_EQ(lines[0].module, "/usr/lib/libssl.so.3");
  EXPECT_EQ(lines[0].calls, 2U);
}

TEST_F(TopTest, LibrariesOfTheApplicationAreFoundInAnyOrder) {
  constexpr std::uint32_t kOwn = 8;
  constexpr std::uint32_t kJava = 9;
  add_file(kOwn, "/opt/jdk/lib/libjvm.so");
  stack(1, {frame(kOwn, 0x20), frame(kLibc, 0x10), frame(kLibc, 0x10)}, USC_ENDED_ROOT);
  usc_exec exec{};
  exec.exe_file = kJava;
  calls_.on_image(exec);
  add_file(kJava, "/opt/jdk/bin/java");
  call(1, 100);
  // libssl holds the server's main().
  stack(2, {frame(kLibrary, 0x20), frame(kLibc, 0x10), frame(kLibc, 0x10), frame(kApp, 0x10)}, USC_ENDED_ROOT);
  call(2, 100);
  const std::vector<CallLine> lines = calls_.lines();
  ASSERT_EQ(lines.size(), 2U);
  for (const CallLine& line : lines) EXPECT_FALSE(line.fallback) << line.module;
  EXPECT_EQ(lines[0].module, "/opt/jdk/lib/libjvm.so");
  EXPECT_EQ(lines[1].module, "/usr/lib/libssl.so.3");
}

TEST_F(TopTest, BeginsAnewAfterEachPicture) {
  call(1, 100);
  EXPECT_EQ(calls_.lines().size(), 1U);
  calls_.take();
  EXPECT_TRUE(calls_.lines().empty());
  EXPECT_TRUE(calls_.threads().empty());
  // A stack may be defined after the call that refers to it, and before it.
  stack(1, {frame(kApp, 0x20)});
  call(1, 100);
  EXPECT_EQ(calls_.lines().front().function, "server+0x20");
}

TEST_F(TopTest, ADepthBeyondTheRecordIsNotBelieved) {
  usc_stack record{};
  record.head.size = sizeof(record);
  record.stack = 1;
  record.depth = 60000;
  calls_.on_stack(record);
  call(1, 100);
  EXPECT_EQ(calls_.lines().front().function, "");
}

TEST_F(TopTest, CodeWithoutAFileHasTheNameOfItsPerfMap) {
  usc_stack record{};
  record.stack = 1;
  record.depth = 1;
  record.mm = 3;
  const std::uint64_t jit = frame(USC_FILE_NONE, 0x7000);
  calls_.on_stack(trace::RecordBuilder<usc_stack>(record).add_values(std::span(&jit, 1)).record());
  calls_.on_jit_name(trace::MmId(3), {0x6fff, 0x6000, 0x2000, "compiled"});
  call(1, 100);
  EXPECT_EQ(calls_.lines().front().function, "compiled");
}

cli::TopPicture picture() {
  cli::TopPicture made;
  made.target = "app ser\033ver";
  made.at_s = 12.3;
  made.seconds = 2;
  made.calls = 4004;
  made.processes = 3;
  CallLine line;
  line.call = "read";
  line.abi = "x86_64";
  line.function = "next\nrequest";
  line.module = "/usr/sbin/server";
  line.calls = 4000;
  line.errors = 1;
  line.times.add(1000);
  made.lines = {line, {}};
  made.lines[1].call = "write";
  made.lines[1].abi = "i386";
  made.lines[1].calls = 4;
  made.threads = {{41, 42, "work\ner", 4000, 1, 1000, "read", "x86_64"}, {0, 0, "", 4, 0, 0, "write", "i386", true}};
  return made;
}

TEST_F(TopTest, AsText) {
  EXPECT_EQ(cli::top_text(picture(), {}, 9, 110),
            "app ser\\x1bver  12 s  3 processes  2,002 calls/s  0 lost\n\n"
            "  calls/s  errors/s  time/s  median  99 %  longest  call          from function           in\n"
            "    2,000       < 1  500 ns    1 µs  1 µs     1 µs  read          next\\x0arequest         server\n"
            "        2                                           write (i386)  (no application frame)\n");
  EXPECT_NE(cli::top_text(picture(), {}, 1, 110).find("  1 more\n"), std::string::npos);
}

TEST_F(TopTest, AsTextByThread) {
  EXPECT_EQ(cli::top_text(picture(), {cli::TopBy::kThread, {}}, 9, 110),
            "app ser\\x1bver  12 s  3 processes  2,002 calls/s  0 lost\n\n"
            "  calls/s  errors/s  time/s  pid  tid  name             most often\n"
            "    2,000       < 1  500 ns   41   42  work\\x0aer       read\n"
            "        2                              (other threads)  write (i386)\n");
}

TEST_F(TopTest, TextSaysWhatTheFilterLeavesOut) {
  cli::TopChoice choice;
  choice.lines.filter = "WRI";
  const std::string text = cli::top_text(picture(), choice, 9, 110);
  EXPECT_EQ(text.find("request"), std::string::npos);
  EXPECT_NE(text.find("write (i386)"), std::string::npos);
  EXPECT_NE(text.find("  1 of 2 lines match \"WRI\"\n"), std::string::npos);
}

TEST_F(TopTest, TheTitleKeepsItsFiguresWhateverTheTarget) {
  cli::TopPicture made = picture();
  made.target = std::string(200, 'x');
  made.lost = 7;
  const std::string title = cli::top_title(made, "  7 lost", 80);
  EXPECT_TRUE(title.ends_with("…  12 s  3 processes  2,002 calls/s  7 lost")) << title;
  EXPECT_EQ(cli::display_width(title), 80U);
}

TEST_F(TopTest, AsJson) {
  const std::string json = cli::top_json(picture(), {}, 9);
  EXPECT_EQ(json.find('\n'), json.size() - 1);
  expect_schema(json, "top");
  const auto document = nlohmann::json::parse(json);
  EXPECT_EQ(document["calls"], 4004);
  EXPECT_EQ(document["lines"][0]["median_ns"], 1000);
  EXPECT_TRUE(document["lines"][1]["function"].is_null());
  EXPECT_TRUE(document["lines"][1]["max_ns"].is_null());
  EXPECT_EQ(document["lines"][0]["time_per_s_ns"], 500);
  EXPECT_EQ(document["by"], "function");
  EXPECT_TRUE(document["filter"].is_null());
  const auto shortened = nlohmann::json::parse(cli::top_json(picture(), {}, 1));
  EXPECT_EQ(shortened["lines"].size(), 1U);
  EXPECT_EQ(shortened["line_count"], 2);
}

TEST_F(TopTest, AsJsonByThread) {
  cli::TopChoice choice{cli::TopBy::kThread, {live::Order::kTime, ""}};
  const std::string json = cli::top_json(picture(), choice, 9);
  expect_schema(json, "top");
  const auto document = nlohmann::json::parse(json);
  EXPECT_EQ(document["by"], "thread");
  EXPECT_EQ(document["sort"], "time");
  EXPECT_EQ(document["lines"][0]["tid"], 42);
  EXPECT_EQ(document["lines"][0]["most_frequent_call"], "read");
  EXPECT_EQ(document["lines"][0]["time_per_s_ns"], 500);
  EXPECT_TRUE(document["lines"][1]["tid"].is_null());
  EXPECT_TRUE(document["lines"][1]["name"].is_null());
  choice.lines.filter = "worK";
  const std::string filtered = cli::top_json(picture(), choice, 9);
  expect_schema(filtered, "top");
  EXPECT_EQ(nlohmann::json::parse(filtered)["line_count"], 1);
}

TEST_F(TopTest, WrongValuesAreNamed) {
  EXPECT_NE(uscope({"top"}).err.find("nothing to trace"), std::string::npos);
  EXPECT_NE(uscope({"top", "--app", "x", "--interval", "1ms"}).err.find("--interval"), std::string::npos);
  EXPECT_NE(uscope({"top", "--app", "x", "--sort", "name"}).err.find("--sort"), std::string::npos);
  EXPECT_NE(uscope({"top", "--app", "x", "--by", "call"}).err.find("--by"), std::string::npos);
}

}  // namespace
}  // namespace uscope::test
