// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Probes in files and at tracepoints: hits of programs that count what they do themselves (tests/fixtures/probed.c), or
// are counted by gdb and perf; programs behave as without. usage: probe_hits FIXTURE_FOLDER
#include <elf.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "support/unique_fd.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/trace/memory_sink.h"
#include "tracer/backend/uprobe_multi.h"
#include "tracer/recorder/recorder.h"
#include "tracer/walk/verifier.h"

namespace uscope::tracer {
namespace {

std::filesystem::path fixtures;

std::string fixture(const std::string& name) {
  return fixtures / ("fixture_" + name);
}

constexpr std::uint8_t kRdx = 1;
constexpr std::uint8_t kRcx = 2;
constexpr std::uint8_t kRsi = 4;
constexpr std::uint8_t kRdi = 5;
constexpr std::uint8_t kRsp = 7;
constexpr std::uint8_t kR9 = 9;
constexpr std::uint8_t kRip = 16;

using Counts = std::map<std::string, long>;
using Places = std::map<std::string, std::uint64_t>;

std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return text;
  char part[4096];
  while (const std::size_t got = fread(part, 1, sizeof(part), pipe)) text.append(part, got);
  pclose(pipe);
  return text;
}

void run_untraced(const std::string& results) {
  output_of(fixture("probed") + " run " + results);
}

Places places_of_probed() {
  Places places;
  std::istringstream text(output_of(fixture("probed") + " places"));
  std::string name;
  for (std::uint64_t offset = 0; text >> name >> offset;) places[name] = offset;
  return places;
}

Counts read_counts(const std::string& path) {
  Counts counts;
  std::ifstream file(path);
  std::string name;
  for (long count = 0; file >> name >> count;) counts[name] = count;
  return counts;
}

// The functions of an executable's symbol table, by file offset, but for those that begin with a long nop, where no
// probe may be (docs/kernels.md).
Places functions_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr head{};
  file.read(reinterpret_cast<char*>(&head), sizeof(head));
  std::vector<Elf64_Phdr> parts(head.e_phnum);
  file.seekg(static_cast<std::streamoff>(head.e_phoff));
  file.read(reinterpret_cast<char*>(parts.data()), static_cast<std::streamsize>(parts.size() * sizeof(parts[0])));
  Places places;
  std::istringstream text(output_of("readelf -sW " + path + " 2>/dev/null"));
  for (std::string line; std::getline(text, line);) {
    std::istringstream words(line);
    std::string number, size, type, bind, visibility, section, name;
    std::uint64_t address = 0;
    words >> number >> std::hex >> address >> size >> type >> bind >> visibility >> section >> name;
    if (type != "FUNC" || section == "UND" || size == "0") continue;
    for (const Elf64_Phdr& part : parts) {
      const std::uint64_t offset = address - part.p_vaddr + part.p_offset;
      char first[2] = {};
      if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0 || address - part.p_vaddr >= part.p_filesz) continue;
      file.seekg(static_cast<std::streamoff>(offset));
      file.read(first, sizeof(first));
      if (std::string_view(first, 2) != "\x0f\x1f" && std::string_view(first, 2) != "\x66\x2e") places[name] = offset;
    }
  }
  return places;
}

ProbeArgument argument(ProbeArgument::From from, std::uint8_t reg, std::uint8_t bytes, bool is_signed = false,
                       std::int64_t offset = 0) {
  ProbeArgument made;
  made.name = "argument";
  made.type = "long";
  made.from = from;
  made.reg = reg;
  made.bytes = bytes;
  made.is_signed = is_signed;
  made.offset = offset;
  return made;
}

ProbeArgument text_argument(std::uint8_t reg) {
  ProbeArgument made = argument(ProbeArgument::From::kRegister, reg, 8);
  made.type = "const char *";
  made.is_string = true;
  return made;
}

Probe probe_at(std::string name, std::string path, std::uint64_t place, std::uint32_t kind) {
  Probe probe;
  probe.source = USC_SOURCE_UFUNCTION;
  probe.kind = kind;
  probe.name = std::move(name);
  probe.path = std::move(path);
  probe.places = {place};
  return probe;
}

// A field of a tracepoint, from its format file.
ProbeArgument field_of(const std::string& tracepoint, const std::string& name, bool is_string = false) {
  std::ifstream format("/sys/kernel/tracing/events/" + tracepoint + "/format");
  ProbeArgument made;
  for (std::string line; std::getline(format, line);) {
    unsigned offset = 0;
    unsigned size = 0;
    unsigned is_signed = 0;
    const std::size_t end = line.find(';');
    if (line.rfind("\tfield:", 0) != 0 ||
        sscanf(line.c_str() + end, ";\toffset:%u;\tsize:%u;\tsigned:%u;", &offset, &size, &is_signed) != 3)
      continue;
    std::string declared = line.substr(7, end - 7);
    const std::size_t space = declared.rfind(' ');
    std::string field = declared.substr(space + 1);
    std::string type = declared.substr(0, space);
    if (const std::size_t array = field.find('['); array != std::string::npos) {
      type += field.substr(array);
      field.resize(array);
    }
    if (field != name) continue;
    made.name = name;
    made.type = type;
    made.from = ProbeArgument::From::kRecord;
    made.bytes = static_cast<std::uint8_t>(size <= 8 ? size : 1);
    made.is_signed = is_signed != 0;
    made.offset = offset;
    made.is_string = is_string;
    return made;
  }
  ADD_FAILURE() << tracepoint << " has no field " << name;
  return made;
}

Probe tracepoint(const std::string& name, std::uint32_t kind) {
  Probe probe;
  probe.source = USC_SOURCE_TRACEPOINT;
  probe.kind = kind;
  probe.system = name.substr(0, name.find('/'));
  probe.event = name.substr(name.find('/') + 1);
  probe.name = probe.system + ":" + probe.event;
  std::ifstream("/sys/kernel/tracing/events/" + name + "/id") >> probe.event_id;
  EXPECT_NE(probe.event_id, 0U) << name;
  return probe;
}

// Comparisons of --verify.
class Comparisons : public CompareObserver {
 public:
  void on_compared(const Compared& compared) override {
    total++;
    if (compared.equal) return;
    different++;
    if (different > 3) return;
    std::ostringstream text;
    for (const std::uint64_t frame : compared.uscope_frames) text << std::hex << " " << frame;
    text << " |";
    for (const std::uint64_t frame : compared.oracle_frames) text << std::hex << " " << frame;
    ADD_FAILURE() << "ended " << int{compared.ended} << ":" << text.str();
  }
  int total = 0;
  int different = 0;
};

class ProbeHits : public testing::Test {
 protected:
  [[nodiscard]] std::vector<std::string> probed(const std::string& what) const {
    return {fixture("probed"), what, results_};
  }

  // Probes of all functions of the fixture, but for those that are named.
  static ProbePlan plan_of_probed(const std::set<std::string>& without = {}) {
    ProbePlan plan;
    for (const auto& [name, offset] : places_of_probed())
      if (name != "semaphore" && name != "mark" && without.count(name) == 0)
        plan.probes.push_back(
            probe_at(name, fixture("probed"), offset, static_cast<std::uint32_t>(plan.probes.size() + 1)));
    return plan;
  }

  RecordOptions options_of(const std::vector<std::string>& command, const ProbePlan& plan) {
    RecordOptions options;
    options.config.scope = {USC_MODE_ALL_ALL, 512};
    options.config.target.kinds = USC_TARGET_LAUNCH;
    options.config.string_bytes = 64;
    options.launch.command = command;
    options.cache_folder = folder_ / "cache";
    options.backend = BackendChoice::kBpf;
    options.probes = plan;
    sink_ = std::make_unique<MemorySink>();
    options.sink = sink_.get();
    return options;
  }

  void record_with(const RecordOptions& options, const RecordHooks& hooks = {}) {
    std::vector<std::unique_ptr<File>> files;
    const auto outcome = record(options, hooks, &files);
    ASSERT_TRUE(outcome) << outcome.error().what << "; " << outcome.error().remedy;
    ASSERT_TRUE(outcome->command);
    EXPECT_EQ(outcome->command->code, 0);
    EXPECT_EQ(outcome->command->signal, 0);
    hits_ = sink_->all<usc_hit>();
    std::set<std::uint32_t> stacks;
    for (const usc_stack& stack : sink_->all<usc_stack>()) stacks.insert(stack.stack);
    for (const usc_hit& hit : hits_)
      if (stacks.count(hit.stack) == 0) FAIL() << "stack " << hit.stack << " of kind " << hit.kind;
    for (const usc_loss& loss : sink_->all<usc_loss>())
      ADD_FAILURE() << "lost " << loss.count << " by cause " << loss.cause;
  }

  // Not a child of this process, which would not be traced.
  [[nodiscard]] pid_t start_forever() const {
    std::filesystem::remove(results_);
    return std::stoi(output_of(fixture("probed") + " forever " + results_ + " > /dev/null 2>&1 & echo $!"));
  }

  // Whether it went on until it was told to end, and found nothing wrong: only then it tells its counts.
  [[nodiscard]] bool end_forever(pid_t process) const {
    if (kill(process, SIGTERM) != 0) return false;
    for (int i = 0; i < 1000 && read_counts(results_).count("sum") == 0; i++)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return read_counts(results_)["sum"] == 0 && read_counts(results_)["pushes"] > 100;
  }

  void record_probed(const std::string& what, const ProbePlan& plan) { record_with(options_of(probed(what), plan)); }

  // Hits by the names of the plan.
  [[nodiscard]] Counts count_hits(const ProbePlan& plan, std::uint8_t source = USC_SOURCE_UFUNCTION) const {
    std::map<std::uint32_t, std::string> names;
    for (const Probe& probe : plan.probes)
      if (probe.source == source) names[probe.kind] = probe.name;
    Counts counts;
    for (const usc_hit& hit : hits_)
      if (hit.source == source) counts[names[hit.kind]]++;
    return counts;
  }

  void expect_counts(const ProbePlan& plan) const {
    const Counts told = read_counts(results_);
    Counts counted = count_hits(plan);
    ASSERT_FALSE(told.empty());
    for (const Probe& probe : plan.probes) {
      const auto found = told.find(probe.name);
      EXPECT_EQ(counted[probe.name], found == told.end() ? 0 : found->second) << probe.name;
    }
  }

  test::TemporaryFolder folder_;
  std::string results_ = folder_.file("results");
  std::unique_ptr<MemorySink> sink_;
  std::vector<usc_hit> hits_;
};

// With gdb, perf, readelf, programs of many languages, or a kernel that is not Debian 12's.
class ProbeOracles : public ProbeHits {};

// Recursion, longjmp, fork, exec, exits, threads, signals, leaf functions with a red zone, and first instructions of
// all sorts: each call is a hit, and what the functions return is the same as without.
TEST_F(ProbeHits, CountsOfFunctionsAreThoseThatTheProgramCounts) {
  run_untraced(results_);
  const long sum = read_counts(results_)["sum"];
  const ProbePlan plan = plan_of_probed();
  record_probed("run", plan);
  expect_counts(plan);
  EXPECT_EQ(read_counts(results_)["sum"], sum);
  EXPECT_EQ(read_counts(results_)["in_child"], 1);
  EXPECT_EQ(read_counts(results_)["after_exec"], 1);
  EXPECT_EQ(sink_->all<usc_kind>().size(), plan.probes.size());
}

TEST_F(ProbeHits, CountsAreThoseWhereEachPlaceIsAttachedByItself) {
  ProbePlan plan = plan_of_probed();
  plan.attach_singly = true;
  record_probed("run", plan);
  expect_counts(plan);
}

// The last call of each thread may have been hit, and not counted.
TEST_F(ProbeHits, OfThreadsThatAreKilledInAProbedFunction) {
  const ProbePlan plan = plan_of_probed();
  record_probed("killed", plan);
  const long counted = read_counts(results_)["spins"];
  const long hit = count_hits(plan)["spins"];
  EXPECT_GT(counted, 0);
  EXPECT_GE(hit, counted);
  EXPECT_LE(hit, counted + 20);  // five processes of four threads
}

TEST_F(ProbeHits, OtherProcessesOfTheProgramAreNotRecorded) {
  const std::string other = folder_ / "other";
  std::thread outsider([&other] {
    for (int i = 0; i < 5; i++) run_untraced(other);
  });
  const ProbePlan plan = plan_of_probed();
  record_probed("run", plan);
  outsider.join();
  expect_counts(plan);
  EXPECT_GT(read_counts(other)["sum"], 0);
}

// Each stack is walked once more by libdwfl; its first frame is the probed place.
TEST_F(ProbeOracles, StacksAreWholeWithFiftyProbes) {
  ProbePlan plan = plan_of_probed();
  const Places places = functions_of(fixture("probed"));
  for (const auto& [name, offset] : places) {
    const bool is_there = std::any_of(plan.probes.begin(), plan.probes.end(),
                                      [place = offset](const Probe& probe) { return probe.places.front() == place; });
    if (plan.probes.size() < 50 && !is_there)
      plan.probes.push_back(
          probe_at(name, fixture("probed"), offset, static_cast<std::uint32_t>(plan.probes.size() + 1)));
  }
  EXPECT_EQ(plan.probes.size(), 50U);
  RecordOptions options = options_of(probed("run"), plan);
  options.config.verify_every = 1;
  Comparisons comparisons;
  RecordHooks hooks;
  hooks.compare_observer = &comparisons;
  record_with(options, hooks);
  EXPECT_GT(comparisons.total, 100);
  EXPECT_EQ(comparisons.different, 0);
  std::vector<std::string> tails;
  const auto stacks = sink_->all<usc_stack>(&tails);
  std::map<std::uint32_t, std::uint64_t> first;
  for (std::size_t i = 0; i < stacks.size(); i++) {
    ASSERT_GE(tails[i].size(), sizeof(std::uint64_t));
    std::memcpy(&first[stacks[i].stack], tails[i].data(), sizeof(std::uint64_t));
    EXPECT_EQ(stacks[i].ended, USC_ENDED_ROOT);
  }
  for (const usc_hit& hit : hits_)
    ASSERT_EQ(USC_FRAME_OFFSET(first[hit.stack]), plan.probes[hit.kind - 1].places.front()) << hit.kind;
}

TEST_F(ProbeHits, ArgumentsAndTheirTexts) {
  ProbePlan plan;
  Probe probe = probe_at("takes", fixture("probed"), places_of_probed()["takes"], 9);
  probe.arguments = {argument(ProbeArgument::From::kRegister, kRdi, 4, true),
                     text_argument(kRsi),
                     argument(ProbeArgument::From::kRegister, kRdx, 8),
                     argument(ProbeArgument::From::kRegister, kRcx, 1),
                     argument(ProbeArgument::From::kRegister, kR9, 4),
                     argument(ProbeArgument::From::kMemory, kRsp, 8, true, 8)};
  plan.probes.push_back(probe);
  record_probed("run", plan);
  ASSERT_EQ(hits_.size(), 3U);
  const std::uint64_t expected[3][6] = {{static_cast<std::uint64_t>(-5), 0, 1ULL << 40, 200, 2, 77},
                                        {6, 0, 2, 255, 2, static_cast<std::uint64_t>(-78)},
                                        {7, 0, 3, 0, 2, 79}};
  for (int i = 0; i < 3; i++) {
    const usc_hit& hit = hits_[static_cast<std::size_t>(i)];
    EXPECT_EQ(hit.source, USC_SOURCE_UFUNCTION);
    EXPECT_EQ(hit.kind, 9U);
    EXPECT_EQ(hit.how, USC_HOW_HIT);
    EXPECT_EQ(hit.frames, 0U);
    EXPECT_NE(hit.args[1], 0U);
    for (int n = 0; n < 6; n++) {
      if (n == 1) continue;
      EXPECT_EQ(hit.args[n], expected[i][n]) << i << ", argument " << n;
    }
  }
  std::vector<std::string> tails;
  const auto strings = sink_->all<usc_string>(&tails);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < strings.size(); i++) {
    if (strings[i].kind != USC_STRING_TEXT) continue;
    texts.push_back(tails[i].substr(0, strings[i].bytes));
    ASSERT_LE(texts.size(), 3U);
    EXPECT_EQ(strings[i].entry_ns, hits_[texts.size() - 1].entry_ns);
    EXPECT_EQ(strings[i].head.task, hits_[texts.size() - 1].head.task);
    EXPECT_EQ(strings[i].arg, 1);
    EXPECT_EQ((strings[i].flags & USC_STRING_TRUNCATED) != 0, texts.size() == 3);
  }
  const std::string cut = "a text that is longer than is taken: 0123456789012345678901234567890123456789";
  EXPECT_EQ(texts, (std::vector<std::string>{"first", "", cut.substr(0, 64)}));
}

// The program looks at its semaphore while somebody looks at the probe.
TEST_F(ProbeHits, UsdtProbesAndTheirSemaphores) {
  const Places places = places_of_probed();
  ProbePlan plan;
  Probe probe = probe_at("provider:mark", fixture("probed"), places.at("mark"), 1);
  probe.source = USC_SOURCE_USDT;
  probe.semaphore = places.at("semaphore");
  probe.arguments = {argument(ProbeArgument::From::kRegister, kRdi, 4, true), text_argument(kRsi),
                     argument(ProbeArgument::From::kConstant, 0, 8, true, -3),
                     // The probed instruction itself: a breakpoint.
                     argument(ProbeArgument::From::kMemory, kRip, 1)};
  plan.probes.push_back(probe);
  for (const bool singly : {false, true}) {
    plan.attach_singly = singly;
    record_probed("run", plan);
    ASSERT_EQ(hits_.size(), 10U);
    for (std::size_t i = 0; i < hits_.size(); i++) {
      EXPECT_EQ(hits_[i].args[0], i);
      EXPECT_EQ(hits_[i].args[2], static_cast<std::uint64_t>(-3));
      EXPECT_EQ(hits_[i].args[3], 0xccU);
    }
    std::vector<std::string> tails;
    const auto strings = sink_->all<usc_string>(&tails);
    ASSERT_EQ(strings.size(), 10U);
    EXPECT_EQ(tails[0].substr(0, strings[0].bytes), "marked");
    EXPECT_EQ(read_counts(results_)["semaphore"], 10);
  }
  run_untraced(results_);
  EXPECT_EQ(read_counts(results_)["semaphore"], 0);
}

// What the program does is the same each time, so perf counts the same in a run of its own.
TEST_F(ProbeOracles, CountsOfTracepointsAreThoseOfPerf) {
  const std::vector<std::string> names = {"syscalls/sys_enter_getppid", "sched/sched_process_exec",
                                          "sched/sched_process_fork", "task/task_newtask", "syscalls/sys_exit_clone3"};
  ProbePlan plan;
  std::string events;
  for (const std::string& name : names) {
    plan.probes.push_back(tracepoint(name, static_cast<std::uint32_t>(plan.probes.size() + 1)));
    events += " -e " + plan.probes.back().name;
  }
  plan.probes[1].arguments = {field_of(names[1], "filename", true), field_of(names[1], "pid")};
  plan.probes[3].arguments = {field_of(names[3], "comm", true), field_of(names[3], "clone_flags")};
  plan.probes[4].arguments = {field_of(names[4], "ret")};
  record_probed("run", plan);
  Counts counts = count_hits(plan, USC_SOURCE_TRACEPOINT);
  std::istringstream told(
      output_of("perf stat -x, " + events + " " + fixture("probed") + " run " + results_ + " 2>&1"));
  int compared = 0;
  for (std::string line; std::getline(told, line);)
    for (const Probe& probe : plan.probes)
      if (line.find("," + probe.name + ",") != std::string::npos) {
        // perf begins at the exec of the program itself.
        EXPECT_EQ(counts[probe.name], std::stol(line)) << line;
        compared++;
      }
  EXPECT_EQ(compared, static_cast<int>(names.size()));
  EXPECT_GT(counts["task:task_newtask"], 5);
  std::vector<std::string> tails;
  const auto strings = sink_->all<usc_string>(&tails);
  std::multiset<std::string> texts;
  for (std::size_t i = 0; i < strings.size(); i++) texts.insert(tails[i].substr(0, strings[i].bytes));
  EXPECT_EQ(texts.count("/proc/self/exe"), 1U);
  EXPECT_EQ(texts.count("fixture_probed"), static_cast<std::size_t>(counts["task:task_newtask"]));
  std::set<std::int64_t> tids;
  for (const usc_task& task : sink_->all<usc_task>()) tids.insert(task.tid);
  for (const usc_hit& hit : hits_) {
    EXPECT_TRUE(hit.kind != 2 || tids.count(static_cast<std::int64_t>(hit.args[1])) == 1);
    EXPECT_TRUE(hit.kind != 3 || hit.frames > 2);
    EXPECT_TRUE(hit.kind != 5 || static_cast<std::int64_t>(hit.args[0]) >= 0);
  }
}

// A tracepoint in an interrupt, while a program of another tracepoint is at work: the kernel runs no second one. It
// counts that from Linux 6.7 on.
TEST_F(ProbeOracles, AreCountedWhereTheKernelRunsNoProgram) {
  ProbePlan plan;
  plan.probes = {tracepoint("syscalls/sys_enter_getppid", 1), tracepoint("timer/hrtimer_expire_entry", 2)};
  std::vector<std::unique_ptr<File>> files;
  const auto outcome = record(options_of(probed("timers"), plan), {}, &files);
  ASSERT_TRUE(outcome) << outcome.error().what;
  std::uint64_t missed = 0;
  for (const usc_loss& loss : sink_->all<usc_loss>())
    if (loss.cause == USC_LOSS_PROBE_MISSED) missed += loss.count;
  EXPECT_GT(missed, 0U);
}

// A process that runs is probed, and goes on when it is not any more.
TEST_F(ProbeHits, OfAProcessThatRan) {
  const pid_t process = start_forever();
  RecordOptions options = options_of({}, plan_of_probed({"spins"}));
  options.config.target.kinds = USC_TARGET_PID;
  options.target.pids = {static_cast<std::uint32_t>(process)};
  options.duration_ns = 300'000'000;
  std::vector<std::unique_ptr<File>> files;
  const auto outcome = record(options, {}, &files);
  EXPECT_TRUE(outcome) << outcome.error().what;
  EXPECT_TRUE(end_forever(process));
  std::map<std::uint32_t, int> threads;
  for (const usc_hit& hit : sink_->all<usc_hit>()) threads[hit.head.task]++;
  EXPECT_EQ(threads.size(), 3U);
  for (const auto& [task, hits] : threads) EXPECT_GT(hits, 100);
}

TEST_F(ProbeOracles, CountsAreThoseOfBreakpoints) {
  const std::string path = fixture("recursion");
  const Places places = functions_of(path);
  ProbePlan plan;
  std::string breaks;
  for (const std::string name : {"main", "descend", "bottom"}) {
    plan.probes.push_back(probe_at(name, path, places.at(name), static_cast<std::uint32_t>(plan.probes.size() + 1)));
    breaks += " -ex 'break *" + name + "' -ex 'ignore $bpnum 1000000'";
  }
  record_with(options_of({path, "200"}, plan));
  const std::string told =
      output_of("gdb -nx -batch -ex starti" + breaks + " -ex continue -ex 'info breakpoints' --args " + path +
                " 200 2>&1 | grep -B1 -E 'already hit'");
  Counts by_gdb;
  std::istringstream lines(told);
  std::string name;
  for (std::string line; std::getline(lines, line);) {
    if (const std::size_t at = line.find('<'); at != std::string::npos)
      name = line.substr(at + 1, line.find_first_of("+>", at) - at - 1);
    if (const std::size_t at = line.find("already hit "); at != std::string::npos)
      by_gdb[name] = std::stol(line.substr(at + 12));
  }
  EXPECT_EQ(count_hits(plan), by_gdb) << told;
  EXPECT_EQ(by_gdb["descend"], 200);
}

// Programs of other languages, probed at every function of their own: they check themselves, and end with 0.
TEST_F(ProbeOracles, ProgramsOfOtherLanguagesSurvive) {
  const struct {
    const char* program;
    const char* names;
    std::size_t fewest;
  } programs[] = {{"go_stacks", "main.", 50}, {"rust", "4walk", 10}, {"exceptions", "", 9},  {"cpp_threads", "", 3},
                  {"jumps", "", 9},           {"coroutines", "", 3}, {"go_cgo", "main.", 3}, {"nested_signals", "", 3}};
  for (const auto& [program, names, fewest] : programs) {
    SCOPED_TRACE(program);
    const std::string path = fixture(program);
    ProbePlan plan;
    for (const auto& [name, offset] : functions_of(path))
      if (name.find(names) != std::string::npos)
        plan.probes.push_back(probe_at(name, path, offset, static_cast<std::uint32_t>(plan.probes.size() + 1)));
    ASSERT_GT(plan.probes.size(), 2U);
    record_with(options_of({path}, plan));
    EXPECT_GE(hits_.size(), fewest);
  }
}

TEST_F(ProbeHits, ErrorsSayWhatCannotBeProbed) {
  const auto error_of = [this](const Probe& probe) {
    ProbePlan plan;
    plan.probes = {probe};
    const auto outcome = record(options_of(probed("run"), plan), {}, nullptr);
    return outcome ? Error{"", ""} : outcome.error();
  };
  const Error missing = error_of(probe_at("gone:function", "/nowhere/gone", 4096, 1));
  EXPECT_NE(missing.what.find("cannot probe gone:function at 0x1000 of /nowhere/gone"), std::string::npos)
      << missing.what;
  EXPECT_NE(missing.remedy.find("exist"), std::string::npos) << missing.remedy;
  const Error outside = error_of(probe_at("outside", fixture("probed"), 1ULL << 40, 1));
  EXPECT_NE(outside.what.find("outside"), std::string::npos) << outside.what;
  EXPECT_FALSE(outside.remedy.empty());
  Probe unknown;
  unknown.source = USC_SOURCE_TRACEPOINT;
  unknown.kind = 1;
  unknown.name = "nobody:nothing";
  unknown.event_id = 1U << 20;
  EXPECT_NE(error_of(unknown).what.find("nobody:nothing"), std::string::npos);
}

// Threads that run through the probed functions all the time, and check what comes back, while probes come and go.
TEST_F(ProbeHits, AttachedAndDetachedUnderLoad) {
  if (!kernel_has_uprobe_multi()) return;
  const std::string path = fixture("probed");
  UprobePlaces all;
  for (const Probe& probe : plan_of_probed().probes) {
    all.offsets.push_back(probe.places.front());
    all.cookies.push_back(0);
    all.semaphores.push_back(0);
  }
  const UniqueFd program = load_empty_uprobe_program();
  ASSERT_TRUE(program);
  const pid_t process = start_forever();
  for (int i = 0; i < 200; i++) {
    const UniqueFd link = attach_uprobe_multi(program.get(), path, all);
    ASSERT_TRUE(link) << strerror(errno);
    std::this_thread::sleep_for(std::chrono::microseconds(i * 20));
  }
  EXPECT_TRUE(end_forever(process));
  EXPECT_GT(read_counts(results_)["pushes"], 10000);
}

// All functions of a program that has the C library in itself.
TEST_F(ProbeOracles, AThousandPlacesAreAttachedAndDetachedInSeconds) {
  if (!kernel_has_uprobe_multi()) return;
  const std::string path = fixture("wrappers_static");
  ProbePlan plan;
  UprobePlaces all;
  for (const auto& [name, offset] : functions_of(path)) {
    plan.probes.push_back(probe_at(name, path, offset, static_cast<std::uint32_t>(plan.probes.size() + 1)));
    all.offsets.push_back(offset);
    all.cookies.push_back(0);
    all.semaphores.push_back(0);
  }
  ASSERT_GT(plan.probes.size(), 1000U);
  const UniqueFd program = load_empty_uprobe_program();
  const auto began = std::chrono::steady_clock::now();
  {
    const UniqueFd link = attach_uprobe_multi(program.get(), path, all);
    ASSERT_TRUE(link) << strerror(errno);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(10));
  record_with(options_of({path}, plan));
  EXPECT_GT(count_hits(plan).size(), 50U);
}

}  // namespace
}  // namespace uscope::tracer

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc != 2) return 2;
  uscope::tracer::fixtures = argv[1];
  return RUN_ALL_TESTS();
}
