// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/string_filter.h"

#include <gtest/gtest.h>

#include <string>

#include "trace/record_builder.h"

namespace uscope::trace {
namespace {

template <typename Record>
std::vector<char> record_of(Record fixed, const std::string& tail) {
  fixed.head.seq = 77;
  return RecordBuilder<Record>(fixed).add(tail).take();
}

const usc_record& head_of(const std::vector<char>& bytes) {
  return *reinterpret_cast<const usc_record*>(bytes.data());
}

std::vector<char> string_of(const std::string& text, std::uint16_t flags = 0) {
  usc_string string{};
  string.bytes = static_cast<__u16>(text.size());
  string.flags = flags;
  string.kind = USC_STRING_TEXT;
  return record_of(string, text);
}

std::string text_of(const usc_record& record) {
  const auto& string = reinterpret_cast<const usc_string&>(record);
  return {string.text, string.bytes};
}

TEST(StringFilter, ReplacesWhatMatches) {
  StringFilter filter(Redactor({"/secret/*"}));
  const auto open = string_of("/etc/passwd");
  EXPECT_EQ(&filter.filter(head_of(open)), &head_of(open));
  const auto secret = string_of("/secret/a much longer name than that which takes its place");
  const usc_record& replaced = filter.filter(head_of(secret));
  EXPECT_EQ(text_of(replaced), "[redacted]");
  EXPECT_EQ(replaced.seq, 77U);
  EXPECT_EQ(replaced.size, sizeof(usc_string) + 16);
  EXPECT_EQ(reinterpret_cast<const usc_string&>(replaced).flags, USC_STRING_REDACTED);
  const auto cut = string_of("/etc/pass", USC_STRING_TRUNCATED);
  EXPECT_EQ(text_of(filter.filter(head_of(cut))), "[redacted]");
}

std::vector<char> content_of(std::uint8_t kind, const std::string& bytes, std::uint16_t flags = 0) {
  usc_string string{};
  string.bytes = static_cast<__u16>(bytes.size());
  string.flags = flags;
  string.kind = kind;
  return record_of(string, bytes);
}

TEST(StringFilter, LeavesOutDataThatMatches) {
  StringFilter filter(Redactor({"*password=*"}));
  const auto harmless = content_of(USC_STRING_DATA, std::string("user=\0me", 8));
  EXPECT_EQ(&filter.filter(head_of(harmless)), &head_of(harmless));
  const auto secret = content_of(USC_STRING_DATA_OUT, std::string("user=\0me&password=x\n", 20));
  const usc_record& left_out = filter.filter(head_of(secret));
  EXPECT_EQ(text_of(left_out), "");
  EXPECT_EQ(left_out.size, sizeof(usc_string));
  EXPECT_EQ(reinterpret_cast<const usc_string&>(left_out).flags, USC_STRING_REDACTED);
  // What was cut could be anything.
  const auto cut = content_of(USC_STRING_DATA, "user", USC_STRING_TRUNCATED);
  EXPECT_EQ(text_of(filter.filter(head_of(cut))), "");
}

TEST(StringFilter, KeepsTheLengthsOfBuffersWhoseDataItLeavesOut) {
  StringFilter filter(Redactor({"secret*"}));
  usc_vector vector{};
  vector.count = 1;
  vector.length[0] = 7;
  const std::string head(reinterpret_cast<const char*>(&vector), sizeof(vector));
  const auto secret = content_of(USC_STRING_VECTOR, head + "secrets");
  EXPECT_EQ(text_of(filter.filter(head_of(secret))), head);
  const auto other = content_of(USC_STRING_VECTOR, head + "a thing");
  EXPECT_EQ(&filter.filter(head_of(other)), &head_of(other));
  // Numbers are no text, even where a pattern matches everything.
  StringFilter all(Redactor({"*"}));
  const auto time = content_of(USC_STRING_TIME, std::string(16, '\1'));
  EXPECT_EQ(&all.filter(head_of(time)), &head_of(time));
}

TEST(StringFilter, ComparesBuffersTogetherAndEachByItself) {
  StringFilter filter(Redactor({"secret*"}));
  usc_vector vector{};
  vector.count = 3;
  vector.length[0] = 4;
  vector.length[1] = 6;
  vector.length[2] = 9;
  const std::string head(reinterpret_cast<const char*>(&vector), sizeof(vector));
  const auto is_hidden = [&](const std::string& bytes) {
    return text_of(filter.filter(head_of(content_of(USC_STRING_VECTOR, head + bytes)))) == head;
  };
  EXPECT_TRUE(is_hidden("secrets of all"));    // it goes on in the second buffer
  EXPECT_TRUE(is_hidden("all:secret"));        // it begins where the second one does
  EXPECT_TRUE(is_hidden("all: in a secret"));  // in the third one, of which not all was filled
  EXPECT_FALSE(is_hidden("a secret, no"));     // across two buffers, and it begins neither them nor the text
  vector.count = 12;
  for (__u64& length : vector.length) length = 1;
  const std::string many(reinterpret_cast<const char*>(&vector), sizeof(vector));
  const auto behind = content_of(USC_STRING_VECTOR, many + "12345678secret");
  EXPECT_EQ(text_of(filter.filter(head_of(behind))), many);
}

std::vector<char> exec_of(const std::string& path, const std::string& arguments, std::uint32_t total) {
  usc_exec exec{};
  exec.path_bytes = static_cast<__u16>(path.size());
  exec.argv_bytes = static_cast<__u16>(arguments.size());
  exec.argv_total = total;
  return record_of(exec, path + arguments);
}

std::string data_of(const usc_record& record) {
  const auto& exec = reinterpret_cast<const usc_exec&>(record);
  return {exec.data, std::size_t{exec.path_bytes} + exec.argv_bytes};
}

TEST(StringFilter, ReplacesPathAndEachArgumentOfAnExec) {
  StringFilter filter(Redactor({"--key=*", "/opt/*"}));
  const std::string arguments("app\0--key=abc\0-v\0", 17);
  const auto exec = exec_of("/opt/app", arguments, 17);
  const usc_record& replaced = filter.filter(head_of(exec));
  EXPECT_EQ(data_of(replaced), std::string("[redacted]app\0[redacted]\0-v\0", 28));
  EXPECT_EQ(reinterpret_cast<const usc_exec&>(replaced).argv_total,
            reinterpret_cast<const usc_exec&>(replaced).argv_bytes);
}

TEST(StringFilter, WithoutStringsLeavesOutArguments) {
  StringFilter filter(Redactor(), false);
  const auto exec = exec_of("/bin/app", std::string("app\0x\0", 6), 6);
  const usc_record& replaced = filter.filter(head_of(exec));
  EXPECT_EQ(data_of(replaced), "/bin/app");
  EXPECT_GT(reinterpret_cast<const usc_exec&>(replaced).argv_total, 0U);
}

// Lengths that reach beyond the record are not believed.
TEST(StringFilter, StaysInsideTheRecord) {
  StringFilter filter(Redactor({"*"}));
  auto string = string_of("abc");
  reinterpret_cast<usc_string*>(string.data())->bytes = 60000;
  EXPECT_EQ(text_of(filter.filter(head_of(string))), "[redacted]");
  auto exec = exec_of("/a", "b", 1);
  reinterpret_cast<usc_exec*>(exec.data())->path_bytes = 60000;
  EXPECT_EQ(data_of(filter.filter(head_of(exec))), "[redacted]");
}

}  // namespace
}  // namespace uscope::trace
