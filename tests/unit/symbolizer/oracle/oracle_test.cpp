// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Whole walks: the same samples of real programs, by rows and the step of include/uscope/, and by libdwfl. Frame by
// frame equal, on functions made for it and on every system call of some real programs.
#include "symbolizer/oracle/oracle.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <memory>

#include "symbolizer/rows/vdso.h"
#include "tests/support/system_files.h"
#include "tests/unit/symbolizer/oracle_walk_support.h"
#include "tests/unit/symbolizer/rows_test_support.h"

namespace uscope::symbolizer {
namespace {

struct OurWalk {
  std::vector<OracleFrame> frames;
  int ended = 0;  // usc_step's last answer
};

// Both walkers over the mappings of a process.
class Walkers {
 public:
  void use(const std::string& maps) {
    if (maps == text_) return;
    text_ = maps;
    version_++;
    lines_.clear();
    std::vector<OracleModule> modules;
    for (const MapLine& line : parse_maps(maps)) {
      if (!line.executable || (line.path.empty() || (line.path[0] != '/' && line.path != "[vdso]"))) continue;
      lines_.push_back(line);
      OracleModule module;
      module.name = line.path;
      module.vdso = line.path == "[vdso]";
      module.file = file_number(line.path);
      if (!module.vdso) module.fd = files_.at(line.path).fd.get();
      module.start = line.start;
      module.end = line.end;
      module.offset = module.vdso ? 0 : line.offset;
      modules.push_back(module);
    }
    const auto set = oracle_.set_modules(1, version_, modules);
    usable_ = static_cast<bool>(set);
    EXPECT_TRUE(oracle_.has(1, version_) == usable_);
  }

  [[nodiscard]] bool usable() const { return usable_; }

  OracleWalk by_oracle(const OracleSample& sample) {
    auto walk = oracle_.walk(1, sample);
    EXPECT_TRUE(walk) << walk.error().what;
    return walk ? *walk : OracleWalk{};
  }

  OurWalk by_rows(const OracleSample& sample) {
    TestMemory memory = [&](std::uint64_t address, std::uint64_t* word) {
      const std::uint64_t at = address - sample.base;
      if (address < sample.base || at + 8 > sample.stack.size()) return false;
      std::memcpy(word, sample.stack.data() + at, 8);
      return true;
    };
    OurWalk walk;
    usc_frame frame{};
    frame.pc = sample.pc;
    std::copy(sample.registers.begin(), sample.registers.end(), frame.regs);
    frame.known = USC_KNOWN_ALL;
    frame.exact = sample.behind ? 0 : 1;
    for (int i = 0; i < 4096; i++) {
      walk.frames.push_back({frame.pc, frame.exact != 0});
      const std::uint64_t address = frame.pc - (frame.exact != 0 ? 0 : 1);
      const auto line = std::find_if(lines_.begin(), lines_.end(), [&](const MapLine& candidate) {
        return address >= candidate.start && address < candidate.end;
      });
      if (line == lines_.end()) {
        walk.ended = USC_STEP_BROKEN(USC_BROKEN_NO_MAPPING);
        return walk;
      }
      UnwindTable& table = files_.at(line->path).table;
      const usc_file_rows place = place_of(table);
      const std::uint64_t offset = address - line->start + (line->path == "[vdso]" ? 0 : line->offset);
      walk.ended = usc_step(&frame, usc_row_find(&table, &place, offset), &memory, &table);
      if (walk.ended != USC_STEP_CALLER) return walk;
    }
    return walk;
  }

 private:
  struct File {
    UniqueFd fd;
    UnwindTable table;
    std::uint32_t number = 0;
  };

  std::uint32_t file_number(const std::string& path) {
    const auto known = files_.find(path);
    if (known != files_.end()) return known->second.number;
    File file;
    file.number = static_cast<std::uint32_t>(files_.size()) + 2;
    file.fd = open_to_read(path);
    auto table = path == "[vdso]" ? vdso_rows() : build_rows(file.fd.get(), path);
    EXPECT_TRUE(table) << table.error().what;
    if (table) file.table = std::move(*table);
    return files_.emplace(path, std::move(file)).first->second.number;
  }

  std::string text_;
  std::uint64_t version_ = 0;
  bool usable_ = false;
  std::vector<MapLine> lines_;
  std::map<std::string, File> files_;
  Oracle oracle_;
};

std::string describe(const OurWalk& ours, const OracleWalk& truth, const std::string& maps) {
  std::ostringstream out;
  const auto lines = parse_maps(maps);
  const auto name = [&](std::uint64_t pc) {
    for (const MapLine& line : lines)
      if (pc >= line.start && pc < line.end) out << line.path << "+" << std::hex << pc - line.start + line.offset;
  };
  const std::size_t most = std::max(ours.frames.size(), truth.frames.size());
  for (std::size_t i = 0; i < most; i++) {
    out << "\n  " << std::dec << i << ": ";
    if (i < ours.frames.size()) name(ours.frames[i].pc), out << (ours.frames[i].exact ? " exact" : "");
    out << " | ";
    if (i < truth.frames.size()) name(truth.frames[i].pc), out << (truth.frames[i].exact ? " exact" : "");
  }
  out << std::dec << "\n  ended " << ours.ended << " | " << static_cast<int>(truth.end) << " " << truth.error
      << " uncovered " << truth.uncovered;
  return out.str();
}

struct Tally {
  std::uint64_t walks = 0;
  std::uint64_t equal = 0;
  std::uint64_t roots = 0;
  std::uint64_t before_hole = 0;
  std::uint64_t uncovered = 0;
  std::uint64_t frames = 0;
  std::uint64_t across_signal = 0;
  std::size_t deepest = 0;
};

// Equal: the same frames, and an end at the root in both. Where no CFI covers a frame, up to that one; rows know it as
// the root (an entry point) or as a hole.
bool compare_walks(const OurWalk& ours, const OracleWalk& truth, Tally& tally) {
  tally.walks++;
  tally.frames += truth.frames.size();
  tally.deepest = std::max(tally.deepest, truth.frames.size());
  tally.before_hole += truth.begun_before_hole;
  tally.roots += ours.ended == USC_STEP_ROOT;
  for (std::size_t i = 1; i < truth.frames.size(); i++) tally.across_signal += truth.frames[i].exact;
  std::size_t count = truth.frames.size();
  if (truth.uncovered >= 0) {
    tally.uncovered++;
    count = static_cast<std::size_t>(truth.uncovered) + 1;
    if (ours.ended != USC_STEP_BROKEN(USC_BROKEN_NO_ROWS) && ours.ended != USC_STEP_ROOT) return false;
  } else if ((ours.ended == USC_STEP_ROOT) != (truth.end == OracleEnd::kRoot)) {
    return false;
  }
  if (ours.frames.size() != count) return false;
  for (std::size_t i = 0; i < count; i++)
    if (ours.frames[i].pc != truth.frames[i].pc || ours.frames[i].exact != truth.frames[i].exact) return false;
  tally.equal++;
  return true;
}

// ---- functions with known stacks; frames of -O2 without frame pointers ----

// Aligned, so that 512 bytes from one's start hold nothing of another one.
// clang has no attribute for functions without frame pointer; the release build is GCC's.
#ifdef __clang__
#define FIXTURE __attribute__((noinline, aligned(512), no_sanitize("address", "undefined")))
#else
#define FIXTURE \
  __attribute__((noinline, noclone, aligned(512), optimize("omit-frame-pointer"), no_sanitize("address", "undefined")))
#endif
#define KEEP_CALL() __asm__ volatile("" ::: "memory")
constexpr long kMark = 0x5ca1ab1e;  // getppid's first argument, which it ignores: our calls among libc's

FIXTURE void marked_call() {
  syscall(SYS_getppid, kMark);
  KEEP_CALL();
}

FIXTURE int compare_and_call(const void* a, const void* b) {
  marked_call();
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}

FIXTURE void sorts() {
  int values[] = {2, 1};
  qsort(values, 2, sizeof(int), &compare_and_call);
  KEEP_CALL();
}

FIXTURE void on_signal(int) {
  marked_call();
  KEEP_CALL();
}

FIXTURE void raises() {
  signal(SIGUSR1, &on_signal);
  raise(SIGUSR1);
  KEEP_CALL();
}

FIXTURE void raises_on_another_stack() {
  stack_t stack{};
  stack.ss_size = 65536;
  stack.ss_sp = mmap(nullptr, stack.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_handler = &on_signal;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR2, &action, nullptr);
  raise(SIGUSR2);
  KEEP_CALL();
}

FIXTURE void* thread_body(void*) {
  marked_call();
  return nullptr;
}

FIXTURE void starts_thread() {
  pthread_t thread;
  if (pthread_create(&thread, nullptr, &thread_body, nullptr) == 0) pthread_join(thread, nullptr);
  KEEP_CALL();
}

FIXTURE void vforks() {
  const pid_t child = vfork();
  if (child == 0) _exit(0);
  int status = 0;
  waitpid(child, &status, 0);
  KEEP_CALL();
}

FIXTURE void spawns() {
  pid_t child = 0;
  char name[] = "true";
  char* arguments[] = {name, nullptr};
  if (posix_spawn(&child, "/bin/true", nullptr, nullptr, arguments, environ) == 0) waitpid(child, nullptr, 0);
  KEEP_CALL();
}

FIXTURE void realigned(int n) {
  alignas(64) char room[64];
  char* more = static_cast<char*>(__builtin_alloca(static_cast<std::size_t>(n) * 16));
  __asm__ volatile("" ::"r"(room), "r"(more) : "memory");
  marked_call();
  KEEP_CALL();
}

FIXTURE int recurses(int depth) {
  if (depth == 0) {
    marked_call();
    return 0;
  }
  const int below = recurses(depth - 1);
  KEEP_CALL();
  return below + 1;
}

FIXTURE void reads_clock() {
  timespec now;
  for (int i = 0; i < 3; i++) clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);  // the vdso makes the call
  KEEP_CALL();
}

struct Traced {
  Tally tally;
  std::vector<Stop> stops;  // marked calls, or all
  std::vector<OurWalk> walks;
};

Traced trace_and_compare(const std::function<void()>& body, bool only_marked, std::size_t every = 1) {
  Traced out;
  Walkers walkers;
  std::size_t seen = 0;
  std::size_t shown = 0;
  const int status = trace_calls(body, [&](const Stop& stop) {
    const bool marked = stop.call == SYS_getppid && stop.sample.registers[USC_REG_RDI] == kMark;
    if ((only_marked && !marked) || seen++ % every != 0) return;
    walkers.use(stop.maps);
    if (!walkers.usable()) return;
    const OurWalk ours = walkers.by_rows(stop.sample);
    const OracleWalk truth = walkers.by_oracle(stop.sample);
    if (!compare_walks(ours, truth, out.tally) && shown++ < 5)
      ADD_FAILURE() << "call " << stop.call << describe(ours, truth, stop.maps);
    if (marked) out.walks.push_back(ours);
  });
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  return out;
}

// Whether the walk passes the functions in this order, innermost first; fixtures are shorter than 512 bytes.
template <typename... F>
bool passes(const OurWalk& walk, F... functions) {
  std::size_t at = 0;
  for (const std::uint64_t start : {reinterpret_cast<std::uint64_t>(functions)...}) {
    while (at < walk.frames.size() && !(walk.frames[at].pc > start && walk.frames[at].pc < start + 512)) at++;
    if (at++ >= walk.frames.size()) return false;
  }
  return true;
}

TEST(OracleWalk, NestedCallsThroughQsort) {
  const Traced traced = trace_and_compare([] { sorts(); }, true);
  ASSERT_GE(traced.walks.size(), 1u);  // a sanitizer's qsort compares once more
  EXPECT_EQ(traced.tally.equal, traced.tally.walks);
  EXPECT_EQ(traced.tally.roots, traced.tally.walks);
  EXPECT_TRUE(passes(traced.walks[0], &marked_call, &compare_and_call, &sorts));
}

TEST(OracleWalk, SignalHandlers) {
  const Traced traced = trace_and_compare(
      [] {
        raises();
        raises_on_another_stack();
      },
      true);
  ASSERT_EQ(traced.walks.size(), 2u);
  EXPECT_EQ(traced.tally.equal, 2u);
  EXPECT_EQ(traced.tally.across_signal, 2u);
  EXPECT_TRUE(passes(traced.walks[0], &marked_call, &on_signal, &raises));
  EXPECT_EQ(traced.tally.roots, 1u);  // the copy does not hold the other stack, for neither
  EXPECT_TRUE(passes(traced.walks[1], &marked_call, &on_signal));
}

TEST(OracleWalk, Thread) {
  const Traced traced = trace_and_compare([] { starts_thread(); }, false);
  EXPECT_EQ(traced.tally.equal, traced.tally.walks);
  EXPECT_EQ(traced.tally.roots, traced.tally.walks);
  EXPECT_EQ(traced.tally.before_hole, 1u);  // clone3
  ASSERT_EQ(traced.walks.size(), 1u);
  EXPECT_TRUE(passes(traced.walks[0], &marked_call, &thread_body));
}

TEST(OracleWalk, VforkAndSpawn) {
  const Traced traced = trace_and_compare(
      [] {
        vforks();
        spawns();
      },
      false);
  EXPECT_EQ(traced.tally.equal, traced.tally.walks);
#ifndef USCOPE_SANITIZED  // whose vfork keeps the return address where no CFI tells of it
  EXPECT_EQ(traced.tally.roots, traced.tally.walks);
#endif
  EXPECT_GE(traced.tally.walks, 20u);
  EXPECT_GE(traced.tally.before_hole, 1u);
}

TEST(OracleWalk, RealignedFrameAndVdso) {
  const Traced traced = trace_and_compare(
      [] {
        realigned(5);
        reads_clock();
      },
      false);
  ASSERT_EQ(traced.walks.size(), 1u);
  EXPECT_TRUE(passes(traced.walks[0], &marked_call, &realigned));
  EXPECT_EQ(traced.tally.equal, traced.tally.walks);
  EXPECT_EQ(traced.tally.roots, traced.tally.walks);
  EXPECT_GE(traced.tally.walks, 4u);
}

TEST(OracleWalk, DeepRecursion) {
  const Traced traced = trace_and_compare([] { recurses(1000); }, true);
  ASSERT_EQ(traced.walks.size(), 1u);
  EXPECT_EQ(traced.tally.equal, 1u);
  const auto& frames = traced.walks[0].frames;
  ASSERT_GT(frames.size(), 1003u);
  EXPECT_TRUE(passes(traced.walks[0], &marked_call, &recurses, &recurses));
  // syscall, marked_call, the innermost recurses, and 1000 times the return into the one before.
  EXPECT_EQ(
      std::count_if(frames.begin(), frames.end(), [&](const OracleFrame& frame) { return frame.pc == frames[3].pc; }),
      1000);
}

TEST(OracleWalk, LeavingTheCopyIsSaid) {
  Walkers walkers;
  int checked = 0;
  trace_calls([] { recurses(50); },
              [&](const Stop& stop) {
                if (stop.call != SYS_getppid) return;
                walkers.use(stop.maps);
                OracleSample cut = stop.sample;
                cut.stack = cut.stack.first(1024);
                const OracleWalk truth = walkers.by_oracle(cut);
                EXPECT_EQ(truth.end, OracleEnd::kLeftCopy);
                EXPECT_GT(truth.frames.size(), 3u);
                EXPECT_EQ(walkers.by_rows(cut).ended, USC_STEP_BROKEN(USC_BROKEN_NOFAULT));
                checked++;
              });
  EXPECT_EQ(checked, 1);
}

TEST(OracleWalk, ManySpacesStayBounded) {
  Oracle oracle(4);
  const UniqueFd libc = open_to_read(kLibc);
  const auto facts = read_elf_facts(libc.get(), "libc");
  ASSERT_TRUE(facts);
  OracleModule module;
  module.name = "libc";
  module.fd = libc.get();
  module.file = 2;
  module.start = 0x7f0000000000 + facts->exec_segments[0].address;
  module.end = module.start + facts->exec_segments[0].size;
  module.offset = facts->exec_segments[0].offset;
  for (std::uint64_t mm = 1; mm <= 100; mm++) ASSERT_TRUE(oracle.set_modules(mm, 7, {&module, 1}));
  EXPECT_TRUE(oracle.has(100, 7));
  EXPECT_FALSE(oracle.has(100, 8));
  EXPECT_TRUE(oracle.has(97, 7));
  EXPECT_FALSE(oracle.has(96, 7));
  EXPECT_FALSE(oracle.walk(1, OracleSample{}));
  EXPECT_FALSE(oracle.set_modules(5, 1, {}));
}

// Where no CFI covers the pc, libdwfl follows rbp, and the walk says so.
TEST(OracleWalk, FrameWithoutCfiIsMarked) {
  Oracle oracle;
  const UniqueFd libc = open_to_read(kLibc);
  const auto facts = read_elf_facts(libc.get(), "libc");
  auto table = build_rows(libc.get(), "libc");
  ASSERT_TRUE(facts);
  ASSERT_TRUE(table);
  const auto hole = std::find_if(table->rows.begin() + 1, table->rows.end(), [](const usc_row& row) {
    return USC_RULE_KIND(row.rule) == USC_RULE_NONE && (&row)[1].offset - row.offset > 4;
  });
  OracleModule module;
  module.name = "libc";
  module.fd = libc.get();
  module.file = 2;
  module.start = 0x7f0000000000;
  module.end = module.start + facts->exec_segments[0].size;
  module.offset = facts->exec_segments[0].offset;
  ASSERT_TRUE(oracle.set_modules(1, 1, {&module, 1}));
  const std::uint64_t base = module.start - module.offset;
  std::vector<std::uint64_t> words(64, 0);
  words[8] = 0x7ffe00000000 + 8 * 20;  // the caller's rbp
  words[9] = base + facts->exec_segments[0].offset + 0x1000;
  OracleSample sample;
  sample.base = 0x7ffe00000000;
  sample.stack = std::as_bytes(std::span(words));
  sample.registers[USC_REG_SP] = sample.base;
  sample.registers[USC_REG_FP] = sample.base + 8 * 8;
  sample.pc = base + hole->offset + 2;
  const auto walk = oracle.walk(1, sample);
  ASSERT_TRUE(walk);
  ASSERT_GE(walk->frames.size(), 2u);
  EXPECT_EQ(walk->uncovered, 0);
  EXPECT_FALSE(walk->begun_before_hole);
  sample.pc = base + hole->offset;
  const auto before = oracle.walk(1, sample);
  ASSERT_TRUE(before);
  EXPECT_TRUE(before->begun_before_hole);
  EXPECT_EQ(before->frames[0].pc, sample.pc);
  EXPECT_NE(before->uncovered, 0);
}

// ---- every system call of real programs ----

struct Program {
  const char* name;
  std::vector<const char*> arguments;
};

class RealProgram : public testing::TestWithParam<Program> {};

TEST_P(RealProgram, EveryCallEqualsLibdwfl) {
  std::vector<char*> arguments;
  for (const char* argument : GetParam().arguments) arguments.push_back(const_cast<char*>(argument));
  if (access(arguments[0], X_OK) != 0) GTEST_SKIP() << arguments[0] << " is not installed";
  arguments.push_back(nullptr);
  const Traced traced = trace_and_compare(
      [&] {
        const int null = open("/dev/null", O_RDWR);
        dup2(null, 1);
        dup2(null, 2);
        execv(arguments[0], arguments.data());
        _exit(9);
      },
      false);
  EXPECT_GT(traced.tally.walks, 50u);
  EXPECT_EQ(traced.tally.equal, traced.tally.walks);
  EXPECT_EQ(traced.tally.roots, traced.tally.walks);
  std::printf(
      "%s: %lu walks, %lu equal, %lu at the root, %lu frames, deepest %zu, %lu begun before a hole, %lu at an entry "
      "without CFI\n",
      GetParam().name, traced.tally.walks, traced.tally.equal, traced.tally.roots, traced.tally.frames,
      traced.tally.deepest, traced.tally.before_hole, traced.tally.uncovered);
}

INSTANTIATE_TEST_SUITE_P(
    Oracle, RealProgram,
    testing::Values(Program{"ls", {"/bin/ls", "-lR", "/usr/include/linux"}},
                    Program{"bash",
                            {"/bin/bash", "-c",
                             "for i in 1 2 3; do echo $i | sort | wc -l; done; trap 'echo x' "
                             "USR1; kill -USR1 $$; x=$(date)"}},
                    Program{"python",
                            {"/usr/bin/python3", "-c",
                             "import threading,subprocess,hashlib,json\n"
                             "t=[threading.Thread(target=lambda:subprocess.run(['/bin/true'])) for _ in range(4)]\n"
                             "[x.start() for x in t]; [x.join() for x in t]\n"
                             "hashlib.sha256(b'x'*100000).hexdigest()"}},
                    Program{"g++",
                            {"/usr/bin/g++", "-O2", "-x", "c++", "-include", "string", "-c", "/dev/null", "-o",
                             "/dev/null"}}),
    [](const auto& one) { return one.index == 3 ? std::string("gxx") : std::string(one.param.name); });

}  // namespace
}  // namespace uscope::symbolizer
