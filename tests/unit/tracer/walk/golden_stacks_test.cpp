// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Stacks of real programs, walked by the collector's walk on what was kept of them (tests/golden_stacks). What must
// come out was libdwfl's answer when they were taken.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "golden_stack.h"
#include "tests/support/paths.h"

namespace uscope::testkit {
namespace {

using symbolizer::RowDetail;

std::vector<std::filesystem::path> stack_files() {
  std::vector<std::filesystem::path> paths;
  for (const auto& item :
       std::filesystem::directory_iterator(std::string(paths::kSourceFolder) + "/tests/golden/stacks"))
    paths.push_back(item.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string file_text(const std::filesystem::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::string frames_text(const GoldenStack& stack, const std::vector<std::uint64_t>& frames, unsigned ended) {
  std::ostringstream out;
  for (const std::uint64_t frame : frames) {
    std::string name = "?";
    for (const GoldenFile& file : stack.files)
      if (file.serial == trace::file_of(frame)) name = file.name;
    out << name << "+0x" << std::hex << usc_frame_place(frame) << (usc_frame_is_exact(frame) != 0 ? " exact\n" : "\n");
  }
  out << "ended " << std::dec << ended << "\n";
  return out.str();
}

class GoldenStacks : public testing::Test {
 protected:
  static GoldenStack read(const std::filesystem::path& path) {
    auto stack = from_text(file_text(path));
    EXPECT_TRUE(stack) << path << ": " << (stack ? "" : stack.error().what);
    return stack ? *stack : GoldenStack{};
  }
};

TEST_F(GoldenStacks, AreWalkedAsLibdwflDid) {
  const auto paths = stack_files();
  ASSERT_GE(paths.size(), 30u);
  std::size_t vouched = 0;
  for (const auto& path : paths) {
    const GoldenStack stack = read(path);
    ASSERT_GE(stack.frames.size(), 2u) << path;
    ASSERT_LE(stack.oracle, stack.frames.size()) << path;
    vouched += stack.oracle;
    const std::string expected = frames_text(stack, stack.frames, stack.ended);
    for (const RowDetail detail : {RowDetail::kStack, RowDetail::kAllRegisters}) {
      const tracer::UserStack walked = walk(stack, detail);
      EXPECT_EQ(frames_text(stack, walked.frames, walked.ended), expected)
          << path << (detail == RowDetail::kStack ? ", compact rows" : ", rows of all registers");
    }
  }
  EXPECT_GE(vouched, 300u);
}

TEST_F(GoldenStacks, AreReadAsTheyWereWrittenAndTheirTablesAreSound) {
  for (const auto& path : stack_files()) {
    const GoldenStack stack = read(path);
    EXPECT_EQ(to_text(stack), file_text(path)) << path;
    for (const GoldenFile& file : stack.files) {
      for (const GoldenRows* rows : {&file.stack, &file.all}) {
        if (rows->rows.empty()) continue;
        const auto checked = symbolizer::check_rows(table_of(*rows));
        EXPECT_TRUE(checked) << path << ", " << file.name << ": " << (checked ? "" : checked.error().what);
      }
    }
  }
}

// Every word that was kept matters: with any one of them changed the walk comes to something else.
TEST_F(GoldenStacks, DependOnEachWordThatWasKept) {
  for (const auto& path : stack_files()) {
    const GoldenStack stack = read(path);
    for (const auto& [address, word] : stack.words) {
      GoldenStack changed = stack;
      changed.words[address] = kPoison;
      bool differs = false;
      for (const RowDetail detail : {RowDetail::kStack, RowDetail::kAllRegisters}) {
        const tracer::UserStack walked = walk(changed, detail);
        differs = differs || walked.frames != stack.frames || walked.ended != stack.ended;
      }
      EXPECT_TRUE(differs) << path << ": word at " << std::hex << address;
    }
  }
}

}  // namespace
}  // namespace uscope::testkit
