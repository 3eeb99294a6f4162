// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/scouts/path_look.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temporary_folder.h"

namespace uscope::tracer {
namespace {

class PathLookTest : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path() + "/" + name; }

  // The numbers of paths that lead to another file than before; negative: to none, less one.
  std::vector<int> look() {
    std::vector<int> numbers;
    EXPECT_TRUE(look_.go_on());
    for (const PathLook::News& news : look_.take())
      numbers.push_back(news.fd ? static_cast<int>(news.path) : -static_cast<int>(news.path) - 1);
    return numbers;
  }

  const test::TemporaryFolder folder_;
  PathLook look_{nullptr};
};

TEST_F(PathLookTest, TellsOnlyOfPathsThatLeadToAnotherFile) {
  write("old", "old");
  write("new", "new");
  std::filesystem::create_symlink("old", path("link"));
  for (const char* name : {"old", "link", "missing"}) look_.add(path(name));
  EXPECT_EQ(look(), (std::vector<int>{0, 1}));
  EXPECT_EQ(look(), std::vector<int>());
  std::filesystem::remove(path("link"));
  std::filesystem::create_symlink("new", path("link"));
  EXPECT_EQ(look(), std::vector<int>{1});
  std::filesystem::rename(path("new"), path("old"));
  EXPECT_EQ(look(), (std::vector<int>{0, -2}));
  write("missing", "is there");
  EXPECT_EQ(look(), std::vector<int>{2});
}

TEST_F(PathLookTest, WhatIsNoRegularFileIsNotOpened) {
  ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
  look_.add(path("fifo"));
  EXPECT_EQ(look(), std::vector<int>());
}

}  // namespace
}  // namespace uscope::tracer
