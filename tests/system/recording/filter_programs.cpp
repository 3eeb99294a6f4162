// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Programs in usc_config, run by the kernel side (BPF, or USCOPE_TEST_BACKEND=kmod): of the calls that this program
// makes when it is started with the argument `calls`, those are recorded that the program admits, and no others.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/program_maker.h"
#include "trace/raw_reader.h"
#include "tracer/recorder/recorder.h"

namespace uscope::tracer {
namespace {

using test::compare;
using test::end;
using test::program_of;

constexpr int kGetppid = 3;
constexpr int kClosed = 4;
constexpr long kDescriptors[kClosed] = {-100, -7, 7777, 8888};

int make_calls() {
  for (int i = 0; i < kGetppid; i++) syscall(SYS_getppid);
  // The upper half of the register is what the kernel does not look at.
  for (const long fd : kDescriptors) syscall(SYS_close, (fd & 0xffffffff) | 0x1200000000);
  return 0;
}

class FilterPrograms : public testing::Test {
 protected:
  FilterPrograms() {
    std::string name = std::filesystem::temp_directory_path() / "uscope-filter-XXXXXX";
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  ~FilterPrograms() override { std::filesystem::remove_all(folder_); }

  // Records the calls under a program, and counts the events by kind, and those of the close calls above by descriptor.
  void record_under(const usc_program& program) {
    RecordOptions options;
    options.config.scope = {USC_MODE_ALL_ALL, 64};
    options.config.target.kinds = USC_TARGET_LAUNCH;
    for (__u64& word : options.config.calls_x86_64) word = ~0ULL;
    options.config.program = program;
    options.launch.command = {std::filesystem::read_symlink("/proc/self/exe"), "calls"};
    options.cache_folder = folder_ / "cache";
    const char* backend = std::getenv("USCOPE_TEST_BACKEND");
    options.backend = backend && std::string_view(backend) == "kmod" ? BackendChoice::kKmod : BackendChoice::kBpf;
    const std::string raw = folder_ / "raw";
    std::filesystem::remove(raw);
    options.raw.name = raw;
    options.raw.begin = [raw] {
      return Result<UniqueFd>(UniqueFd(open(raw.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)));
    };
    std::vector<std::unique_ptr<File>> files;
    const auto outcome = record(options, {}, &files);
    ASSERT_TRUE(outcome) << outcome.error().what << "; " << outcome.error().remedy;
    ASSERT_TRUE(outcome->command);
    EXPECT_EQ(outcome->command->signal, 0);
    EXPECT_EQ(outcome->command->code, 0);
    count_events(raw);
  }

  void count_events(const std::string& raw) {
    kinds_.clear();
    closed_.clear();
    auto reader = trace::RawReader::open(raw);
    ASSERT_TRUE(reader) << reader.error().what;
    trace::RawRecord record;
    for (;;) {
      const auto more = reader->next(record);
      ASSERT_TRUE(more) << more.error().what;
      if (!*more) break;
      if (record.head.type != USC_RECORD_EVENT) continue;
      const auto event = record.as<usc_event>();
      EXPECT_EQ(event.source, USC_SOURCE_SYSCALL);
      kinds_[event.kind]++;
      if (event.kind == SYS_close && event.args[0] >> 32 == 0x12) closed_[static_cast<int>(event.args[0])]++;
    }
  }

  using Counts = std::map<long, int>;
  Counts kinds_;
  Counts closed_;
  std::filesystem::path folder_;
};

TEST_F(FilterPrograms, WithoutOneAllCallsAreRecorded) {
  record_under({});
  EXPECT_EQ(kinds_[SYS_getppid], kGetppid);
  EXPECT_EQ(closed_, (Counts{{-100, 1}, {-7, 1}, {7777, 1}, {8888, 1}}));
  EXPECT_GT(kinds_.size(), 5U);
}

TEST_F(FilterPrograms, OneKind) {
  record_under(
      program_of({compare(USC_OP_EQUAL, USC_FIELD_KIND, SYS_getppid, 0, 1), end(USC_OP_ADMIT), end(USC_OP_REFUSE)}));
  EXPECT_EQ(kinds_, (Counts{{SYS_getppid, kGetppid}}));
}

TEST_F(FilterPrograms, AndOfAKindAndAnArgument) {
  record_under(
      program_of({compare(USC_OP_EQUAL, USC_FIELD_KIND, SYS_close, 0, 3),
                  compare(USC_OP_LESS, USC_FIELD_ARG0, 0xfffffff0, 1, 0, 32),
                  compare(USC_OP_EQUAL, USC_FIELD_ARG0, 8888, 0, 1, 32), end(USC_OP_ADMIT), end(USC_OP_REFUSE)}));
  EXPECT_EQ(closed_, (Counts{{-100, 1}, {8888, 1}}));
  EXPECT_EQ(kinds_, (Counts{{SYS_close, 2}}));
}

TEST_F(FilterPrograms, OrOfAProcessAndAKind) {
  const auto pid_above_or_getppid = [](std::uint64_t pid) {
    return program_of({compare(USC_OP_ABOVE, USC_FIELD_PID, pid, 1, 0),
                       compare(USC_OP_EQUAL, USC_FIELD_KIND, SYS_getppid, 0, 1), end(USC_OP_ADMIT),
                       end(USC_OP_REFUSE)});
  };
  record_under(pid_above_or_getppid(1));
  EXPECT_EQ(kinds_[SYS_getppid], kGetppid);
  EXPECT_GT(kinds_.size(), 5U);
  record_under(pid_above_or_getppid(1U << 30));
  EXPECT_EQ(kinds_, (Counts{{SYS_getppid, kGetppid}}));
}

// Each comparison goes on at either of two places: as many ways as the verifier could meet.
TEST_F(FilterPrograms, TheLongestOne) {
  usc_program longest = program_of({});
  for (int i = 0; i < USC_PROGRAM_MOST - 3; i++)
    longest.insn[longest.length++] =
        compare(static_cast<usc_op>(USC_OP_EQUAL + i % 6), static_cast<usc_field>(USC_FIELD_ARG0 + i % 6),
                static_cast<std::uint64_t>(i) << i % 24, i % 2, (i + 1) % 2, i % 3 ? 64 : 32);
  longest.insn[longest.length++] = compare(USC_OP_EQUAL, USC_FIELD_KIND, SYS_getppid, 0, 1);
  longest.insn[longest.length++] = end(USC_OP_ADMIT);
  longest.insn[longest.length++] = end(USC_OP_REFUSE);
  // The last comparison but one must not pass over the one behind it.
  longest.insn[USC_PROGRAM_MOST - 4].on_true = longest.insn[USC_PROGRAM_MOST - 4].on_false = 0;
  record_under(longest);
  for (const auto& [kind, count] : kinds_) EXPECT_EQ(kind, SYS_getppid) << count;
  EXPECT_EQ(kinds_[SYS_getppid], kGetppid);
}

}  // namespace
}  // namespace uscope::tracer

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "calls") return uscope::tracer::make_calls();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
