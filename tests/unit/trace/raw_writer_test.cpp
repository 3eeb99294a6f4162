// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/raw_writer.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/temporary_folder.h"
#include "tests/unit/trace/new_raw_file.h"

namespace uscope::trace {
namespace {

class RawWriterTest : public testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return folder_.file("raw"); }
  test::TemporaryFolder folder_;
};

TEST_F(RawWriterTest, WritesHeaderAndRecordsInOrder) {
  auto writer = RawWriter::create(new_raw_file(path()), path(), {});
  ASSERT_TRUE(writer);
  usc_event event{};
  event.head.size = sizeof(event);
  event.head.type = USC_RECORD_EVENT;
  event.kind = 39;
  ASSERT_TRUE(writer->append(event.head));
  ASSERT_TRUE(writer->append_meta("mode", "4"));
  ASSERT_TRUE(writer->flush());
  std::ifstream file(path(), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  ASSERT_EQ(bytes.size(), sizeof(usc_raw_header) + sizeof(usc_event) + 40);
  usc_raw_header header{};
  std::memcpy(&header, bytes.data(), sizeof(header));
  EXPECT_EQ(header.magic, USC_RAW_MAGIC);
  EXPECT_EQ(header.header_size, sizeof(header));
  EXPECT_EQ(header.record_abi, static_cast<__u32>(USC_RECORD_ABI));
  EXPECT_EQ(writer->bytes(), bytes.size());
  usc_event first{};
  std::memcpy(&first, bytes.data() + sizeof(usc_raw_header), sizeof(first));
  EXPECT_EQ(first.kind, 39u);
  usc_meta meta{};
  std::memcpy(&meta, bytes.data() + sizeof(usc_raw_header) + sizeof(usc_event), sizeof(usc_record));
  EXPECT_EQ(meta.head.type, USC_RECORD_META);
  EXPECT_EQ(meta.head.cpu, USC_CPU_USER);
  EXPECT_EQ(meta.head.size, 40u);
  EXPECT_EQ(bytes.substr(bytes.size() - 8), std::string("mode\0004\0\0", 8));
}

TEST(RawWriter, AFullDiskStopsItAndSaysSo) {
  // A limit on file sizes stands for the full disk.
  const std::string path = testing::TempDir() + "uscope-writer-full";
  unlink(path.c_str());
  auto writer = RawWriter::create(new_raw_file(path), path, {});
  ASSERT_TRUE(writer);
  const rlimit before = [] {
    rlimit limit{};
    getrlimit(RLIMIT_FSIZE, &limit);
    return limit;
  }();
  signal(SIGXFSZ, SIG_IGN);
  const rlimit small{4096, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  Result<void> done;
  for (int i = 0; i < 2000 && done; i++) done = writer->append_meta("key", std::string(1000, 'x'));
  setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().what.find("cannot write the raw trace"), std::string::npos);
  EXPECT_TRUE(writer->failed());
  EXPECT_FALSE(writer->append_meta("key", "more"));
  unlink(path.c_str());
}

}  // namespace
}  // namespace uscope::trace
