// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `uscope raw`: the records as they lie in the file, whole or damaged, from a file or standard input.
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/frame_word.h"
#include "tests/unit/cli/run_command.h"
#include "tests/unit/trace/raw_trace.h"
#include "trace/record_fields.h"

namespace uscope::test {
namespace {

class RawVerb : public CommandTest {
 protected:
  RawVerb() {
    RawTrace trace(folder_ / "trace.raw", 2);
    trace.task({});
    trace.exec(1, 1, 1, 2, "/opt/bin/app", std::string("app\0-x\0", 7));
    trace.stack(1, {test::frame_word(2, 0x1010, true), test::frame_word(2, 0x1100, false)});
    trace.event({.entry = kStart + 10, .end = kStart + 20, .result = -2, .stack = 1, .cpu = 1});
    trace.string(1, kStart + 10, 1, "\x1b[31m \"red\"");
    trace.meta("host", "box");
    trace.close();
  }

  [[nodiscard]] std::vector<std::string> lines(const std::string& text) const {
    std::vector<std::string> all;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
  }

  void overwrite(std::uint64_t offset, const std::string& bytes) {
    std::fstream file(folder_ / "trace.raw", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(offset));
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
};

TEST_F(RawVerb, EachRecordIsALine) {
  const auto text = lines(output({"raw", "trace.raw"}));
  ASSERT_EQ(text.size(), 8U);
  EXPECT_EQ(text[0], "0 header record_abi=" + std::to_string(USC_RECORD_ABI) +
                         " start_ns=1000000000000 utc_offset_ns=77 cpus=2 isa=x86_64 page_bytes=4096"
                         " boot_id=00010203-0405-0607-0809-0a0b0c0d0e0f kernel=\"6.1.0-test\"");
  EXPECT_TRUE(
      text[1].starts_with("128 task cpu=0 seq=0 task=1 time=1000000000000 size=112 | process=1 parent_task=0 pid=100"))
      << text[1];
  EXPECT_TRUE(text[1].ends_with(" name=\"app\"")) << text[1];
  EXPECT_TRUE(text[2].starts_with("240 exec ")) << text[2];
  EXPECT_TRUE(text[2].ends_with(" path=\"/opt/bin/app\" argv=[\"app\" \"-x\"]")) << text[2];
  EXPECT_TRUE(text[3].ends_with(" ended=\"root\" deferred=0 frames=[\"2+0x1010!\" \"2+0x1100\"]")) << text[3];
  EXPECT_NE(text[4].find(" event cpu=1 seq=0 task=1 "), std::string::npos) << text[4];
  EXPECT_NE(text[4].find(" result=-2 args=[0x0 0x0 0x0 0x0 0x0 0xffffffffffffffff] stack=0x1 "), std::string::npos)
      << text[4];
  EXPECT_TRUE(text[5].ends_with(" text=\"\\x1b[31m \\\"red\\\"\"")) << text[5];
  EXPECT_TRUE(text[6].find(" meta cpu=user ") != std::string::npos && text[6].ends_with("| key=\"host\" value=\"box\""))
      << text[6];
  EXPECT_EQ(text[7], "6 records were read, 6 shown");
}

TEST_F(RawVerb, TypesAndALimitChoose) {
  auto text = lines(output({"raw", "trace.raw", "--type", "exec", "--type", "meta"}));
  ASSERT_EQ(text.size(), 4U);
  EXPECT_NE(text[1].find(" exec "), std::string::npos);
  EXPECT_NE(text[2].find(" meta "), std::string::npos);
  EXPECT_EQ(text[3], "6 records were read, 2 shown");
  text = lines(output({"raw", "trace.raw", "-n", "2"}));
  ASSERT_EQ(text.size(), 4U);
  EXPECT_EQ(text[3], "2 records were read, 2 shown");
  const Finished wrong = uscope({"raw", "trace.raw", "--type", "nonsense"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("nonsense not in {event,stack,"), std::string::npos) << wrong.err;
}

TEST_F(RawVerb, JsonIsAnObjectALine) {
  overwrite(240, std::string("\x21\0\0\0", 4));
  const auto text = lines(output({"raw", "trace.raw", "--json"}));
  ASSERT_EQ(text.size(), 7U);
  std::vector<nlohmann::json> values;
  for (const std::string& line : text) {
    values.push_back(nlohmann::json::parse(line));
    expect_schema(line, "raw");
  }
  EXPECT_EQ(values[0]["kind"], "header");
  EXPECT_EQ(values[1]["type"], "task");
  EXPECT_EQ(values[1]["offset"], 128);
  EXPECT_EQ(values[1]["fields"]["name"], "app");
  EXPECT_EQ(values[2]["kind"], "damaged");
  EXPECT_EQ(values[2]["offset"], 240);
  EXPECT_EQ(values[3]["fields"]["frames"], (nlohmann::json{"2+0x1010!", "2+0x1100"}));
  EXPECT_EQ(values[4]["fields"]["result"], -2);
  EXPECT_EQ(values[4]["fields"]["args"][5], "0xffffffffffffffff");
  EXPECT_EQ(values[5]["fields"]["text"], "\x1b[31m \"red\"");
  EXPECT_EQ(values[6]["cpu"], "user");
}

TEST_F(RawVerb, DamageIsNamedAndReadingGoesOn) {
  overwrite(240, std::string("\x21\0\0\0", 4));
  const auto text = lines(output({"raw", "trace.raw"}));
  ASSERT_EQ(text.size(), 8U);
  EXPECT_TRUE(text[2].starts_with("240 DAMAGED ")) << text[2];
  EXPECT_TRUE(text[2].ends_with(" bytes: the length 33 is not a multiple of 8")) << text[2];
  EXPECT_NE(text[3].find(" stack "), std::string::npos);
  EXPECT_TRUE(text[7].starts_with("5 records were read, 5 shown; 1 damaged place, ")) << text[7];
}

TEST_F(RawVerb, StandardInputMayBeAPipeOrAFile) {
  const std::string whole = output({"raw", "trace.raw"});
  const std::string program = paths::kUscope;
  for (const std::string& command : {"cat trace.raw | " + program + " raw -", program + " raw - < trace.raw"}) {
    const Finished run = run_command(folder_ / ".", {"bash", "-c", command});
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(run.out, whole) << command;
  }
  const Finished empty = run_command(folder_ / ".", {"bash", "-c", program + " raw - < /dev/null"});
  EXPECT_EQ(empty.code, 2);
  EXPECT_NE(empty.err.find("standard input is empty"), std::string::npos) << empty.err;
}

}  // namespace
}  // namespace uscope::test
