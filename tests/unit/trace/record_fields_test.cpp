// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/record_fields.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "tests/support/frame_word.h"
#include "tests/unit/trace/raw_trace.h"
#include "trace/raw_reader.h"

namespace uscope::trace {
namespace {

struct Extent {
  std::string type;
  std::string field;
  std::size_t offset;
  std::size_t end;
};

const Extent kListed[] = {
#define USC_X(record, field, form) \
  {#record, #field, offsetof(record, field), offsetof(record, field) + sizeof(std::declval<record&>().field)},
#include "uscope/lists/record_field.def"
#undef USC_X
};

// usc_meta has no field; a usc_futex, usc_string, … ends with its tail, which sizeof leaves out.
TEST(RecordFields, CoverEveryByteOfEveryRecord) {
  std::map<std::string, std::size_t> ends;
  for (const Extent& field : kListed) {
    const std::size_t at = ends.try_emplace(field.type, sizeof(usc_record)).first->second;
    EXPECT_EQ(field.offset, at) << field.type << " " << field.field;
    ends[field.type] = field.end;
  }
#define USC_X(constant, number, name, type) \
  EXPECT_EQ(ends.try_emplace(#type, sizeof(usc_record)).first->second, sizeof(type)) << name;
#include "uscope/lists/record_type.def"
#undef USC_X
}

TEST(RecordFields, TypesHaveNames) {
  EXPECT_EQ(record_type_name(USC_RECORD_EVENT), "event");
  EXPECT_EQ(record_type_name(USC_RECORD_LOG_KIND), "log_kind");
  EXPECT_EQ(record_type_name(0), "");
  EXPECT_EQ(record_type_name(0xfff), "");
  for (const std::string& name : record_type_names()) EXPECT_FALSE(name.empty());
  EXPECT_EQ(record_type_names().front(), "event");
}

struct AsText {
  std::string operator()(std::uint64_t number) const { return std::to_string(number); }
  std::string operator()(std::int64_t number) const { return std::to_string(number); }
  std::string operator()(const HexNumber& hex) const { return "0x" + std::to_string(hex.number) + "(hex)"; }
  std::string operator()(const std::string& text) const { return "'" + text + "'"; }
};

class RecordFieldsOfTrace : public testing::Test {
 protected:
  // "name=value name=[value value]" of the records in the file, in order.
  std::vector<std::string> all() {
    std::vector<std::string> texts;
    auto reader = RawReader::open(folder_ / "raw");
    EXPECT_TRUE(reader) << reader.error().what;
    RawRecord record;
    while (reader && *reader->next(record)) {
      types_.insert(record.head.type);
      std::ostringstream text;
      for (const RecordField& field : fields_of(record)) {
        text << (text.tellp() > 0 ? " " : "") << field.name << "=" << (field.list ? "[" : "");
        for (std::size_t i = 0; i < field.values.size(); i++)
          text << (i > 0 ? " " : "") << std::visit(AsText(), field.values[i]);
        if (field.list) text << "]";
      }
      texts.push_back(text.str());
    }
    EXPECT_TRUE(reader && reader->damage().skipped_bytes == 0);
    return texts;
  }

  test::TemporaryFolder folder_;
  std::set<std::uint16_t> types_;
};

TEST_F(RecordFieldsOfTrace, NumbersAndTheirNames) {
  {
    RawTrace trace(folder_ / "raw");
    trace.event({.entry = kStart, .result = -2, .nr = 257, .stack = 7, .abi = USC_ABI_I386, .a0 = 16});
    trace.verify(1, 5, -1);
    trace.loss(USC_LOSS_RING_FULL_EVENT, 3, 2);
    trace.loss(4000, 1);
    trace.task({.name = "sixteen-letters-"});
    trace.close();
  }
  const std::vector<std::string> texts = all();
  ASSERT_EQ(texts.size(), 5U);
  EXPECT_EQ(texts[0],
            "entry_ns=1000000000000 result=-2 args=[0x16(hex) 0x0(hex) 0x0(hex) 0x0(hex) 0x0(hex) "
            "0x18446744073709551615(hex)] stack=0x7(hex) image=1 kind=257 how='returned' abi='i386' flags=0x0(hex) "
            "source='syscall'");
  EXPECT_NE(texts[1].find("oracle_depth=4 first_difference=-1"), std::string::npos) << texts[1];
  EXPECT_EQ(texts[2], "from_ns=1000000000040 count=3 cause='ring_full_event' process=2");
  EXPECT_EQ(texts[3], "from_ns=1000000000040 count=1 cause=4000 process=0");
  EXPECT_NE(texts[4].find("parent_pid=0 uid=0 cgroup=0 name='sixteen-letters'"), std::string::npos) << texts[4];
}

TEST_F(RecordFieldsOfTrace, WhatFollowsTheFixedPart) {
  {
    RawTrace trace(folder_ / "raw");
    trace.stack(1, {test::frame_word(7, 0x10, true), test::frame_word(0, 0x7f00, false)},
                int{USC_ENDED_BROKEN} + USC_BROKEN_NO_MAPPING);
    trace.exec(1, 1, 1, 2, "/bin/ls", std::string("ls\0\0-l\0", 7));
    trace.file(2, "/bin/ls", "ID");
    trace.unwind_data(3, "/lib/x", USC_FILE_WITHOUT, 0, "no ELF");
    trace.string(1, 5, 0, "a\nb");
    trace.string(1, 5, 1, "ab", USC_STRING_PAIR);
    trace.logged(1, 9, 77, {5}, 0, {3, 0});
    trace.meta("key", "value");
    usc_hit hit{};
    hit.how = USC_HOW_RETURNED;
    hit.source = USC_SOURCE_OFFCPU;
    trace.hit(1, 9, hit, {3, 0});
    hit.flags = USC_HIT_ADDRESSES;
    const std::vector<std::uint64_t> addresses{0xffffffff81000010};
    hit.head = trace.head(USC_RECORD_HIT, 0, 1, 9);
    hit.frames = 1;
    trace.put(hit, {reinterpret_cast<const char*>(addresses.data()), 8});
    trace.kind(USC_SOURCE_USDT, 1, "libc:setjmp", {"env:void *", "value:int"});
    trace.close();
  }
  const std::vector<std::string> texts = all();
  const std::vector<std::string> ends{
      "ended='broken:no_mapping' deferred=0 frames=['7+0x10!' '0+0x7f00']",
      "name='ls' path='/bin/ls' argv=['ls' '' '-l']",
      "state='pending' segment=['0x1000+0x1000 at 0x401000'] build_id='4944' path='/bin/ls' trouble=''",
      "state='none' segment=[] build_id='' path='/lib/x' trouble='no ELF'",
      "kind=1 text='a\nb'",
      "text='6162'",
      "place=[3 0]",
      "key='key' value='value'",
      "frames=2 how='returned' source='offcpu' flags=0x0(hex) unread=0x0(hex) frame=[3 0]",
      "frames=1 how='returned' source='offcpu' flags=0x128(hex) unread=0x0(hex) frame=[18446744071578845200]",
      "kind=1 text_bytes=33 source='usdt' args=2 text=['libc:setjmp' 'env:void *' 'value:int']"};
  ASSERT_EQ(texts.size(), ends.size());
  for (std::size_t i = 0; i < ends.size(); i++) EXPECT_TRUE(texts[i].ends_with(ends[i])) << texts[i];
}

// A record with each type's fixed part, zeroes but for what the reader demands, has all its fields.
TEST_F(RecordFieldsOfTrace, EachTypeAppears) {
  std::set<std::uint16_t> expected;
  {
    RawTrace trace(folder_ / "raw");
#define USC_X(constant, number, name, type)                                                              \
  if (number != USC_RECORD_META && number != USC_RECORD_STRING && number != USC_RECORD_LOG_KIND &&       \
      number != USC_RECORD_KERNEL_PLACE && number != USC_RECORD_SIGNAL && number != USC_RECORD_HIT &&    \
      number != USC_RECORD_KIND && number != USC_RECORD_RESOURCE && number != USC_RECORD_LOOK_TROUBLE && \
      number != USC_RECORD_CGROUP) {                                                                     \
    type record{};                                                                                       \
    record.head = trace.head(number, 0, 1, kStart);                                                      \
    trace.put(record);                                                                                   \
  }                                                                                                      \
  expected.insert(number);
#include "uscope/lists/record_type.def"
#undef USC_X
    usc_resource resource{};
    resource.head = trace.head(USC_RECORD_RESOURCE, 0, 1, kStart);
    resource.access = USC_ACCESS_READ;
    trace.put(resource);
    usc_look_trouble trouble{};
    trouble.head = trace.head(USC_RECORD_LOOK_TROUBLE, 0, 1, kStart);
    trouble.text_bytes = 8;
    trace.put(trouble, "no reply");
    trace.meta("key", "value");
    trace.string(1, 5, 0, "text");
    trace.log_kind(USC_KIND_NAMED | 1, "kind");
    trace.place(1, "vmlinux+0x10 f+0x1");
    usc_signal signal{};
    signal.number = 15;
    trace.signal(1, kStart, signal);
    usc_hit hit{};
    hit.how = USC_HOW_HIT;
    hit.source = USC_SOURCE_SAMPLE;
    trace.hit(1, kStart, hit);
    trace.kind(USC_SOURCE_SAMPLE, 1, "user", {});
    trace.cgroup(77, "app.service/system.slice");
    trace.close();
  }
  for (const std::string& text : all()) EXPECT_NE(text, "");
  EXPECT_EQ(types_, expected);
}

}  // namespace
}  // namespace uscope::trace
