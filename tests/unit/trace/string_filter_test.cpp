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
