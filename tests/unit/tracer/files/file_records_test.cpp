// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/files/file_records.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/unit/trace/memory_sink.h"

namespace uscope::tracer {
namespace {

TEST(FileRecords, SegmentsBuildIdPathAndTroubleFollowInThisOrder) {
  File file;
  file.state = USC_FILE_WITHOUT;
  file.classes = USC_CLASS_APP;
  file.path = "/opt/x.so";
  file.trouble = "no unwind information";
  file.open_error = ENOENT;
  file.figures = {.rows = 5, .rules = 2, .bytes = 40};
  file.facts.build_id = std::string("\x01\x02\x00\x03", 4);
  file.facts.exec_segments = {{0x1000, 0x200, 0x401000}, {0x3000, 0x100, 0x403000}};
  MemorySink sink;
  ASSERT_TRUE(write_file(sink, trace::FileId(7), file));
  std::vector<std::string> tails;
  const auto infos = sink.all<usc_file_info>(&tails);
  ASSERT_EQ(infos.size(), 1U);
  EXPECT_TRUE(sink.all<usc_file>().empty());
  const usc_file_info& info = infos[0];
  EXPECT_EQ(info.head.cpu, USC_CPU_USER);
  EXPECT_EQ(info.file, 7U);
  EXPECT_EQ(info.classes, static_cast<__u32>(USC_CLASS_APP));
  EXPECT_EQ(info.rows, 5U);
  EXPECT_EQ(info.rules, 2U);
  EXPECT_EQ(info.row_bytes, 40U);
  EXPECT_EQ(info.state, USC_FILE_WITHOUT);
  EXPECT_EQ(info.error, ENOENT);
  ASSERT_EQ(info.segments, 2);
  usc_segment second{};
  std::memcpy(&second, tails[0].data() + sizeof(second), sizeof(second));
  EXPECT_EQ(second.offset, 0x3000U);
  EXPECT_EQ(second.address, 0x403000U);
  EXPECT_EQ(tails[0].substr(2 * sizeof(usc_segment)).substr(0, 4 + 9 + 21),
            std::string("\x01\x02\x00\x03", 4) + "/opt/x.so" + "no unwind information");
}

TEST(FileRecords, AFileThatTheKernelSideHasNotAnnouncedIsAnnouncedFirst) {
  File file;
  file.announced = false;
  file.key.dev = 8;
  file.key.ino = 4711;
  MemorySink sink;
  ASSERT_TRUE(write_file(sink, trace::FileId(7), file));
  EXPECT_EQ(sink.types(), (std::vector<std::uint16_t>{USC_RECORD_FILE, USC_RECORD_FILE_INFO}));
  const auto known = sink.all<usc_file>();
  EXPECT_EQ(known[0].file, 7U);
  EXPECT_EQ(known[0].key.ino, 4711U);
  EXPECT_EQ(known[0].links, 1U);
}

// Lengths of hostile files fit the record's fields.
TEST(FileRecords, WhatIsTooLongIsCut) {
  File file;
  file.path = std::string(100'000, 'p');
  file.trouble = std::string(100'000, 't');
  file.facts.build_id = std::string(1000, 'b');
  file.facts.exec_segments.resize(1000);
  file.figures.bytes = std::size_t{1} << 40;
  MemorySink sink;
  ASSERT_TRUE(write_file(sink, trace::FileId(7), file));
  std::vector<std::string> tails;
  const usc_file_info info = sink.all<usc_file_info>(&tails)[0];
  EXPECT_EQ(info.segments, 64);
  EXPECT_EQ(info.build_id_bytes, 64);
  EXPECT_EQ(info.path_bytes, 8192);
  EXPECT_EQ(info.trouble_bytes, 1024);
  EXPECT_EQ(info.row_bytes, UINT32_MAX);
  EXPECT_EQ(tails[0].size(), 64 * sizeof(usc_segment) + 64 + 8192 + 1024);
}

}  // namespace
}  // namespace uscope::tracer
