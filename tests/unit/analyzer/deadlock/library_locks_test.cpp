// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Locks of libc's own, and others of libraries and run-time systems: what they are, and who has them by stacks.
#include "analyzer/deadlock/library_locks.h"

#include "analyzer/deadlock/lock_owner.h"
#include "tests/unit/analyzer/deadlock/call_waits_test.h"

namespace uscope::test {
namespace {

using analyzer::FutexWait;
using analyzer::StackLines;

constexpr std::uint64_t kCondition = 0x7f0000001000;

FutexWait wait_at(std::uint64_t address, std::uint32_t op = 128, std::uint32_t expected = 2) {
  FutexWait wait;
  wait.address = address;
  wait.op = op;
  wait.expected = expected;
  return wait;
}

analyzer::Classified known(const std::vector<MadeFrame>& frames, const FutexWait& wait = wait_at(kA)) {
  StackLines lines;
  for (const MadeFrame& frame : frames)
    lines.push_back({frame.function, frame.module, frame.module == "app", "", 0, frame.locks});
  return classify(wait, lines);
}

std::vector<MadeFrame> joined(std::vector<MadeFrame> inner, const std::vector<MadeFrame>& outer) {
  inner.insert(inner.end(), outer.begin(), outer.end());
  return inner;
}

std::vector<MadeFrame> lll(const std::vector<MadeFrame>& outer) {
  return joined({{"futex_wait"}, {"__lll_lock_wait_private"}}, outer);
}

TEST(LibraryLocks, OfLibcAreKnownByTheFunctionThatWaits) {
  const auto part = [](const std::vector<MadeFrame>& frames) { return known(lll(frames)).part; };
  EXPECT_EQ(part({{"__tz_convert"}, {"stamp", "app"}}), "time zone");
  EXPECT_EQ(part({{"__malloc_fork_lock_parent"}, {"fork"}, {"work", "app"}}), "malloc");
  EXPECT_EQ(part({{"libc.so.6+0x96120"}, {"malloc"}, {"work", "app"}}), "malloc");
  EXPECT_EQ(part({{"__run_exit_handlers"}, {"exit"}, {"work", "app"}}), "exit");
  EXPECT_EQ(part({{"__vsyslog_internal"}, {"syslog"}, {"work", "app"}}), "syslog");
  EXPECT_EQ(part({{"__res_iclose"}, {"getaddrinfo"}, {"work", "app"}}), "names of users and hosts");
  EXPECT_EQ(part({{"libc.so.6+0x96120"}, {"work", "app"}, {"malloc"}}), "");  // the application's own has called it
  EXPECT_EQ(part({{"_IO_flush_all_lockp"}, {"fflush"}, {"work", "app"}}), "streams");
  EXPECT_EQ(known(lll({{"_IO_getline"}, {"fgets"}, {"work", "app"}})).primitive, Primitive::kStream);
  EXPECT_EQ(known(lll({{"random"}, {"work", "app"}})).primitive, Primitive::kLibcLock);
  // A program that libc is linked into.
  const std::vector<MadeFrame> linked{{"__tz_convert", "app"}, {"main", "app"}, {"__libc_start_main", "app"}};
  EXPECT_EQ(known(joined({{"__lll_lock_wait_private", "app"}}, linked)).part, "time zone");
  // A mutex is waited for by another function of libc's.
  EXPECT_EQ(known({{"futex_wait"}, {"__lll_lock_wait"}, {"pthread_mutex_lock"}, {"work", "app"}}).primitive,
            Primitive::kMutex);
}

TEST(LibraryLocks, OfRustAreKnownByOldAndNewNames) {
  const auto primitive = [](const std::string& function) {
    return known({{"syscall"}, {"<std::sys::pal::unix::futex::futex_wait>", "app"}, {function, "app"}, {"work", "app"}})
        .primitive;
  };
  EXPECT_EQ(primitive("<std::sys::sync::mutex::futex::Mutex>::lock_contended"), Primitive::kRustMutex);
  EXPECT_EQ(primitive("std::sys::sync::mutex::futex::Mutex::lock_contended"), Primitive::kRustMutex);
  EXPECT_EQ(primitive("<std::sys::sync::rwlock::futex::RwLock>::read_contended"), Primitive::kRustRwlock);
  EXPECT_EQ(primitive("<std::sys::sync::rwlock::futex::RwLock>::write_contended"), Primitive::kRustRwlock);
  EXPECT_EQ(primitive("<std::sys::sync::condvar::futex::Condvar>::wait"), Primitive::kRustCondvar);
  EXPECT_EQ(primitive("<std::sys::sync::once::futex::Once>::call"), Primitive::kOnce);
  EXPECT_EQ(primitive("<std::sys::sync::thread_parking::futex::Parker>::park"), Primitive::kPark);
  EXPECT_EQ(primitive("<app::Mutex>::take"), Primitive::kFutex);
  const auto writes = known({{"syscall"}, {"<std::sys::sync::rwlock::futex::RwLock>::write_contended", "app"}});
  EXPECT_EQ(lock_address(wait_at(kA + 4), writes), kA);
}

// The futex is the thread's own, so it is not the lock's address.
TEST(LibraryLocks, OfParkingLotSleepAtTheThreadsOwnWord) {
  const std::vector<MadeFrame> core{{"syscall"},
                                    {"<parking_lot_core::thread_parker::imp::ThreadParker>::futex_wait", "app"},
                                    {"parking_lot_core::parking_lot::park::{{closure}}", "app"},
                                    {"parking_lot_core::parking_lot::with_thread_data", "app"}};
  const auto what = known(joined(core, {{"<parking_lot::raw_mutex::RawMutex>::lock_slow", "app"}, {"work", "app"}}));
  EXPECT_EQ(what.primitive, Primitive::kRustMutex);
  EXPECT_EQ(lock_address(wait_at(kA), what), 0U);
  const auto shared = joined(core, {{"parking_lot::raw_rwlock::RawRwLock::lock_shared_slow", "app"}});
  EXPECT_EQ(known(shared).primitive, Primitive::kRustRwlock);
  EXPECT_EQ(known(joined(core, {{"parking_lot::condvar::Condvar::wait_until_internal", "app"}})).primitive,
            Primitive::kRustCondvar);
}

TEST(LibraryLocks, OfRunTimeSystemsHaveTheirNames) {
  const std::vector<MadeFrame> atomic{{"syscall"},
                                      {"void std::__detail::__platform_wait<int>(int const*, int)", "app"},
                                      {"std::atomic<int>::wait(int, std::memory_order) const", "app"},
                                      {"work", "app"}};
  EXPECT_EQ(known(atomic).primitive, Primitive::kAtomic);
  const std::vector<MadeFrame> pool{{"libgomp.so.1+0x1e4d0", "libgomp.so.1"}, {"start_thread"}, {"clone3"}};
  EXPECT_EQ(known(pool).primitive, Primitive::kOpenmp);
  EXPECT_TRUE(known(pool).idle);
  const std::vector<MadeFrame> team{
      {"libgomp.so.1+0x1e4d0", "libgomp.so.1"}, {"GOMP_parallel", "libgomp.so.1"}, {"work", "app"}};
  EXPECT_FALSE(known(team).idle);
  EXPECT_EQ(known(team).api, "GOMP_parallel");
  const std::vector<MadeFrame> gil{
      {"__futex_abstimed_wait_common64"}, {"pthread_cond_timedwait"}, {"take_gil", "python3.11"}};
  EXPECT_EQ(known(gil, wait_at(kA, 137, 0)).primitive, Primitive::kInterpreter);
  const std::vector<MadeFrame> shared{
      {"__new_sem_wait_slow64.constprop.0"},
      {"_multiprocessing.cpython-311-x86_64-linux-gnu.so+0x2190", "_multiprocessing.cpython-311-x86_64-linux-gnu.so"}};
  EXPECT_TRUE(known(shared).is_lock);
}

// Whichever of its words a thread waits at, it is one object.
TEST(LibraryLocks, AConditionVariableIsOneObject) {
  const auto object = [](int offset, const std::string& function, std::uint32_t op, std::uint32_t expected) {
    const FutexWait wait = wait_at(kCondition + static_cast<std::uint64_t>(offset), op, expected);
    return lock_address(wait, known({{"futex_wait"}, {function}, {"work", "app"}}, wait));
  };
  EXPECT_EQ(object(40, "pthread_cond_wait", 393, 0), kCondition);
  EXPECT_EQ(object(44, "pthread_cond_wait", 393, 0), kCondition);
  EXPECT_EQ(object(44, "pthread_cond_timedwait", 137, 0), kCondition);
  EXPECT_EQ(object(36, "pthread_cond_destroy", 128, 12), kCondition);
  EXPECT_EQ(object(16, "pthread_cond_broadcast", 128, 3), kCondition);
  EXPECT_EQ(object(20, "pthread_cond_signal", 128, 5), kCondition);
  EXPECT_EQ(object(32, "pthread_cond_signal", 128, 6), kCondition);
  const auto what =
      known({{"futex_wait"}, {"pthread_cond_destroy"}, {"work", "app"}}, wait_at(kCondition + 36, 128, 12));
  EXPECT_EQ(what.primitive, Primitive::kConditionVariable);
  EXPECT_TRUE(what.leaves);
  // The relock at the end of a wait is for the mutex.
  EXPECT_EQ(known({{"__lll_lock_wait"}, {"pthread_cond_wait"}, {"work", "app"}}).primitive, Primitive::kMutex);
}

class OwnLocksTest : public CallWaits {
 protected:
  static MadeThread in_handler(const std::vector<MadeFrame>& interrupted) {
    const std::vector<MadeFrame> handler{{"__tz_convert"}, {"stamp", "app"}, {"on_term", "app"}, {"__restore_rt"}};
    return {.tid = 100, .name = "main", .stack = joined(lll(handler), interrupted), .address = kA, .handlers = 1};
  }
  static std::vector<MadeFrame> within_tz() {
    return {{"__tzfile_compute"}, {"__tz_convert"}, {"stamp", "app"}, {"main", "app"}};
  }
};

TEST_F(OwnLocksTest, AHandlerThatInterruptedTheHolderIsTheCause) {
  const Diagnosis diagnosis = diagnose({.threads = {in_handler(within_tz())}});
  ASSERT_EQ(diagnosis.findings.size(), 1U) << diagnosis.reason;
  EXPECT_EQ(diagnosis.verdict, Verdict::kDeadlock);
  EXPECT_EQ(
      diagnosis.findings[0].explanation,
      "thread 100 `main` waits for the lock 0x555500001000 inside libc (time zone) in stamp, which it holds itself: a "
      "signal handler asks for what the code that it interrupted has.");
  // Whatever other threads wait in, and however free they are.
  expect({.threads = {in_handler(within_tz()), elsewhere(101, "worker", "pause")}}, FindingType::kSelfDeadlock, {100});
  expect({.threads = {in_handler(within_tz()), running(101, "busy")}}, FindingType::kSelfDeadlock, {100});
  HungTrace brief{.threads = {in_handler(within_tz()), running(101, "busy")}};
  brief.threads[0].waited = 0.1;
  expect(brief, FindingType::kSelfDeadlock, {100}, true);
}

TEST_F(OwnLocksTest, AHandlerThatInterruptedSomethingElseIsNot) {
  MadeThread poller = elsewhere(101, "poller", "poll");
  // No function of libc's was interrupted, or one of another part, or libc had called the application back.
  expect_none({.threads = {in_handler({{"work", "app"}, {"main", "app"}}), poller}});
  expect_none({.threads = {in_handler({{"_int_malloc"}, {"malloc"}, {"main", "app"}}), poller}});
  expect_none({.threads = {in_handler({{"compare", "app"}, {"qsort"}, {"__tz_convert"}, {"main", "app"}}), poller}});
  // Another thread is inside the same part, too: it may have the lock.
  poller.stack = {{"__poll"}, {"__tz_convert"}, {"stamp", "app"}, {"main", "app"}};
  Diagnosis diagnosis = diagnose({.threads = {in_handler(within_tz()), poller}});
  EXPECT_EQ(diagnosis.verdict, Verdict::kUndecided);
  EXPECT_EQ(
      diagnosis.reason,
      "thread 100 `main` has waited for a lock inside libc (time zone) for 10 s, and by their stacks each of these "
      "may have it: thread 101 `poller`, the thread itself");
  HungTrace brief{.threads = {in_handler(within_tz()), poller}};
  brief.threads[0].waited = 0.5;
  expect_none(brief);
}

// As libc has them without debug information: words at fixed places in its file, 0x…000 of kA.
constexpr std::uint64_t kZoneLock = 0x1da000;
const MadeFrame kConverts{"libc.so.6+0xc5320", "libc.so.6", {0x1d4a10, kZoneLock}};
const MadeFrame kSets{"tzset", "libc.so.6", {kZoneLock}};
const MadeFrame kOther{"libc.so.6+0xc4780", "libc.so.6", {0x1d9000}};  // a lock at the same place of another page

TEST_F(OwnLocksTest, ALockAtAFixedPlaceIsKnownWithoutNames) {
  const auto what = known(lll({kConverts, {"stamp", "app"}}));
  EXPECT_EQ(what.word, kZoneLock);
  EXPECT_EQ(what.part, "");
  EXPECT_EQ(known(lll({kConverts, {"mktime"}, {"stamp", "app"}})).part, "time zone");
  // Where not even the function that waits has a name: glibc's word is 2, musl's is negative.
  const std::vector<MadeFrame> nameless{{"libc.so.6+0x860b0"}, kConverts, {"stamp", "app"}};
  EXPECT_EQ(known(nameless).primitive, Primitive::kLibcLock);
  EXPECT_EQ(known(nameless, wait_at(kA, 128, 1)).primitive, Primitive::kFutex);
  EXPECT_EQ(known(nameless, wait_at(kA + 4)).primitive, Primitive::kFutex);
  const std::vector<MadeFrame> musl{{"ld-musl-x86_64.so.1+0x5f0c0", "ld-musl-x86_64.so.1"},
                                    {"ld-musl-x86_64.so.1+0x2b000", "ld-musl-x86_64.so.1", {0xa8000}},
                                    {"work", "app"}};
  EXPECT_EQ(known(musl, wait_at(kA, 128, 0x80000002)).primitive, Primitive::kLibcLock);
  EXPECT_EQ(known(musl, wait_at(kA, 128, 2)).primitive, Primitive::kFutex);
  // Two words may be meant.
  EXPECT_EQ(known(lll({{"random", "libc.so.6", {0x1d5000, 0x1d6000}}, {"work", "app"}})).word, 0U);
}

TEST_F(OwnLocksTest, AHandlerThatInterruptedWhoTakesTheSameWordIsTheCause) {
  const auto handler = [](const MadeFrame& waits, const std::vector<MadeFrame>& interrupted) {
    MadeThread thread{.tid = 100, .name = "main", .address = kA, .handlers = 1};
    thread.stack = joined(lll({waits, {"on_term", "app"}, {"__restore_rt"}}), interrupted);
    return thread;
  };
  const std::vector<MadeFrame> within{{"libc.so.6+0xc6370"}, kConverts, {"stamp", "app"}, {"main", "app"}};
  MadeThread pauses = elsewhere(101, "worker", "pause");
  expect({.threads = {handler(kConverts, within), pauses}}, FindingType::kSelfDeadlock, {100});
  expect({.threads = {handler(kSets, within), pauses}}, FindingType::kSelfDeadlock, {100});
  // The interrupted code takes another lock, of another page or of another part by name.
  expect_none({.threads = {handler(kSets, {kOther, {"stamp", "app"}, {"main", "app"}}), pauses}});
  expect_none({.threads = {handler(kSets, {{"mktime"}, {"stamp", "app"}, {"main", "app"}}), pauses}});
  // The interrupted code waited for the lock, too: a thread that is gone may have it (fork).
  expect_none({.threads = {handler(kConverts, joined({{"__lll_lock_wait_private"}}, within)), pauses}});
  // A handler within a handler.
  std::vector<MadeFrame> nested{{"on_alarm", "app"}, {"__restore_rt"}};
  expect({.threads = {handler(kSets, joined(nested, within)), pauses}}, FindingType::kSelfDeadlock, {100});
  // Another thread takes the same word: one of them has it.
  pauses.stack = {{"open64"}, kConverts, {"stamp", "app"}, {"main", "app"}};
  EXPECT_EQ(diagnose({.threads = {handler(kSets, within), pauses}}).verdict, Verdict::kUndecided);
  // That thread alone.
  const Diagnosis other = diagnose({.threads = {handler(kSets, {{"work", "app"}, {"main", "app"}}), pauses}});
  ASSERT_EQ(other.blocked.size(), 1U);
  EXPECT_EQ(other.blocked[0].held_by, std::vector<std::int64_t>{101});
}

TEST_F(OwnLocksTest, TheLockOfAStreamMayBeTakenAgain) {
  MadeThread flushes{.tid = 100,
                     .name = "main",
                     .stack = lll({{"libc.so.6+0x838b0"}, {"on_term", "app"}, {"__restore_rt"}, {"fputc"}}),
                     .address = kA,
                     .words = {{0, 2}, {4, 1}, {8, 0xf7d80740}, {12, 0x7fff}},
                     .handlers = 1};
  Diagnosis diagnosis = diagnose({.threads = {flushes, elsewhere(101, "worker", "pause")}});
  ASSERT_EQ(diagnosis.blocked.size(), 1U);
  EXPECT_EQ(diagnosis.blocked[0].primitive, Primitive::kStream);
  EXPECT_TRUE(diagnosis.findings.empty());
  // Who took it has not noted itself as the owner: it was interrupted before.
  flushes.words = {{0, 2}};
  flushes.stack = lll({{"fflush"}, {"on_term", "app"}, {"__restore_rt"}, {"fputc"}, {"main", "app"}});
  expect({.threads = {flushes, elsewhere(101, "worker", "pause")}}, FindingType::kSelfDeadlock, {100});
}

TEST_F(OwnLocksTest, ForkWaitsForAnArena) {
  MadeThread forks{.tid = 100, .name = "main", .address = kA, .handlers = 1};
  forks.stack = joined(lll({{"libc.so.6+0x98790"}, {"fork"}, {"on_term", "app"}, {"__restore_rt"}}),
                       {{"libc.so.6+0x96120"}, {"free"}, {"work", "app"}, {"main", "app"}});
  expect({.threads = {forks, elsewhere(101, "worker", "pause")}}, FindingType::kSelfDeadlock, {100});
  forks.stack[2].locks = {kZoneLock};  // a lock at a fixed place is none of an arena
  expect_none({.threads = {forks, elsewhere(101, "worker", "pause")}});
}

TEST_F(OwnLocksTest, AMutexThatTheInterruptedCodeHas) {
  const std::vector<MadeFrame> stack{{"__lll_lock_wait"}, {"pthread_mutex_lock"}, {"note", "app"},
                                     {"on_term", "app"},  {"__restore_rt"},       {"work", "app"}};
  MadeThread thread = mutex_waiter(100, "main", kA, 100);
  expect_none({.threads = {thread, elsewhere(101, "worker", "poll")}});  // it may be a gate
  thread.stack = stack;
  expect({.threads = {thread, elsewhere(101, "worker", "poll")}}, FindingType::kSelfDeadlock, {100});
  // It was about to note, or had cleared, who has it.
  thread.words = mutex_words(0);
  expect_none({.threads = {thread, elsewhere(101, "worker", "poll")}});
  thread.stack.insert(thread.stack.begin() + 5, {"pthread_mutex_unlock"});
  expect({.threads = {thread, elsewhere(101, "worker", "poll")}}, FindingType::kSelfDeadlock, {100});
}

TEST_F(OwnLocksTest, AnotherThreadInTheSamePartHasIt) {
  MadeThread exits{.tid = 100,
                   .name = "main",
                   .stack = lll({{"_IO_flush_all_lockp"}, {"fflush"}, {"shut_down", "app"}}),
                   .address = kA};
  MadeThread reader = elsewhere(101, "reader", "read");
  reader.stack = {{"read"}, {"_IO_new_file_underflow"}, {"fgets"}, {"console", "app"}};
  const Diagnosis diagnosis = diagnose({.threads = {exits, reader}});
  EXPECT_EQ(diagnosis.verdict, Verdict::kNone);
  ASSERT_EQ(diagnosis.blocked.size(), 1U);
  EXPECT_EQ(diagnosis.blocked[0].held_by, std::vector<std::int64_t>{101});
  EXPECT_EQ(diagnosis.blocked[0].primitive, Primitive::kStream);
}

// Threads of a pool wait for the one that has work for them.
TEST_F(OwnLocksTest, IdleThreadsOfAPoolAreNotAccused) {
  const MadeThread idle{
      .tid = 101, .name = "pool", .stack = {{"libgomp.so.1+0x1e4d0", "libgomp.so.1"}, {"start_thread"}}, .address = kB};
  MadeThread waits = sem_waiter(100, "main", kA);
  expect({.threads = {waits, idle}}, FindingType::kLostWakeup, {100});
}

// The first thread has the GIL and waits for a mutex, whose owner tries to get the GIL.
HungTrace gil_and_mutex() {
  MadeThread tries{.tid = 101, .name = "visitor", .how = "attached", .address = kC, .op = 137, .expected = 0};
  tries.stack = {
      {"pthread_cond_timedwait"}, {"python3.11+0x6475d0", "python3.11"}, {"PyEval_RestoreThread", "python3.11"}};
  tries.timeout_ns = 5'000'000;
  return {.threads = {mutex_waiter(100, "main", kA, 101), tries}};
}
MadeLook gil_of(int tid) {
  MadeLook look;
  look.in_call(1, "futex", kA).in_call(2, "futex", kC, 137, "1", "asleep", 0);
  return look.monitor(2, "lock", 0x3000, tid, "Python''s GIL");
}

TEST_F(OwnLocksTest, TheGilIsALockThatAThreadTriesToTakeAgainAndAgain) {
  expect_finding(gil_and_mutex(), gil_of(100), Verdict::kDeadlock, FindingType::kCycle, {100, 101},
                 {"thread 101 `visitor` waits for Python's GIL", "held by thread 100 `main`"});
}

TEST_F(OwnLocksTest, AThreadThatMayGetTheGilGoesOn) {
  // Another thread has it, which goes on; or it is not known who has.
  HungTrace trace = gil_and_mutex();
  trace.threads.push_back(elsewhere(102, "busy", "poll"));
  expect_no_finding(trace, gil_of(102), "thread 102");
  expect_no_finding(gil_and_mutex(), MadeLook().in_call(1, "futex", kA).in_call(2, "futex", kC, 137, "1", "asleep", 0));
  // No function of Python's waits.
  trace = gil_and_mutex();
  trace.threads[1].stack = under("pthread_cond_timedwait", "work");
  expect_no_finding(trace, gil_of(100));
  // It has waited for a moment only.
  trace = gil_and_mutex();
  trace.threads[1].how = "open";
  trace.threads[1].waited = 0.01;
  trace.more_sql =
      "INSERT INTO kind VALUES(901, 'write', 'syscall', 'x86_64', 990);"
      "INSERT INTO event(ts_ns, dur_ns, how, thread_id, kind_id, result, a0, a1, a2, a3, a4, a5) "
      "SELECT (SELECT max(ts_ns) FROM event) - 1000000, 1000, 'returned', 2, 901, 1, 1, 0, 0, 0, 0, 0;";
  expect_no_finding(trace, gil_of(100));
}

TEST_F(OwnLocksTest, AThreadThatSleepsInASpinLockWaits) {
  MadeThread spins = elsewhere(101, "spinner", "nanosleep");
  spins.stack = {{"nanosleep"}, {"AbslInternalSpinLockDelay_lts_20220623", "libabsl_base.so"}, {"work", "app"}};
  MadeLook look;
  look.in_call(1, "futex", kA).in_call(2, "nanosleep", 0, 0, "1");
  expect_finding({.threads = {mutex_waiter(100, "main", kA, 101), spins}}, look, Verdict::kStall, FindingType::kStall,
                 {101}, {"spin lock"});
  spins.stack = under("nanosleep", "work");
  expect_no_finding({.threads = {mutex_waiter(100, "main", kA, 101), spins}}, look, "nanosleep");
}

// What the look knows of a stream is more than what stacks say.
TEST_F(OwnLocksTest, AStreamHasItsName) {
  MadeThread exits{.tid = 100,
                   .name = "main",
                   .stack = lll({{"_IO_flush_all_lockp"}, {"fflush"}, {"shut_down", "app"}}),
                   .address = kA};
  MadeLook look;
  look.in_call(1, "futex", kA).in_call(2, "futex", kB).monitor(1, "lock", 0x1000, 101, "the lock of stdin");
  expect_finding({.threads = {exits, mutex_waiter(101, "reader", kB, 100)}}, look, Verdict::kDeadlock,
                 FindingType::kCycle, {100, 101},
                 {"thread 100 `main` waits for the lock of stdin in shut_down, held by thread 101 `reader`"});
}

TEST_F(OwnLocksTest, JavasLocksHaveTheirClass) {
  MadeThread parks = cond_waiter(100, "one", kC);
  parks.stack = {{"pthread_cond_wait"}, {"Parker::park(bool, long)", "libjvm.so"}, {"Unsafe_Park", "libjvm.so"}};
  MadeThread other = parks;
  other.tid = 101;
  other.name = "two";
  other.address = kC + 0x1000;
  MadeLook look;
  look.in_call(1, "futex", kC).in_call(2, "futex", kC + 0x1000);
  look.monitor(1, "park", 4096, 101, "java.util.ReentrantLock")
      .monitor(2, "park", 8192, 100, "java.util.ReentrantLock");
  expect_finding(
      {.threads = {parks, other}}, look, Verdict::kDeadlock, FindingType::kCycle, {100, 101},
      {"thread 100 `one` waits to be unparked, for a java.util.ReentrantLock at 0x1000", "held by thread 101 `two`"});
  // Nobody has it alone.
  MadeThread vm = parks;
  vm.tid = 102;
  vm.name = "VM Thread";
  vm.timeout_ns = 1'000'000'000;
  MadeLook shared;
  shared.in_call(2, "futex", kC).monitor(2, "park", 4096, 0, "java.util.ReentrantReadWriteLock");
  const Diagnosis diagnosis = look_at({.threads = {vm, parks}}, shared);
  ASSERT_EQ(diagnosis.blocked.size(), 2U);
  EXPECT_EQ(diagnosis.blocked[0].tid, 100);  // the program's threads before the virtual machine's
  EXPECT_EQ(diagnosis.blocked[0].lock, "being unparked, for a java.util.ReentrantReadWriteLock at 0x1000");
  EXPECT_EQ(diagnosis.reason.find("VM Thread"), std::string::npos) << diagnosis.reason;
}

}  // namespace
}  // namespace uscope::test
