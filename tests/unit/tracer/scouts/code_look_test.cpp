// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A process that maps a file as code and changes its copy: which changes matter to a probe, before it is there and
// afterwards.
#include "tracer/scouts/code_look.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "tests/support/temporary_folder.h"
#include "tracer/process/process_list.h"

namespace uscope::tracer {
namespace {

using What = CodeFinding::What;

constexpr std::size_t kBytes = 12288;
constexpr std::uint64_t kMove = 100;     // mov $0x11223344,%eax
constexpr std::uint64_t kAcross = 4094;  // the same, on two pages
constexpr std::uint64_t kReturn = 8200;

class CodeLookTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string code(kBytes, '\x90');
    for (const std::uint64_t place : {kMove, kAcross}) code.replace(place, 5, "\xb8\x44\x33\x22\x11");
    code[kReturn] = '\xc3';
    fd_.reset(open(folder_.write("code", code).c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status {};
    ASSERT_EQ(fstat(fd_.get(), &status), 0);
    file_ = read_code(fd_.get(), status, {kReturn, kMove, kAcross, kMove});
    map(PROT_READ | PROT_EXEC, MAP_PRIVATE);
  }
  void TearDown() override { munmap(code_, kBytes); }
  void map(int protection, int flags) {
    if (code_ != nullptr) munmap(code_, kBytes);
    code_ = mmap(nullptr, kBytes, protection, flags, fd_.get(), 0);
    ASSERT_NE(code_, MAP_FAILED);
  }
  void set(std::uint64_t place, unsigned char byte, int protection = PROT_READ | PROT_EXEC) {
    ASSERT_EQ(mprotect(code_, kBytes, PROT_READ | PROT_WRITE), 0);
    static_cast<volatile unsigned char*>(code_)[place] = byte;
    ASSERT_EQ(mprotect(code_, kBytes, protection), 0);
  }
  [[nodiscard]] std::vector<std::pair<std::uint64_t, What>> found(bool probed, std::uint32_t pid = 0) const {
    CodeLook look(nullptr, {file_}, {pid == 0 ? static_cast<std::uint32_t>(getpid()) : pid}, probed);
    look.finish();
    std::vector<std::pair<std::uint64_t, What>> all;
    for (const CodeFinding& finding : look.take()) all.emplace_back(finding.offset, finding.what);
    return all;
  }

  using Found = std::vector<std::pair<std::uint64_t, What>>;
  const test::TemporaryFolder folder_;
  UniqueFd fd_;
  CodeFile file_;
  void* code_ = nullptr;
};

// Two mounts of overlayfs over one layer, and the layer itself.
TEST(CodeFileId, AFileOfALayerHasOneNumberUnderSeveralDevices) {
  struct stat status {};
  status.st_dev = makedev(0, 41);
  status.st_ino = 10;
  status.st_size = 4096;
  status.st_mtim = {100, 5};
  const CodeFileId file = CodeFileId::of(status);
  const auto changed = [&](const auto& change) {
    struct stat other = status;
    change(other);
    return file.may_be(CodeFileId::of(other));
  };
  EXPECT_TRUE(changed([](struct stat&) {}));
  EXPECT_TRUE(changed([](struct stat& other) { other.st_dev = makedev(0, 43); }));
  EXPECT_TRUE(changed([](struct stat& other) { other.st_dev = makedev(254, 1); }));
  EXPECT_TRUE(changed([](struct stat& other) {
    other.st_dev = makedev(0, 43);
    other.st_ino |= std::uint64_t{1} << 62;
  }));
  EXPECT_TRUE(changed([](struct stat& other) { other.st_size++; }));  // it has grown
  EXPECT_FALSE(changed([](struct stat& other) { other.st_ino = 11; }));
  const auto elsewhere = [&](const auto& change) {
    return changed([&](struct stat& other) {
      other.st_dev = makedev(0, 43);
      change(other);
    });
  };
  EXPECT_FALSE(elsewhere([](struct stat& other) { other.st_size++; }));
  EXPECT_FALSE(elsewhere([](struct stat& other) { other.st_mtim.tv_nsec++; }));
  EXPECT_FALSE(elsewhere([](struct stat& other) { other.st_ino = 11; }));
  status.st_dev = makedev(254, 1);
  struct stat other_disk = status;
  other_disk.st_dev = makedev(254, 2);
  EXPECT_FALSE(CodeFileId::of(status).may_be(CodeFileId::of(other_disk)));
}

TEST_F(CodeLookTest, PlacesAreInstructions) {
  ASSERT_EQ(file_.places.size(), 3U);
  EXPECT_EQ(file_.places[0].count, 5U);
  EXPECT_EQ(file_.places[1].count, 5U);
  EXPECT_EQ(file_.places[2].count, 1U);
}

TEST_F(CodeLookTest, AnyByteOfTheInstructionCountsAndNoOther) {
  EXPECT_EQ(found(false), Found());
  set(kMove + 5, 0xc3);
  set(kReturn + 1, 0xc3);
  EXPECT_EQ(found(false), Found());
  set(kMove + 4, 0x12);
  EXPECT_EQ(found(false), (Found{{kMove, What::kChanged}}));
  set(kAcross + 2, 0x12);
  EXPECT_EQ(found(false), (Found{{kMove, What::kChanged}, {kAcross, What::kChanged}}));
  set(kReturn, 0xcb);
  EXPECT_EQ(found(false).size(), 3U);
}

TEST_F(CodeLookTest, AMappingThatIsNotExecutedYetCounts) {
  set(kMove, 0x90, PROT_READ);
  EXPECT_EQ(found(false), (Found{{kMove, What::kCopyChanged}}));
  set(kMove, 0x90, PROT_READ | PROT_WRITE | PROT_EXEC);
  EXPECT_EQ(found(false), (Found{{kMove, What::kChanged}}));
  map(PROT_READ | PROT_EXEC, MAP_SHARED);
  EXPECT_EQ(found(false), Found());
}

TEST_F(CodeLookTest, ACopyThatIsOnlyWrittenHasNoBreakpointsAndDoesNotCount) {
  map(PROT_READ | PROT_WRITE, MAP_PRIVATE);
  for (const std::uint64_t place : {kMove, kMove + 3, kAcross + 2, kReturn}) set(place, 0x12, PROT_READ | PROT_WRITE);
  EXPECT_EQ(found(false), Found());
  EXPECT_EQ(found(true), Found());
  // Three ways to have breakpoints put into it later.
  for (const int later : {PROT_READ, PROT_READ | PROT_EXEC, PROT_EXEC}) {
    ASSERT_EQ(mprotect(code_, kBytes, later), 0);
    for (const bool probed : {false, true}) EXPECT_EQ(found(probed).size(), 3U) << later;
    EXPECT_EQ(found(true)[0], std::pair(kMove, (later & PROT_EXEC) != 0 ? What::kChanged : What::kCopyChanged));
  }
}

TEST_F(CodeLookTest, CodeThatIsMadeWritableKeepsItsBreakpoints) {
  const int writes = PROT_READ | PROT_WRITE;
  set(kMove, 0xcc, writes);
  EXPECT_EQ(found(true), Found()) << "it may be about to take it away";
  set(kMove + 2, 0x12, writes);
  EXPECT_EQ(found(true), (Found{{kMove, What::kCopyChanged}}));
  EXPECT_EQ(found(false), Found()) << "no breakpoint is put there now";
  set(kMove, 0x90, writes);
  EXPECT_EQ(found(true), Found()) << "the breakpoint is overwritten, and what it executes is its own";
}

TEST_F(CodeLookTest, ABreakpointIsADebuggersOnlyInAProcessThatIsTraced) {
  set(kMove, 0xcc);
  EXPECT_EQ(found(false), (Found{{kMove, What::kOwnBreakpoint}}));
  const pid_t child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    raise(SIGSTOP);
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(found(false, static_cast<std::uint32_t>(child)), (Found{{kMove, What::kDebugged}}));
  ASSERT_EQ(kill(child, SIGKILL), 0);
  ASSERT_EQ(waitpid(child, &status, 0), child);
}

// None is the kernel's, which would put it into every mapping of the file.
TEST_F(CodeLookTest, ABreakpointThatAProcessHasWrittenIsItsOwn) {
  set(kMove, 0xcc, PROT_READ);
  EXPECT_EQ(found(false), (Found{{kMove, What::kCopyChanged}}));
  set(kMove, 0xcc, PROT_READ | PROT_WRITE | PROT_EXEC);
  EXPECT_EQ(found(false), (Found{{kMove, What::kOwnBreakpoint}}));
  set(kReturn, 0xcc, PROT_EXEC);
  EXPECT_EQ(found(false), (Found{{kMove, What::kOwnBreakpoint}, {kReturn, What::kOwnBreakpoint}}));
  set(kMove + 1, 0x12);
  EXPECT_EQ(found(false), (Found{{kMove, What::kChanged}, {kReturn, What::kOwnBreakpoint}}));
  set(kMove, 0xcc, PROT_READ | PROT_WRITE);
  EXPECT_EQ(found(false), Found()) << "no breakpoint is put there";
}

TEST_F(CodeLookTest, WithProbesABreakpointIsExpectedWhereTheKernelPutsOne) {
  EXPECT_EQ(found(true), (Found{{kMove, What::kUnprobed}, {kAcross, What::kUnprobed}, {kReturn, What::kUnprobed}}));
  for (const std::uint64_t place : {kMove, kAcross, kReturn}) set(place, 0xcc);
  EXPECT_EQ(found(true), Found());
  set(kMove, 0xb8);  // a debugger has taken its own breakpoint away, and wrote what was there before
  EXPECT_EQ(found(true), (Found{{kMove, What::kUnprobed}}));
  set(kMove, 0xcc, PROT_READ | PROT_WRITE | PROT_EXEC);
  EXPECT_EQ(found(true), (Found{{kMove, What::kWritable}, {kAcross, What::kWritable}, {kReturn, What::kWritable}}));
  set(kMove + 1, 0x45);
  EXPECT_EQ(found(true), (Found{{kMove, What::kChanged}}));
  map(PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE);
  EXPECT_EQ(found(true), Found());
}

TEST_F(CodeLookTest, ADoubtIsOfPlacesInItsMemoryAlone) {
  const auto found_in = [&](std::uint64_t from, std::uint64_t end, std::uint64_t pc = 0, bool translators = false) {
    const auto begin = reinterpret_cast<std::uint64_t>(code_);
    CodeLook look(nullptr, {file_},
                  {CodeDoubt{.pid = static_cast<std::uint32_t>(getpid()),
                             .start = begin + from,
                             .end = begin + end,
                             .pc = pc,
                             .of_translators_only = translators}});
    look.finish();
    std::vector<std::uint64_t> places;
    for (const CodeFinding& finding : look.take()) {
      EXPECT_EQ(finding.what, What::kInDoubt);
      places.push_back(finding.offset);
    }
    return places;
  };
  using Places = std::vector<std::uint64_t>;
  EXPECT_EQ(found_in(0, kBytes), (Places{kMove, kAcross, kReturn}));
  EXPECT_EQ(found_in(kMove + 4, kMove + 5), Places{kMove});
  EXPECT_EQ(found_in(kMove + 5, kAcross), Places{});
  EXPECT_EQ(found_in(4096, 8192), Places{kAcross});
  EXPECT_EQ(found_in(0, kBytes, getauxval(AT_BASE) + 1), Places{});  // the dynamic loader's relocations
  EXPECT_EQ(found_in(0, kBytes, reinterpret_cast<std::uint64_t>(&getpid)), (Places{kMove, kAcross, kReturn}));
  EXPECT_EQ(found_in(0, kBytes, 0, true), Places{});
}

}  // namespace
}  // namespace uscope::tracer
