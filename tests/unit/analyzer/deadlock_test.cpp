// Each rule of the diagnosis twice: where it accuses, and where one fact differs and it must not.
#include "analyzer/deadlock.h"

#include "tests/unit/analyzer/hung_store.h"

namespace uscope::test {
namespace {

using analyzer::Diagnosis;
using analyzer::FindingType;
using analyzer::Primitive;
using analyzer::Verdict;

constexpr std::uint64_t kA = 0x555500001000;
constexpr std::uint64_t kB = 0x555500002000;
constexpr std::uint64_t kC = 0x555500003028;  // a condition variable's futex: 8-byte aligned

class DeadlockTest : public testing::Test {
 protected:
  Diagnosis diagnose(const HungTrace& trace) {
    const auto path = folder_ / ("hung" + std::to_string(count_++) + ".db");
    write_hung(path, trace);
    auto diagnosis = analyzer::diagnose(open_store(path));
    if (!diagnosis) {
      ADD_FAILURE() << diagnosis.error().what;
      return {};
    }
    return *diagnosis;
  }

  // The one finding, and the tids that it accuses, in ascending order.
  void expect(const HungTrace& trace, FindingType type, std::vector<std::int64_t> tids) {
    const Diagnosis diagnosis = diagnose(trace);
    ASSERT_EQ(diagnosis.findings.size(), 1U) << diagnosis.reason;
    const auto& finding = diagnosis.findings[0];
    EXPECT_EQ(finding_name(finding.type), finding_name(type)) << finding.explanation;
    std::vector<std::int64_t> accused;
    for (const auto& thread : finding.threads) accused.push_back(thread.tid);
    std::sort(accused.begin(), accused.end());
    EXPECT_EQ(accused, tids) << finding.explanation;
    const bool stall = type == FindingType::kStall || type == FindingType::kLostWakeup;
    EXPECT_EQ(diagnosis.verdict, stall ? Verdict::kStall : Verdict::kDeadlock);
    EXPECT_EQ(finding.verdict, diagnosis.verdict);
    EXPECT_EQ(diagnosis.reason, "");
  }

  void expect_none(const HungTrace& trace, const std::string& reason = "") {
    const Diagnosis diagnosis = diagnose(trace);
    EXPECT_EQ(diagnosis.verdict, Verdict::kNone);
    for (const auto& finding : diagnosis.findings) ADD_FAILURE() << finding.explanation;
    EXPECT_NE(diagnosis.reason.find(reason), std::string::npos) << diagnosis.reason;
  }

  static HungTrace abba() {
    return {.threads = {elsewhere(100, "main", "poll"), mutex_waiter(101, "left", kB, 102),
                        mutex_waiter(102, "right", kA, 101)}};
  }

  TemporaryFolder folder_;
  int count_ = 0;
};

TEST_F(DeadlockTest, TwoMutexesInACircle) {
  const Diagnosis diagnosis = diagnose(abba());
  ASSERT_EQ(diagnosis.findings.size(), 1U);
  const auto& finding = diagnosis.findings[0];
  EXPECT_EQ(finding.type, FindingType::kCycle);
  EXPECT_EQ(finding.waited_ns, 10'000'000'000);
  EXPECT_EQ(finding.explanation,
            "2 threads wait for each other, in a circle: thread 101 `left` waits for the mutex 0x555500002000 in work, "
            "held by thread 102 `right`; thread 102 `right` waits for the mutex 0x555500001000 in work, held by thread "
            "101 `left`.");
  ASSERT_EQ(finding.threads.size(), 2U);
  const auto& left = finding.threads[0];
  EXPECT_EQ(left.pid, 100);
  EXPECT_EQ(left.tid, 101);
  EXPECT_EQ(left.name, "left");
  EXPECT_EQ(left.process, "app");
  EXPECT_EQ(left.call, "futex");
  EXPECT_EQ(left.primitive, Primitive::kMutex);
  EXPECT_EQ(left.api, "pthread_mutex_lock");
  EXPECT_EQ(left.address, kB);
  EXPECT_EQ(left.held_by, std::vector<std::int64_t>{102});
  ASSERT_EQ(left.stack.size(), 4U);
  EXPECT_EQ(left.stack[2].function, "work");
  EXPECT_EQ(diagnosis.blocked.size(), 2U);
}

TEST_F(DeadlockTest, AThreadThatMayGoOnIsInNoCircle) {
  expect(abba(), FindingType::kCycle, {101, 102});
  const auto change = [&](auto edit) {
    HungTrace trace = abba();
    edit(trace.threads[2]);
    return trace;
  };
  expect_none(change([](MadeThread& t) { t.asleep = 0; }),
              "main` waits in poll, thread 102 `right` may just have been");
  expect_none(change([](MadeThread& t) { t.asleep.reset(); }));
  expect_none(change([](MadeThread& t) { t.timeout_ns = 5; }), "thread 102 `right` waits with a timeout");
  expect_none(change([](MadeThread& t) { t.call = "write"; }), "thread 102 `right` waits in write");
  expect_none(change([](MadeThread& t) { t.call = ""; }), "thread 102 `right` runs");
  expect_none(change([](MadeThread& t) { t.futexes = 2; }));
  expect_none(change([](MadeThread& t) { t.words = mutex_words(100); }), "main` waits in poll");
  expect_none(change([](MadeThread& t) { t.words = mutex_words(0); }));
  expect_none(change([](MadeThread& t) { t.words.clear(); }));
  expect_none(change([](MadeThread& t) { t.fresh = false; }));
  expect_none(change([](MadeThread& t) { t.abi = "i386"; }));
  expect_none(change([](MadeThread& t) { t.stack = under("my_lock", "work"); }));
  expect_none(change([](MadeThread& t) { t.words[16] = 0x5000; }));  // no kind of mutex
}

TEST_F(DeadlockTest, ThreeInACircleAndOneBehindIt) {
  HungTrace trace{.threads = {mutex_waiter(101, "a", kB, 102), mutex_waiter(102, "b", kC, 103),
                              mutex_waiter(103, "c", kA, 101), mutex_waiter(104, "behind", kA, 101),
                              joiner(100, "main", 104)}};
  expect(trace, FindingType::kCycle, {101, 102, 103});
  EXPECT_EQ(diagnose(trace).blocked.size(), 5U);
}

TEST_F(DeadlockTest, AttachedThreadsWaitAtLeastSoLong) {
  HungTrace trace = abba();
  for (MadeThread& thread : trace.threads) thread.how = "attached";
  expect(trace, FindingType::kCycle, {101, 102});
  EXPECT_TRUE(diagnose(trace).findings[0].threads[0].at_least);
  EXPECT_FALSE(diagnose(abba()).findings[0].threads[0].at_least);
}

TEST_F(DeadlockTest, JoinsCloseACircle) {
  expect({.threads = {elsewhere(100, "main", "pause"), joiner(101, "a", 102), joiner(102, "b", 101)}},
         FindingType::kCycle, {101, 102});
  expect({.threads = {joiner(100, "main", 101), mutex_waiter(101, "worker", kA, 100)}}, FindingType::kCycle,
         {100, 101});
  expect_none({.threads = {joiner(100, "main", 101), mutex_waiter(101, "worker", kA, 102), running(102, "busy")}});
}

TEST_F(DeadlockTest, ALockOfItsOwn) {
  HungTrace trace{.threads = {elsewhere(100, "main", "poll"), mutex_waiter(101, "again", kA, 101)}};
  expect(trace, FindingType::kSelfDeadlock, {101});
  EXPECT_EQ(diagnose(trace).findings[0].threads[0].held_by, std::vector<std::int64_t>{101});
  trace.threads[1].words = mutex_words(100);
  expect_none(trace);
}

TEST_F(DeadlockTest, ASignalHandlerIsTold) {
  MadeThread thread = mutex_waiter(100, "main", kA, 100);
  thread.stack = {{"__lll_lock_wait"}, {"pthread_mutex_lock"}, {"on_alarm", "app"}, {"__restore_rt"}, {"work", "app"}};
  const Diagnosis diagnosis = diagnose({.threads = {thread}});
  ASSERT_EQ(diagnosis.findings.size(), 1U);
  EXPECT_EQ(diagnosis.findings[0].type, FindingType::kSelfDeadlock);
  EXPECT_NE(diagnosis.findings[0].explanation.find("a signal handler asks for"), std::string::npos);
}

TEST_F(DeadlockTest, AnOwnerThatHasEnded) {
  HungTrace trace{.threads = {elsewhere(100, "main", "poll"), mutex_waiter(101, "worker", kA, 105)}};
  expect(trace, FindingType::kOwnerGone, {101});
  HungTrace there = trace;
  there.threads.push_back(running(105, "owner"));
  expect_none(there);
  there.threads.back().ended = 20;
  expect(there, FindingType::kOwnerGone, {101});
  HungTrace lossy = trace;
  lossy.more_sql = "INSERT INTO loss VALUES(1, 2, 'task_map_full', NULL, 1);";
  expect_none(lossy);
}

// PR 42031: the listener has timeout_mutex and waits for an idle worker; workers need the mutex to become idle.
class ListenerTest : public DeadlockTest {
 protected:
  static HungTrace listener() {
    return {.threads = {elsewhere(100, "main", "read"), cond_waiter(101, "listener", kC),
                        mutex_waiter(102, "worker", kA, 101), mutex_waiter(103, "worker", kA, 101)},
            .wakes = {{.tid = 102, .address = kC}, {.tid = 103, .address = kC + 4}}};
  }
};

TEST_F(ListenerTest, AllThatWokeItWaitForIt) {
  expect(listener(), FindingType::kCycle, {101, 102, 103});
  const Diagnosis diagnosis = diagnose(listener());
  const auto& threads = diagnosis.findings[0].threads;
  EXPECT_EQ(threads[0].tid, 101);
  EXPECT_EQ(threads[0].primitive, Primitive::kConditionVariable);
  EXPECT_EQ(threads[0].held_by, (std::vector<std::int64_t>{102, 103}));
  EXPECT_EQ(threads[1].held_by, std::vector<std::int64_t>{101});
}

TEST_F(ListenerTest, OneThatMayWakeItIsEnough) {
  const auto change = [&](auto edit) {
    HungTrace trace = listener();
    edit(trace);
    return trace;
  };
  expect_none(change([](HungTrace& t) { t.threads[3] = elsewhere(103, "worker", "read"); }));
  expect_none(change([](HungTrace& t) { t.wakes.push_back({.tid = 100, .address = kC}); }));
  expect_none(change([](HungTrace& t) { t.threads[3].words = mutex_words(100); }));
  expect_none(change([](HungTrace& t) { t.wakes.clear(); }));
  expect_none(change([](HungTrace& t) { t.threads[3].ended = 20; }));  // who comes and goes will come again
  expect_none(change([](HungTrace& t) { t.threads[3] = joiner(103, "worker", 101); }));
  expect_none(change([](HungTrace& t) { t.threads[1].waited = 0.5; }));
  expect_none(change([](HungTrace& t) { t.more_sql = "INSERT INTO loss VALUES(1, 2, 'ring_full_event', NULL, 1);"; }));
  expect_none(change([](HungTrace& t) { t.processes[0].io_uring = true; }));
  // Wakes of another process at the same address are no wakes of this one.
  expect_none(change([](HungTrace& t) {
    t.processes.push_back({.pid = 200});
    t.threads.push_back(elsewhere(200, "other", "read"));
    t.threads.back().process = 2;
    for (MadeWake& wake : t.wakes) wake.tid = 200;
  }));
}

TEST_F(ListenerTest, WithoutHistoryAllThatCouldMustWaitForIt) {
  HungTrace trace = listener();
  trace.wakes.clear();
  trace.threads[0] = joiner(100, "main", 102);
  expect(trace, FindingType::kCycle, {101, 102, 103});
  trace.threads[0] = elsewhere(100, "main", "sigwait");
  expect_none(trace, "main` waits in sigwait");
}

TEST_F(DeadlockTest, AWakeUpThatIsLost) {
  HungTrace trace{.threads = {joiner(100, "main", 101), cond_waiter(101, "waiter", kC)}};
  expect(trace, FindingType::kLostWakeup, {101});
  EXPECT_TRUE(diagnose(trace).findings[0].threads[0].held_by.empty());
  HungTrace other = trace;
  other.threads.push_back(elsewhere(102, "timer", "clock_nanosleep"));
  expect_none(other, "timer` waits in clock_nanosleep");
  other.threads.back().ended = 12;
  other.wakes = {{.tid = 102, .address = kC}};
  expect(other, FindingType::kLostWakeup, {101});
  EXPECT_NE(diagnose(other).findings[0].explanation.find("Woken before by threads that have ended"), std::string::npos);
  other = trace;
  other.threads[1].timeout_ns = 1000;
  expect_none(other);
}

TEST_F(DeadlockTest, SemaphoresHaveNoOwner) {
  HungTrace trace{.threads = {sem_waiter(100, "main", kA), sem_waiter(101, "worker", kB)}};
  expect(trace, FindingType::kStall, {100, 101});
  EXPECT_TRUE(diagnose(trace).findings[0].threads[0].held_by.empty());
  trace.threads.push_back(elsewhere(102, "io", "epoll_wait"));
  expect_none(trace);
  expect({.threads = {sem_waiter(100, "main", kA)}}, FindingType::kLostWakeup, {100});
}

TEST_F(DeadlockTest, WhoWaitsForAFormerWakerIsNotAccused) {
  HungTrace trace{.threads = {sem_waiter(100, "main", kA), cond_waiter(101, "pool", kC), cond_waiter(102, "pool", kC)},
                  .wakes = {{.tid = 100, .address = kC}}};
  expect(trace, FindingType::kLostWakeup, {100});
  trace.wakes.clear();
  expect(trace, FindingType::kStall, {100, 101, 102});
}

TEST_F(DeadlockTest, WhoWasLetGoByAnotherOnesDeathIsAsItWasBefore) {
  HungTrace trace{.threads = {mutex_waiter(100, "main", kA, 101), joiner(101, "other", 100)},
                  .processes = {MadeProcess{.ended = 20}}};
  for (MadeThread& thread : trace.threads) {
    thread.how = "killed";
    thread.ended = 20;
  }
  expect(trace, FindingType::kCycle, {100, 101});
  trace.threads[1].took = 10;
  expect(trace, FindingType::kCycle, {100, 101});
  trace.threads[1].waited = trace.threads[1].took = 0.5;
  expect_none(trace);
  trace.threads[1].waited = trace.threads[1].took = 10;
  trace.wakes = {{.tid = 100, .address = trace.threads[1].address, .at = 15}};
  expect_none(trace);
  trace.wakes.clear();
  trace.threads[1].took = 9.9;  // the join had ended before anybody was killed
  expect_none(trace);
  trace.threads.push_back(mutex_waiter(102, "gone by an exec", kB, 101));
  trace.threads.back().how = "killed";
  trace.threads.back().ended = 15;
  expect_none(trace);
}

TEST_F(DeadlockTest, AStrippedProgramsWaitsAreToldByTheirWords) {
  MadeThread main = joiner(100, "main", 101);
  main.stack = {{"libc.so.6+0x85e50"}, {"libc.so.6+0x8abb0"}, {"app+0x1960", "app"},
                {"libc.so.6+0x271d0"}, {"__libc_start_main"}, {"app+0x1250", "app"}};
  const auto primitive = [&] { return diagnose({.threads = {main, running(101, "other")}}).blocked.at(0).primitive; };
  EXPECT_EQ(primitive(), Primitive::kJoin);
  main.stack[1] = {"fflush"};  // a lock of libc's own
  EXPECT_EQ(primitive(), Primitive::kFutex);
}

TEST_F(DeadlockTest, GoIsOnlyNamed) {
  MadeThread thread = sem_waiter(100, "main", kA);
  thread.stack = {{"runtime.futex.abi0", "app"}, {"runtime.futexsleep", "app"}, {"runtime.mPark", "app"}};
  expect_none({.threads = {thread}});
  EXPECT_EQ(diagnose({.threads = {thread}}).blocked[0].primitive, Primitive::kGo);
}

TEST_F(DeadlockTest, ATraceWithoutFutexCallsIsAnError) {
  HungTrace trace = abba();
  trace.meta["calls"] = "read,write";
  write_hung(folder_ / "x.db", trace);
  const auto diagnosis = analyzer::diagnose(open_store(folder_ / "x.db"));
  ASSERT_FALSE(diagnosis);
  EXPECT_NE(diagnosis.error().what.find("has no futex calls: it was recorded with -e read,write"), std::string::npos);
  trace.meta["calls"] = "read,futex";
  EXPECT_EQ(diagnose(trace).warnings.size(), 1U);
  expect(trace, FindingType::kCycle, {101, 102});
}

}  // namespace
}  // namespace uscope::test
