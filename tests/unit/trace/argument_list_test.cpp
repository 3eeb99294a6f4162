// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/argument_list.h"

#include <gtest/gtest.h>

#include <string>

#include "support/redactor.h"
#include "trace/record_builder.h"
#include "trace/record_type.h"
#include "trace/string_filter.h"

namespace uscope::trace {
namespace {

using namespace std::string_literals;

// An exec of /p whose list, of `total` bytes, was kept so far; `end`: what the kernel side has of its last bytes.
std::vector<char> cut_exec(const std::string& kept, std::uint32_t total, const std::string& end) {
  usc_exec exec{};
  exec.path_bytes = 2;
  exec.argv_bytes = static_cast<__u16>(kept.size());
  exec.argv_total = total;
  std::string tail = "/p" + kept;
  if (!end.empty()) {
    add_argument_end(tail, end);
    // The kernel side does not know where an argument begins.
    tail[tail.size() - end.size() - 1] = 't';
  }
  return RecordBuilder<usc_exec>(exec).add(tail).take();
}

std::string json_of(const usc_exec& exec) {
  const ExecArguments arguments = exec_arguments(exec, tail_of(exec));
  return argument_list_json(arguments.list, arguments.is_cut, arguments.end);
}

std::string json_of(const std::vector<char>& record) {
  return json_of(*reinterpret_cast<const usc_exec*>(record.data()));
}

TEST(ArgumentList, AListThatIsWhole) {
  EXPECT_EQ(json_of(cut_exec("a\0\0b c\0"s, 7, "")), R"(["a","","b c"])");
  EXPECT_EQ(json_of(cut_exec("", 0, "")), "[]");
}

TEST(ArgumentList, TheEndOfAListThatIsCut) {
  EXPECT_EQ(json_of(cut_exec("a\0arg"s, 900, "")), R"(["a","arg…",null])");
  EXPECT_EQ(json_of(cut_exec("a\0arg"s, 900, "he\0-o\0file\0"s)), R"(["a","arg…",null,"-o","file"])");
  EXPECT_EQ(json_of(cut_exec("a\0"s, 900, "\0-o\0\0"s)), R"(["a",null,"-o",""])");
  // One argument that is longer than all of the end.
  EXPECT_EQ(json_of(cut_exec("a\0zz"s, 900, "zzz\0"s)), R"(["a","zz…",null])");
  // Of a list that is whole, what lies behind is filling.
  EXPECT_EQ(json_of(cut_exec("a\0"s, 2, "he\0-o\0"s)), R"(["a"])");
}

TEST(ArgumentList, AnEndThatIsShorterThanItSays) {
  std::vector<char> record = cut_exec("a\0"s, 900, "he\0-o\0file\0"s);
  record.resize(record.size() - 8);
  reinterpret_cast<usc_exec*>(record.data())->head.size = static_cast<__u32>(record.size());
  EXPECT_EQ(json_of(record), R"(["a",null,"-o","f"])");
}

TEST(ArgumentList, RedactedIsAlsoTheEnd) {
  const std::vector<char> record = cut_exec("a\0secr"s, 900, "et2\0secret3\0-o\0"s);
  StringFilter filter(Redactor({"secret*"}), true);
  const auto& filtered =
      reinterpret_cast<const usc_exec&>(filter.filter(*reinterpret_cast<const usc_record*>(record.data())));
  EXPECT_EQ(json_of(filtered), R"(["a","[redacted]…",null,"[redacted]","-o"])");
  StringFilter without(Redactor(), false);
  EXPECT_EQ(
      json_of(reinterpret_cast<const usc_exec&>(without.filter(*reinterpret_cast<const usc_record*>(record.data())))),
      "[null]");
}

}  // namespace
}  // namespace uscope::trace
