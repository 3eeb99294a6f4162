// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a wait is for and who owns it: the structures of glibc 2.36 and musl 1.2.3 word by word, and stacks as Debian's
// libraries give them, with and without their debug information.
#include "analyzer/deadlock/lock_owner.h"

#include "tests/unit/analyzer/hung_store.h"

namespace uscope::test {
namespace {

using analyzer::FutexWait;
using analyzer::Primitive;
using analyzer::StackLines;

constexpr std::uint64_t kAddress = 0x7f0000001040;

FutexWait wait_of(std::uint32_t op, std::uint32_t expected, const MadeWords& words) {
  FutexWait wait;
  wait.address = kAddress;
  wait.op = op;
  wait.expected = expected;
  wait.words.assign(96, '\0');
  wait.words_from = kAddress - 48;
  for (const auto& [offset, value] : words)
    for (int i = 0; i < 4; i++)
      wait.words.at(static_cast<std::size_t>(48 + offset + i)) = static_cast<char>(value >> (8 * i) & 0xff);
  return wait;
}

StackLines stack_of(const std::vector<MadeFrame>& frames) {
  StackLines lines;
  for (const MadeFrame& frame : frames) lines.push_back({frame.function, frame.module, frame.module == "app", "", 0});
  return lines;
}

Primitive primitive_of(const FutexWait& wait, const std::vector<MadeFrame>& frames) {
  return classify(wait, stack_of(frames)).primitive;
}

std::uint32_t owner(const FutexWait& wait, const std::vector<MadeFrame>& frames) {
  return owner_of(wait, classify(wait, stack_of(frames))).value_or(0);
}

const std::vector<MadeFrame> kNameless{{"libc.so.6+0x86120"}, {"libc.so.6+0x8bd60"}, {"work", "app"}, {"main", "app"}};

TEST(Primitives, AreToldByTheFunctionThatWaits) {
  const FutexWait wait = wait_of(393, 0, {});
  const auto of = [&](const std::vector<MadeFrame>& frames) { return primitive_of(wait, frames); };
  EXPECT_EQ(of({{"__futex_abstimed_wait_common64"}, {"__pthread_cond_wait_common"}, {"work", "app"}}),
            Primitive::kConditionVariable);
  EXPECT_EQ(of({{"libc.so.6+0x85e50"}, {"pthread_cond_wait"}, {"work", "app"}}), Primitive::kConditionVariable);
  EXPECT_EQ(of({{"libc.so.6+0x85e50"}, {"pthread_rwlock_rdlock"}, {"work", "app"}}), Primitive::kRwlock);
  EXPECT_EQ(of({{"__new_sem_wait_slow64.constprop.0"}, {"work", "app"}}), Primitive::kSemaphore);
  EXPECT_EQ(of({{"futex_wait"}, {"pthread_barrier_wait"}, {"work", "app"}}), Primitive::kBarrier);
  EXPECT_EQ(of({{"__pthread_clockjoin_ex"}, {"work", "app"}}), Primitive::kJoin);
  EXPECT_EQ(of({{"__pthread_once_slow"}, {"work", "app"}}), Primitive::kOnce);
  EXPECT_EQ(of({{"syscall"}, {"std::sys::unix::locks::futex::Mutex::lock_contended", "app"}, {"work", "app"}}),
            Primitive::kRustMutex);
  EXPECT_EQ(of({{"syscall"}, {"std::sys::unix::locks::futex_rwlock::RwLock::write_contended", "app"}}),
            Primitive::kRustRwlock);
  EXPECT_EQ(of({{"syscall"}, {"std::sys::unix::locks::futex::Condvar::wait", "app"}}), Primitive::kRustCondvar);
  EXPECT_EQ(of({{"syscall"}, {"std::thread::park", "app"}}), Primitive::kPark);
  EXPECT_EQ(of({{"runtime.futex.abi0", "app"}, {"runtime.futexsleep", "app"}}), Primitive::kGo);
  EXPECT_EQ(of({{"pthread_cond_wait"}, {"Parker::park(bool, long)", "libjvm.so"}, {"Unsafe_Park", "libjvm.so"}}),
            Primitive::kPark);
  EXPECT_EQ(of({{"syscall"}, {"work", "app"}}), Primitive::kFutex);
  EXPECT_EQ(of({}), Primitive::kFutex);
}

// A program's own lock with a field where pthread_mutex_t has the owner.
TEST(Primitives, AFunctionOfTheProgramsOwnIsNotLibcs) {
  const FutexWait wait = wait_of(128, 2, mutex_words(77, 1));
  const MadeFrame start{"start_thread"};
  const auto expect_own = [&](const std::vector<MadeFrame>& frames) {
    EXPECT_EQ(primitive_of(wait, frames), Primitive::kFutex) << frames[0].function;
    EXPECT_EQ(owner(wait, frames), 0U) << frames[0].function;
  };
  for (const char* name : {"mtx_lock", "pthread_mutex_lock_or_die", "sem_take", "call_once"}) {
    expect_own({{"syscall"}, {name, "app"}, {"work", "app"}, start});
    expect_own({{name, "app"}, {"work", "app"}, start});
  }
  expect_own({{"syscall"}, {"mtx_lock", "libown.so"}, {"work", "app"}, start});
  expect_own({{"app+0x1960", "app"}, {"app+0x1a20", "app"}, start});  // stripped: its own system call
  // libc is linked into the program: a reserved name is libc's, one of C11's need not be.
  const MadeFrame own_start{"start_thread", "app"};
  EXPECT_EQ(owner(wait, {{"__lll_lock_wait", "app"}, {"__pthread_mutex_lock", "app"}, {"work", "app"}, own_start}),
            77U);
  expect_own({{"__lll_lock_wait", "app"}, {"__pthread_mutex_lock", "libown.so"}, {"work", "app"}, own_start});
  expect_own({{"syscall", "app"}, {"mtx_lock", "app"}, {"work", "app"}, own_start});
  EXPECT_EQ(owner(wait, {{"__lll_lock_wait"}, {"mtx_lock"}, {"work", "app"}, start}), 77U);
}

TEST(Primitives, TheApplicationsFunctionIsNotItsLanguagesOwn) {
  const auto of = [](const std::vector<MadeFrame>& frames) {
    const StackLines lines = stack_of(frames);
    const auto* line = application_frame(lines);
    return line ? line->function : "";
  };
  EXPECT_EQ(of({{"syscall"}, {"std::sys::unix::futex::futex_wait", "app"}, {"locks::takes", "app"}}), "locks::takes");
  EXPECT_EQ(of({{"pthread_mutex_lock", "app"}, {"work", "app"}}), "work");  // libc within
  for (const char* wrapper :
       {"__gthread_mutex_lock", "__gthread_mutex_lock(pthread_mutex_t*)", "std::mutex::lock()",
        "std::unique_lock<std::mutex>::unique_lock(std::mutex&)",
        "void std::call_once<(anonymous namespace)::late()>()",
        "std::enable_if<true, void>::type std::lock<ours::mutex>(ours::mutex&)", "<std::sync::Mutex<T>>::lock",
        "boost::mutex::lock()", "lock_api::mutex::Mutex<R,T>::lock", "__pthread_mutex_lock"})
    EXPECT_EQ(of({{"pthread_mutex_lock"}, {wrapper, "app"}, {"work", "app"}}), "work") << wrapper;
  for (const char* own :
       {"(anonymous namespace)::ant()", "std::vector<int, std::allocator<int> > ours::find(std::mutex&)",
        "ours::queue<std::mutex>::take()", "<ours::Guard as core::ops::drop::Drop>::drop", "stdlike::lock()",
        "ours::name::operator<(ours::name const&)", "py::take:/srv/std::x.py"})
    EXPECT_EQ(of({{"pthread_mutex_lock"}, {"std::mutex::lock()", "app"}, {own, "app"}, {"main", "app"}}), own);
  EXPECT_EQ(of({{"runtime.futex", "app"}, {"runtime.mPark", "app"}}), "runtime.futex");
  EXPECT_EQ(of({{"syscall"}, {"work", "libother.so"}}), "syscall");
  EXPECT_EQ(of({}), "");
}

TEST(Primitives, ALockWithinAFunctionOfLibcIsNotWhatCalledThat) {
  const FutexWait wait = wait_of(128, 2, {{0, 2}});
  EXPECT_EQ(primitive_of(wait, {{"__lll_lock_wait_private"}, {"malloc"}, {"init", "app"}, {"pthread_once"}}),
            Primitive::kLibcLock);
  EXPECT_EQ(primitive_of(wait, {{"__lll_lock_wait_private"}, {"fputc"}, {"work", "app"}}), Primitive::kStream);
}

TEST(Primitives, AConditionVariablesWaiterTakesItsMutexAgain) {
  const std::vector<MadeFrame> frames{{"__lll_lock_wait"}, {"pthread_cond_wait"}, {"work", "app"}};
  EXPECT_EQ(primitive_of(wait_of(128, 2, mutex_words(7)), frames), Primitive::kMutex);
  EXPECT_EQ(owner(wait_of(128, 2, mutex_words(7)), frames), 7U);
  EXPECT_EQ(primitive_of(wait_of(393, 0, cond_words()), frames), Primitive::kConditionVariable);
}

// pthread_mutex_lock of a robust mutex, pthread_join, sem_wait and pthread_once end by a jump to a function that has no
// exported name.
TEST(Primitives, AreToldByTheWordsWhereNoFunctionIsThere) {
  EXPECT_EQ(primitive_of(wait_of(0, 0x80000007, {{0, 0x80000007}, {8, 7}, {12, 1}, {16, 0x90}}), kNameless),
            Primitive::kMutex);
  EXPECT_EQ(primitive_of(wait_of(0, 0x80000007, {{0, 0x80000007}, {8, 8}, {12, 1}, {16, 0x90}}), kNameless),
            Primitive::kFutex);
  EXPECT_EQ(primitive_of(wait_of(265, 7, {{0, 7}}), kNameless), Primitive::kJoin);
  EXPECT_EQ(primitive_of(wait_of(393, 7, {{0, 7}}), kNameless), Primitive::kFutex);
  EXPECT_EQ(primitive_of(wait_of(393, 0, {{0, 0}, {4, 1}, {8, 0}}), kNameless), Primitive::kSemaphore);
  EXPECT_EQ(primitive_of(wait_of(393, 0, {{0, 0}, {4, 0}, {8, 0}}), kNameless), Primitive::kFutex);
  EXPECT_EQ(primitive_of(wait_of(128, 1, {{0, 1}}), kNameless), Primitive::kOnce);
  EXPECT_EQ(primitive_of(wait_of(128, 2, {{0, 2}}), kNameless), Primitive::kFutex);
  EXPECT_EQ(primitive_of(wait_of(134, 0, pi_words(7)), kNameless), Primitive::kMutex);
}

TEST(Owners, OfGlibcsMutexes) {
  const auto frames = under("pthread_mutex_lock", "work");
  EXPECT_EQ(owner(wait_of(128, 2, mutex_words(7)), frames), 7U);
  EXPECT_EQ(owner(wait_of(128, 2, mutex_words(7, 0x83)), frames), 7U);
  EXPECT_EQ(owner(wait_of(128, 2, {{0, 0}, {8, 7}, {12, 1}}), frames), 0U);               // free
  EXPECT_EQ(owner(wait_of(128, 2, {{0, 2}, {8, 7}, {12, 0}}), frames), 0U);               // no user
  EXPECT_EQ(owner(wait_of(128, 2, {{0, 2}, {8, 7}, {12, 1}, {16, 0x400}}), frames), 0U);  // no kind
  EXPECT_EQ(owner(wait_of(134, 0, pi_words(7)), kNameless), 7U);
  EXPECT_EQ(owner(wait_of(0, 0x80000007, {{0, 0x80000007}, {8, 7}, {12, 1}, {16, 0x90}}), kNameless), 7U);
  FutexWait cut = wait_of(128, 2, mutex_words(7));
  cut.words.resize(50);  // the rest could not be read
  EXPECT_EQ(owner(cut, frames), 0U);
}

TEST(Owners, OfAReadWriteLockIsItsWriter) {
  const auto reads = under("pthread_rwlock_rdlock", "work");
  const auto writes = under("pthread_rwlock_wrlock", "work");
  // A reader waits at 8 for a writer to be done: readers at -8, cur_writer at 16.
  EXPECT_EQ(owner(wait_of(393, 3, {{-8, 11}, {0, 3}, {4, 3}, {16, 7}}), reads), 7U);
  EXPECT_EQ(owner(wait_of(393, 3, {{-8, 10}, {0, 3}, {4, 3}, {16, 7}}), reads), 0U);  // no write phase
  EXPECT_EQ(owner(wait_of(393, 3, {{-8, 11}, {0, 3}, {4, 3}, {16, 0}}), reads), 0U);
  // A writer waits at 12 for another one: readers at -12, cur_writer at 12.
  EXPECT_EQ(owner(wait_of(393, 3, {{-12, 3}, {-4, 3}, {0, 3}, {12, 7}}), writes), 7U);
  // ... or at 8 for the readers to be gone: nobody knows them.
  EXPECT_EQ(owner(wait_of(393, 2, {{-8, 10}, {0, 2}, {4, 1}, {16, 0}}), writes), 0U);
  const auto base = [&](std::uint32_t expected, const std::vector<MadeFrame>& frames) {
    const FutexWait wait = wait_of(393, expected, {});
    return kAddress - lock_address(wait, classify(wait, stack_of(frames)));
  };
  EXPECT_EQ(base(3, reads), 8U);
  EXPECT_EQ(base(10, reads), 0U);
  EXPECT_EQ(base(3, writes), 12U);
  EXPECT_EQ(base(2, writes), 8U);
}

TEST(Owners, OfMuslsMutexesAreKnownButForTheNormalType) {
  const std::vector<MadeFrame> frames{
      {"__timedwait", "ld-musl-x86_64.so.1"}, {"pthread_mutex_timedlock", "ld-musl-x86_64.so.1"}, {"work", "app"}};
  EXPECT_EQ(owner(wait_of(128, 0x80000007, {{-4, 1}, {0, 0x80000007}}), frames), 7U);
  EXPECT_EQ(owner(wait_of(128, 0x80000010, {{-4, 0}, {0, 0x80000010}}), frames), 0U);
  EXPECT_EQ(owner(wait_of(128, 0x80000007, {{-4, 0x100}, {0, 0x80000007}}), frames), 0U);
}

TEST(Owners, OfAJoinIsTheThreadAsLongAsItLives) {
  const auto frames = under("pthread_join", "work");
  EXPECT_EQ(owner(wait_of(265, 7, {{0, 7}}), frames), 7U);
  EXPECT_EQ(owner(wait_of(265, 7, {{0, 0}}), frames), 0U);
  const std::vector<MadeFrame> musl{{"__timedwait_cp", "ld-musl-x86_64.so.1"}, {"pthread_join", "ld-musl-x86_64.so.1"}};
  EXPECT_EQ(owner(wait_of(0, 2, {{-8, 9}, {0, 2}}), musl), 9U);
}

TEST(Owners, AreNotLookedForInLocksOfOthers) {
  const std::vector<MadeFrame> rust{{"syscall"}, {"std::sys::unix::locks::futex::Mutex::lock_contended", "app"}};
  EXPECT_EQ(owner(wait_of(128, 2, mutex_words(7)), rust), 0U);
  EXPECT_EQ(owner(wait_of(128, 2, mutex_words(7)), under("sem_wait", "work")), 0U);
}

}  // namespace
}  // namespace uscope::test
