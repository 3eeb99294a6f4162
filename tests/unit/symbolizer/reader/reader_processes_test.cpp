// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Files read by processes without privileges: the same answers as in this one, and whatever becomes of such a process,
// an answer that says so, in time.
#include "symbolizer/reader/reader_processes.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <thread>

#include "symbolizer/reader/row_cache.h"
#include "tests/support/system_files.h"
#include "tests/unit/symbolizer/rows_test_support.h"

namespace uscope::symbolizer {
namespace {

using namespace std::chrono_literals;

std::map<std::string, std::string> status_of(pid_t pid) {
  std::map<std::string, std::string> found;
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(file, line);)
    if (const auto at = line.find(":\t"); at != std::string::npos) found[line.substr(0, at)] = line.substr(at + 2);
  return found;
}

std::vector<pid_t> children_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid) + "/children");
  std::vector<pid_t> children;
  for (pid_t child = 0; file >> child;) children.push_back(child);
  return children;
}

// What its descriptors are, but for /dev/null and sockets.
std::vector<std::string> others_than_sockets(pid_t pid) {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& item : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd")) {
    const std::string target = std::filesystem::read_symlink(item.path(), error).string();
    if (!error && target != "/dev/null" && target.rfind("socket:", 0) != 0) found.push_back(target);
  }
  return found;
}

// Not there, or dead and waiting for somebody to ask.
bool is_gone(pid_t pid) {
  const auto status = status_of(pid);
  return status.empty() || status.at("State").front() == 'Z';
}

void kill_and_wait(pid_t pid) {
  kill(pid, SIGKILL);
  for (int i = 0; i < 500 && !is_gone(pid); i++) std::this_thread::sleep_for(10ms);
  EXPECT_TRUE(is_gone(pid));
}

std::unique_ptr<ReaderProcesses> start(const ReaderOptions& options = {}) {
  auto readers = ReaderProcesses::start(options);
  EXPECT_TRUE(readers) << readers.error().what;
  return readers ? std::move(*readers) : nullptr;
}

bool reads(ElfReader& reader, const char* path = kLibm) {
  const UniqueFd fd = open_to_read(path);
  const FactsAnswer answer = reader.facts(fd.get(), path);
  EXPECT_TRUE(answer.facts) << answer.facts.error().what;
  return answer.facts && !answer.facts->exec_segments.empty();
}

void expect_same_facts(const ElfFacts& a, const ElfFacts& b) {
  EXPECT_EQ(encode(a), encode(b));
  EXPECT_EQ(a.file_size, b.file_size);
}

TEST(ReaderProcesses, GiveTheSameAnswersAsThisProcess) {
  const auto readers = start();
  ASSERT_NE(readers, nullptr);
  for (const char* path : {kLibc, kLibm, "/proc/self/exe", kLibc}) {
    const UniqueFd fd = open_to_read(path);
    const FactsAnswer theirs = readers->facts(fd.get(), path);
    ASSERT_TRUE(theirs.facts) << theirs.facts.error().what;
    expect_same_facts(*theirs.facts, *direct_reader().facts(fd.get(), path).facts);
    const auto reading = readers->open(fd.get(), path);
    const auto digest = reading->digest();
    ASSERT_TRUE(digest) << digest.error().what;
    EXPECT_EQ(*digest, *unwind_digest(fd.get(), path));
    for (const RowDetail detail : {RowDetail::kStack, RowDetail::kAllRegisters}) {
      const auto rows = reading->rows(detail);
      const auto own = build_rows(fd.get(), path, detail);
      ASSERT_TRUE(rows) << rows.error().what;
      const auto parts = parts_of(*rows);
      const auto own_parts = parts_of(*own);
      for (std::size_t i = 0; i < parts.size(); i++) {
        EXPECT_TRUE(std::equal(parts[i].begin(), parts[i].end(), own_parts[i].begin(), own_parts[i].end()));
      }
      EXPECT_EQ(std::memcmp(&rows->stats, &own->stats, sizeof(RowStats)), 0);
      EXPECT_EQ(rows->text_end, own->text_end);
    }
  }
}

TEST(ReaderProcesses, TellWhatIsNoElfFile) {
  const auto readers = start();
  ASSERT_NE(readers, nullptr);
  const UniqueFd text = open_to_read("/etc/passwd");
  const FactsAnswer answer = readers->facts(text.get(), "/etc/passwd");
  EXPECT_FALSE(answer.elf);
  ASSERT_FALSE(answer.facts);
  EXPECT_EQ(answer.facts.error().what, direct_reader().facts(text.get(), "/etc/passwd").facts.error().what);
  EXPECT_FALSE(readers->open(text.get(), "/etc/passwd")->digest());
  EXPECT_TRUE(reads(*readers));
}

TEST(ReaderProcesses, ServeSeveralThreads) {
  const auto readers = start();
  ASSERT_NE(readers, nullptr);
  const UniqueFd fd = open_to_read(kLibm);
  const auto expected = build_rows(fd.get(), kLibm);
  std::vector<std::thread> threads;
  std::atomic<int> equal = 0;
  for (int i = 0; i < 6; i++)
    threads.emplace_back([&] {
      for (int turn = 0; turn < 10; turn++) {
        const auto rows = readers->open(fd.get(), kLibm)->rows(RowDetail::kStack);
        if (rows && rows->rows.size() == expected->rows.size() && reads(*readers, kLibc)) equal++;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(equal, 60);
}

TEST(ReaderProcesses, HaveNoPrivileges) {
  const auto readers = start();
  ASSERT_NE(readers, nullptr);
  ASSERT_TRUE(reads(*readers));
  std::vector<pid_t> all = children_of(readers->keeper());
  ASSERT_GE(all.size(), 2U);  // the spare keeper, and a reader that waits
  all.push_back(readers->keeper());
  for (const pid_t pid : all) {
    const auto status = status_of(pid);
    EXPECT_EQ(status.at("Name"), "uscope-reader");
    EXPECT_EQ(status.at("NoNewPrivs"), "1");
    EXPECT_EQ(status.at("Seccomp"), "2");
    for (const char* name : {"CapInh", "CapPrm", "CapEff", "CapAmb"}) EXPECT_EQ(status.at(name), "0000000000000000");
    if (geteuid() != 0) continue;
    EXPECT_EQ(status.at("Uid"), status_of(readers->keeper()).at("Uid"));
    EXPECT_EQ(status.at("Gid"), status.at("Uid"));
    EXPECT_GE(std::stoul(status.at("Uid")), std::size_t{1} << 31);
    EXPECT_EQ(status.at("Groups").find_first_not_of(" \t"), std::string::npos) << status.at("Groups");
    // What it has just been handed, or forked, may still be there.
    std::vector<std::string> others = others_than_sockets(pid);
    for (int i = 0; i < 300 && !others.empty(); i++, others = others_than_sockets(pid))
      std::this_thread::sleep_for(10ms);
    EXPECT_EQ(others, std::vector<std::string>{});
  }
}

// A reader with weak spots: what it does is in the name of the file.
void read_strangely(int socket) {
  while (const auto task = receive_task(socket)) {
    const AnswerHead large{ReadStatus::kDone, UINT32_MAX};
    const AnswerHead twenty{ReadStatus::kDone, 20};
    std::array<std::byte, 4096> junk{};
    junk.fill(std::byte{0x5a});
    if (task->name == "crash") __builtin_trap();
    for (volatile bool hangs = task->name == "hang"; hangs;) {
    }
    if (task->name == "large") (void)send_all(socket, std::as_bytes(std::span(&large, 1)));
    if (task->name == "junk") {
      (void)send_all(socket, std::as_bytes(std::span(&twenty, 1)));
      (void)send_all(socket, junk);
    }
    if (task->name == "leave" || !answer_requests(socket, *task)) return;
  }
}

TEST(ReaderProcesses, OneThatDiesOrLiesCostsItsFileOnly) {
  ReaderOptions options;
  options.work = read_strangely;
  options.facts_time = options.rows_time = 300ms;
  const auto readers = start(options);
  ASSERT_NE(readers, nullptr);
  const UniqueFd fd = open_to_read(kLibm);
  const std::map<std::string, std::string> cases = {
      {"crash", "crash: the process that read it died of it"},
      {"leave", "leave: the process that read it died of it"},
      {"hang", "hang: reading it was given up after 300 ms"},
      {"large", "large: the process that read it gave an impossible answer"}};
  for (const auto& [name, trouble] : cases) {
    for (const bool used_before : {false, true}) {
      if (used_before) {
        ASSERT_TRUE(reads(*readers));
      }
      const auto begun = std::chrono::steady_clock::now();
      const FactsAnswer facts = readers->facts(fd.get(), name);
      EXPECT_TRUE(facts.elf) << name;
      ASSERT_FALSE(facts.facts) << name;
      EXPECT_EQ(facts.facts.error().what, trouble);
      EXPECT_TRUE(facts.unread) << name;
      const auto reading = readers->open(fd.get(), name);
      const auto rows = reading->rows(RowDetail::kStack);
      EXPECT_TRUE(reading->has_failed()) << name;
      ASSERT_FALSE(rows) << name;
      EXPECT_EQ(rows.error().what, trouble);
      EXPECT_LT(std::chrono::steady_clock::now() - begun, 5s);
    }
  }
  EXPECT_FALSE(readers->facts(fd.get(), "junk").facts);
  EXPECT_FALSE(readers->open(fd.get(), "junk")->digest());
  EXPECT_FALSE(readers->open(fd.get(), "junk")->rows(RowDetail::kStack));
  EXPECT_TRUE(reads(*readers));
  // Those that were given up have been killed: the spare keeper is left, and a reader that waits.
  const auto alive = [&] {
    const std::vector<pid_t> children = children_of(readers->keeper());
    return std::count_if(children.begin(), children.end(), [](pid_t child) { return !is_gone(child); });
  };
  for (int i = 0; i < 500 && alive() > 2; i++) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(alive(), 2);
}

TEST(ReaderProcesses, AnotherKeeperTakesOverAndOneMore) {
  const auto readers = start();
  ASSERT_NE(readers, nullptr);
  pid_t keeper = readers->keeper();
  for (int i = 0; i < 3; i++) {
    const std::vector<pid_t> children = children_of(keeper);
    ASSERT_FALSE(children.empty());
    const pid_t spare = children.front();
    ASSERT_TRUE(reads(*readers));
    kill_and_wait(keeper);
    EXPECT_TRUE(reads(*readers)) << i;
    keeper = spare;
  }
  kill_and_wait(keeper);
  EXPECT_TRUE(reads(*readers));
}

TEST(ReaderProcesses, WithoutAnyKeeperThatIsSaid) {
  const auto readers = start();
  ASSERT_NE(readers, nullptr);
  const pid_t spare = children_of(readers->keeper()).front();
  kill_and_wait(spare);
  kill_and_wait(readers->keeper());
  const UniqueFd fd = open_to_read(kLibm);
  const FactsAnswer answer = readers->facts(fd.get(), "file");
  ASSERT_FALSE(answer.facts);
  EXPECT_EQ(answer.facts.error().what, "file: the process that reads ELF files has been killed");
}

TEST(ReaderProcesses, OneKilledWhileItWaitsIsNoticedByNobody) {
  const auto readers = start();
  ASSERT_NE(readers, nullptr);
  ASSERT_TRUE(reads(*readers));
  const std::vector<pid_t> children = children_of(readers->keeper());
  ASSERT_EQ(children.size(), 2U);
  kill_and_wait(children.back());
  EXPECT_TRUE(reads(*readers));
}

// Another process that starts readers and is killed.
TEST(ReaderProcesses, EndWithWhoStartedThem) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  const UniqueFd from(ends[0]);
  UniqueFd to(ends[1]);
  const pid_t tracer = fork();
  if (tracer == 0) {
    const auto readers = start();
    const bool ready = readers != nullptr && reads(*readers);
    std::vector<pid_t> all = children_of(readers->keeper());
    all.push_back(readers->keeper());
    const bool told = ready && write(to.get(), all.data(), all.size() * sizeof(pid_t)) > 0;
    kill(getpid(), told ? SIGKILL : SIGTERM);
  }
  to.reset();
  std::array<pid_t, 16> pids{};
  const ssize_t got = read(from.get(), pids.data(), sizeof(pids));
  int status = 0;
  waitpid(tracer, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  ASSERT_GE(got, static_cast<ssize_t>(3 * sizeof(pid_t)));
  for (std::size_t i = 0; i < static_cast<std::size_t>(got) / sizeof(pid_t); i++) {
    for (int turn = 0; turn < 500 && !is_gone(pids[i]); turn++) std::this_thread::sleep_for(10ms);
    EXPECT_TRUE(is_gone(pids[i])) << pids[i];
  }
}

TEST(ReaderWire, FactsComeBackAsTheyWere) {
  const UniqueFd fd = open_to_read(kLibc);
  const auto facts = read_elf_facts(fd.get(), kLibc);
  ASSERT_TRUE(facts);
  const auto back = decode(encode(*facts), facts->file_size);
  ASSERT_TRUE(back);
  expect_same_facts(*back, *facts);
  EXPECT_FALSE(back->build_id.empty());
  EXPECT_EQ(back->needed, facts->needed);
}

TEST(ReaderWire, ImpossibleFactsAreRefused) {
  const UniqueFd fd = open_to_read(kLibc);
  const auto facts = read_elf_facts(fd.get(), kLibc);
  const std::vector<std::byte> good = encode(*facts);
  for (std::size_t size = 0; size < good.size(); size++)
    EXPECT_FALSE(decode(std::span(good).first(size), facts->file_size)) << size;
  EXPECT_FALSE(decode(good, facts->file_size / 2));  // segments behind the file's end
  ElfFacts bad = *facts;
  std::swap(bad.segments.front(), bad.segments.back());
  EXPECT_FALSE(decode(encode(bad), facts->file_size));
  bad = *facts;
  bad.segments.front().address = UINT64_MAX - 1;
  EXPECT_FALSE(decode(encode(bad), facts->file_size));
  bad = *facts;
  bad.needed = {std::string("libm\0.so", 8)};
  EXPECT_FALSE(decode(encode(bad), facts->file_size));
  std::mt19937_64 random(7);
  for (int i = 0; i < 20'000; i++) {
    std::vector<std::byte> damaged = good;
    for (int k = 0; k < 3; k++) damaged[random() % damaged.size()] = static_cast<std::byte>(random());
    if (const auto found = decode(damaged, facts->file_size)) {
      for (const Segment& segment : found->segments) EXPECT_LE(segment.offset + segment.size, facts->file_size);
    }
  }
}

}  // namespace
}  // namespace uscope::symbolizer
