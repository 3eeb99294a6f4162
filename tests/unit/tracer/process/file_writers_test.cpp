// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/process/file_writers.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/unique_fd.h"
#include "tests/support/temporary_folder.h"

namespace uscope::tracer {
namespace {

TEST(FileWriters, ADescriptorForWritingIsFound) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("file", "text");
  const UniqueFd reader(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  ASSERT_EQ(fstat(reader.get(), &status), 0);
  const auto own = static_cast<std::uint32_t>(getpid());
  EXPECT_EQ(writer_of(identity_of(status)), 0U);
  UniqueFd writer(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  EXPECT_EQ(writer_of(identity_of(status)), own);
  writer.reset(open(path.c_str(), O_RDWR | O_CLOEXEC));
  EXPECT_EQ(writer_of(identity_of(status)), own);
  writer.reset();
  EXPECT_EQ(writer_of(identity_of(status)), 0U);
  const UniqueFd other(open(folder.write("other", "text").c_str(), O_RDWR | O_CLOEXEC));
  EXPECT_EQ(writer_of(identity_of(status)), 0U);
}

}  // namespace
}  // namespace uscope::tracer
