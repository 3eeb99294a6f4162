// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which files may name the code of a trace: only those that hold what was mapped.
#include "symbolizer/names/traced_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "symbolizer/elf/elf_facts.h"
#include "symbolizer/names/frame_namer.h"
#include "tests/unit/store/load_support.h"

namespace uscope::store {
namespace {

constexpr const char* kLibrary = "/usr/lib/x86_64-linux-gnu/libz.so.1";

class TracedFileTest : public testing::Test {
 protected:
  // A file that is mapped now, and held. With or without what its note says.
  void trace(bool with_build_id) {
    std::filesystem::copy_file(std::filesystem::canonical(kLibrary), path());
    held_.reset(open(path().c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status {};
    ASSERT_EQ(fstat(held_.get(), &status), 0);
    usc_file_key key{};
    key.ino = status.st_ino;
    key.size = static_cast<__u64>(status.st_size);
    key.ctime_sec = status.st_ctim.tv_sec;
    key.ctime_nsec = static_cast<__u32>(status.st_ctim.tv_nsec);
    const auto facts = symbolizer::read_elf_facts(held_.get(), path());
    ASSERT_TRUE(facts);
    ASSERT_FALSE(facts->build_id.empty());
    for (const auto& segment : facts->exec_segments)
      segments_.push_back({segment.offset, segment.size, segment.address});
    traced_ = {with_build_id ? facts->build_id : "", key, segments_};
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // longer than a tick of the clock of files
  }

  void write_at(off_t at, const std::string& bytes) {
    const UniqueFd fd(open(path().c_str(), O_WRONLY | O_CLOEXEC));
    ASSERT_EQ(pwrite(fd.get(), bytes.data(), bytes.size(), at), static_cast<ssize_t>(bytes.size()));
  }

  [[nodiscard]] bool held_names() const { return symbolizer::holds_what_was_traced(held_.get(), traced_, "held"); }
  [[nodiscard]] bool path_names() const {
    const UniqueFd fd(open(path().c_str(), O_RDONLY | O_CLOEXEC));
    return symbolizer::holds_what_was_traced(fd.get(), traced_, "by path");
  }
  [[nodiscard]] std::string path() const { return (folder_ / "lib.so").string(); }

  test::TemporaryFolder folder_;
  UniqueFd held_;
  std::vector<usc_segment> segments_;
  symbolizer::TracedFile traced_;
};

TEST_F(TracedFileTest, AnUntouchedFileNames) {
  for (const bool with_build_id : {true, false}) {
    trace(with_build_id);
    EXPECT_TRUE(held_names());
    EXPECT_TRUE(path_names());
    std::filesystem::remove(path());
    segments_.clear();
  }
}

// The last byte of a library is none of its note, nor of its segments: the build-id is the same as before.
TEST_F(TracedFileTest, AFileThatWasWrittenToDoesNot) {
  trace(true);
  write_at(static_cast<off_t>(traced_.key->size) - 1, "x");
  EXPECT_FALSE(held_names());
  EXPECT_FALSE(path_names());
}

TEST_F(TracedFileTest, NorDoesOneThatWasCutShortOrPunched) {
  trace(true);
  ASSERT_EQ(
      fallocate(open(path().c_str(), O_WRONLY | O_CLOEXEC), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 4096, 4096), 0);
  EXPECT_FALSE(held_names());
  std::filesystem::remove(path());
  segments_.clear();
  trace(true);
  std::filesystem::resize_file(path(), traced_.key->size - 8);
  EXPECT_FALSE(held_names());
}

TEST_F(TracedFileTest, NorDoesOneThatWasWrittenThroughAMapping) {
  trace(true);
  const UniqueFd fd(open(path().c_str(), O_RDWR | O_CLOEXEC));
  auto* page = static_cast<volatile char*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0));
  page[100] = static_cast<char>(page[100] + 1);
  EXPECT_FALSE(held_names());
  munmap(const_cast<char*>(page), 4096);
}

TEST_F(TracedFileTest, AnotherModeOrNameOrNoneChangesNothing) {
  trace(true);
  ASSERT_EQ(chmod(path().c_str(), 0700), 0);
  EXPECT_TRUE(held_names());
  EXPECT_TRUE(path_names());
  std::filesystem::rename(path(), path() + ".old");
  EXPECT_TRUE(held_names());
  std::filesystem::remove(path() + ".old");
  EXPECT_TRUE(held_names());
}

// Nothing but its time tells that it is the same; the time of the last write can be set.
TEST_F(TracedFileTest, WithoutABuildIdNoChangeIsForgiven) {
  trace(false);
  ASSERT_EQ(chmod(path().c_str(), 0700), 0);
  EXPECT_FALSE(held_names());
  std::filesystem::remove(path());
  EXPECT_FALSE(held_names());
}

TEST_F(TracedFileTest, ATimeThatWasSetBackDoesNotHideAnotherLayout) {
  trace(true);
  segments_[0].size += 16;  // what was mapped was laid out otherwise
  ASSERT_EQ(chmod(path().c_str(), 0700), 0);
  EXPECT_FALSE(held_names());
  segments_[0].size -= 16;
  EXPECT_TRUE(held_names());
}

// `load` on another machine, or after a package was installed again.
TEST_F(TracedFileTest, ACopyWithTheSameBuildIdNamesByPath) {
  trace(true);
  std::filesystem::copy_file(path(), path() + ".copy");
  std::filesystem::rename(path() + ".copy", path());
  EXPECT_TRUE(path_names());
  traced_.build_id[0] = static_cast<char>(traced_.build_id[0] + 1);
  EXPECT_FALSE(path_names());
  traced_.build_id.clear();
  EXPECT_FALSE(path_names());
}

TEST_F(TracedFileTest, TheNamerTellsAChangedFileFromOneThatIsGone) {
  trace(true);
  const symbolizer::ModuleRequest module{trace::FileId(7), path(), traced_};
  KeptCopies copies;
  symbolizer::HeldModule what;
  const auto held = symbolizer::make_symbol_namer([&](const symbolizer::ModuleRequest&) { return what; }, true);
  const auto by_path = symbolizer::make_symbol_namer({}, true);
  EXPECT_EQ(held->state_of(module), symbolizer::ModuleState::kUsable);
  EXPECT_EQ(by_path->state_of(module), symbolizer::ModuleState::kUsable);
  const std::uint64_t address = segments_[0].address + 0x100;
  const auto copy = copies.add(held_.get());
  ASSERT_TRUE(copy);
  write_at(static_cast<off_t>(traced_.key->size) - 1, "x");
  EXPECT_EQ(held->state_of(module), symbolizer::ModuleState::kChanged);
  EXPECT_EQ(by_path->state_of(module), symbolizer::ModuleState::kChanged);
  EXPECT_EQ(held->name(module, address, true).back().function.substr(0, 9), "lib.so+0x");
  what.copy = copy;
  EXPECT_EQ(held->state_of(module), symbolizer::ModuleState::kUsable);
  std::filesystem::rename(path(), path() + ".old");
  EXPECT_EQ(by_path->state_of(module), symbolizer::ModuleState::kGone);
  what = {{}, path() + ".old"};
  EXPECT_EQ(held->state_of(module), symbolizer::ModuleState::kChanged);
}

}  // namespace
}  // namespace uscope::store
