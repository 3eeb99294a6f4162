// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A stack is read from the system call outwards. Frames of libc without a name, and functions that only lead to the
// call, are skipped; the first function with another name decides. So a lock taken inside malloc or a callback of
// pthread_once is not mistaken for the primitive further out. The caller of the deciding function can refine the
// result: a condition variable below Parker::park is a park.
#include "analyzer/deadlock/primitive.h"

#include <algorithm>
#include <array>
#include <utility>

#include "analyzer/deadlock/glibc_mutex.h"
#include "analyzer/deadlock/library_locks.h"
#include "trace/runtime_modules.h"

namespace uscope::analyzer {
namespace {

constexpr std::size_t kDeepest = 24;  // frames between the call and the deciding function

struct Name {
  std::string_view prefix;  // of the function without leading underscores
  Primitive primitive;
  bool reserved = true;  // no program may use it for a function of its own: not so for the names of C11's threads.h
};

constexpr std::string_view kGuard = "cxa_guard_acquire";  // of C++'s library, not of libc

// Exported functions, and internal ones of glibc and musl. A longer prefix comes before a shorter one.
constexpr std::array kByPrefix{
    Name{"pthread_mutex_cond_lock", Primitive::kMutex},
    Name{"pthread_mutex_lock", Primitive::kMutex},
    Name{"pthread_mutex_timedlock", Primitive::kMutex},
    Name{"pthread_mutex_clocklock", Primitive::kMutex},
    Name{"mtx_lock", Primitive::kMutex, false},
    Name{"mtx_timedlock", Primitive::kMutex, false},
    Name{"pthread_rwlock_", Primitive::kRwlock},
    Name{"pthread_cond_", Primitive::kConditionVariable},
    Name{"private_cond_wait", Primitive::kConditionVariable},
    Name{"cnd_wait", Primitive::kConditionVariable, false},
    Name{"cnd_timedwait", Primitive::kConditionVariable, false},
    Name{"sem_", Primitive::kSemaphore},
    Name{"new_sem_", Primitive::kSemaphore},
    Name{"pthread_barrier_wait", Primitive::kBarrier},
    Name{"pthread_join", Primitive::kJoin},
    Name{"pthread_clockjoin", Primitive::kJoin},
    Name{"pthread_timedjoin", Primitive::kJoin},
    Name{"thrd_join", Primitive::kJoin, false},
    Name{"pthread_once", Primitive::kOnce},
    Name{"call_once", Primitive::kOnce, false},
    Name{kGuard, Primitive::kOnce},
};

// Functions of interpreters, in whatever module.
constexpr std::array kInterpreters{
    Name{"take_gil", Primitive::kInterpreter},
    Name{"gvl_acquire", Primitive::kInterpreter},
    Name{"thread_sched_acquire", Primitive::kInterpreter},
    Name{"thread_sched_to_running", Primitive::kInterpreter},
};

// Parts of demangled names, without the brackets of Rust's v0 names: Rust's standard library
// (std::sys::unix::locks::futex::Mutex::lock_contended, <std::sys::sync::mutex::futex::Mutex>::lock_contended …),
// parking_lot, C++'s library, Python, Ruby, locks that spin, Go's runtime, the Java VM.
constexpr std::array kByPart{
    Name{"RawMutex::lock_slow", Primitive::kRustMutex},
    Name{"RawRwLock::lock_", Primitive::kRustRwlock},
    Name{"RawRwLock::upgrade_", Primitive::kRustRwlock},
    Name{"RawRwLock::wait_for_readers", Primitive::kRustRwlock},
    Name{"Condvar::wait_until_internal", Primitive::kRustCondvar},
    Name{"Once::call_once_slow", Primitive::kOnce},
    Name{"RwLock::read_contended", Primitive::kRustRwlock},
    Name{"RwLock::write_contended", Primitive::kRustRwlock},
    Name{"Mutex::lock_contended", Primitive::kRustMutex},
    Name{"Condvar::wait", Primitive::kRustCondvar},
    Name{"Parker::park", Primitive::kPark},
    Name{"thread::park", Primitive::kPark},
    Name{"PlatformEvent::park", Primitive::kPark},
    Name{"once::futex::Once", Primitive::kOnce},
    Name{"std::__detail::__platform_wait", Primitive::kAtomic},
    Name{"std::__atomic_wait_address", Primitive::kAtomic},
    Name{"std::__atomic_impl::wait", Primitive::kAtomic},
    Name{"std::__1::__libcpp_atomic_wait", Primitive::kAtomic},
    Name{"std::__1::__cxx_atomic_wait", Primitive::kAtomic},
    Name{"SpinLockDelay", Primitive::kSpinLock},
    Name{"SpinLock::SlowLock", Primitive::kSpinLock},
    Name{"perform_spin_delay", Primitive::kSpinLock},
    Name{"runtime.futexsleep", Primitive::kGo},
    Name{"runtime.futex", Primitive::kGo},
};

// Functions between a primitive and the kernel.
constexpr std::array<std::string_view, 5> kLeading{"futex", "lll_", "do_futex_wait", "timedwait", "internal_syscall"};

// "libc.so.6+0x86120": a function without a name.
bool is_nameless(const StackLine& line) {
  return line.function.empty() || line.function.starts_with(line.module + "+0x");
}

bool only_leads(std::string_view function) {
  if (function == "syscall" || function == "wait" || function.find("futex_wait") != std::string_view::npos) return true;
  return std::any_of(kLeading.begin(), kLeading.end(),
                     [&](std::string_view prefix) { return function.starts_with(prefix); });
}

const Name* by_prefix(std::string_view function) {
  const std::string_view bare = without_underscores(function);
  for (const Name& name : kByPrefix)
    if (bare.starts_with(name.prefix)) return &name;
  return nullptr;
}

const Name* by_part(std::string_view function) {
  std::string plain;
  if (function.starts_with('<')) {  // "<std::sys::sync::mutex::futex::Mutex>::lock_contended"
    plain = function;
    std::erase_if(plain, [](char c) { return c == '<' || c == '>'; });
    function = plain;
  }
  for (const Name& name : kByPart)
    if (function.find(name.prefix) != std::string_view::npos) return &name;
  return nullptr;
}

// "pthread_cond_wait" of "___pthread_cond_wait@@GLIBC_2.3.2" or "__new_sem_wait_slow64.constprop.0".
std::string api_of(std::string_view function) {
  const std::string_view bare = without_underscores(function);
  return std::string(bare.substr(0, bare.find_first_of(".@")));
}

bool has_libc(const StackLines& stack) {
  return std::any_of(stack.begin(), stack.end(), [](const StackLine& line) { return trace::is_runtime(line.module); });
}

// Whether libc is linked into this module: the stack begins in libc's functions there, and in no module of libc.
bool contains_libc(const StackLines& stack, std::string_view module) {
  constexpr std::array<std::string_view, 6> kFirst{
      "libc_start_main", "libc_start_call_main", "libc_start_main_stage2", "start_thread", "clone3", "clone"};
  const auto is_first = [&](const StackLine& line) {
    const std::string api = api_of(line.function);
    return line.module == module && std::find(kFirst.begin(), kFirst.end(), api) != kFirst.end();
  };
  return !has_libc(stack) && std::any_of(stack.begin(), stack.end(), is_first);
}

// The name of a function that is surely libc's, or of a language's library. A program may have a mtx_lock() of its own,
// or a sem_take(), whose locks are no pthread_mutex_t.
const Name* library_name(const StackLines& stack, const StackLine& line) {
  const Name* name = by_prefix(line.function);
  if (!name) return by_part(line.function);
  if (trace::is_runtime(line.module) || name->prefix == kGuard) return name;
  return name->reserved && contains_libc(stack, line.module) ? name : nullptr;
}

bool is_musl(const StackLines& stack) {
  return std::any_of(stack.begin(), stack.end(), [](const StackLine& line) {
    return line.module.starts_with("ld-musl") || line.module.starts_with("libc.musl") || line.module == "libc.so" ||
           line.function == "__timedwait" || line.function == "__timedwait_cp" || line.function == "__wait";
  });
}

// The relock at the end of pthread_cond_wait waits for the mutex: it uses FUTEX_WAIT, condition variables use
// FUTEX_WAIT_BITSET. (musl uses FUTEX_WAIT for both, and relocks in a function of its own.)
bool relocks(const FutexWait& wait, const Classified& found) {
  if (found.primitive != Primitive::kConditionVariable || found.library != Library::kGlibc) return false;
  return !found.leaves && wait.command() != kFutexWaitBitset;
}

// Those that only wake, and who destroys it, have no mutex.
bool awaits_waiters(const Classified& found) {
  constexpr std::array<std::string_view, 3> kOthers{"destroy", "signal", "broadcast"};
  return found.primitive == Primitive::kConditionVariable &&
         std::any_of(kOthers.begin(), kOthers.end(),
                     [&](std::string_view part) { return found.api.find(part) != std::string::npos; });
}

// For a robust mutex, glibc's pthread_mutex_lock continues in a function without an exported name. The words show it:
// the tid with the waiters' bit in the lock word, the same tid in the owner's field, and a robust kind.
bool is_robust_mutex(const FutexWait& wait) {
  const auto mutex = glibc_mutex_at(wait);
  return wait.command() == kFutexWait && mutex && (wait.expected & kFutexWaiters) != 0 && mutex->owner != 0 &&
         (mutex->lock & kFutexTid) == mutex->owner && mutex->is_robust();
}

// pthread_join waits, with a shared futex, for the thread's tid to become 0.
bool is_join(const FutexWait& wait) {
  return wait.command() == kFutexWaitBitset && (wait.op & kFutexPrivate) == 0 && wait.expected != 0 &&
         wait.word(0) == wait.expected;
}

// sem_t: a value of 0, at least one waiter, and private or not.
bool is_semaphore(const FutexWait& wait) {
  constexpr std::uint32_t kMostWaiters = 1U << 22;
  constexpr std::uint32_t kShared = 128;
  const auto waiters = wait.word(4);
  const auto kind = wait.word(8);
  if (wait.command() != kFutexWaitBitset || wait.expected != 0 || wait.word(0) != 0U || !waiters || !kind) return false;
  return *waiters >= 1 && *waiters < kMostWaiters && (*kind == 0 || *kind == kShared);
}

// pthread_once waits for the state 1, set by another thread together with the number of forks, to become 2.
bool is_once(const FutexWait& wait) {
  constexpr std::uint32_t kStateBits = 3;
  constexpr std::uint32_t kMostForks = 1U << 16;
  return wait.op == (kFutexWait | kFutexPrivate) && (wait.expected & kStateBits) == 1 &&
         wait.expected / (kStateBits + 1) < kMostForks && wait.word(0) == wait.expected;
}

// A pthread_mutex_t of a plain kind, in a program that contains libc and has no names.
bool is_plain_mutex(const FutexWait& wait) {
  constexpr std::uint32_t kMostUsers = 1U << 16;
  constexpr std::uint32_t kKindBits = 0x383;  // normal, recursive, errorcheck, adaptive; shared; elision
  constexpr std::uint32_t kContended = 2;
  const auto mutex = glibc_mutex_at(wait);
  if (wait.command() != kFutexWait || wait.expected != kContended || !mutex || mutex->lock != kContended) return false;
  return mutex->owner != 0 && mutex->owner <= kFutexTid && mutex->users >= 1 && mutex->users < kMostUsers &&
         (mutex->kind & ~kKindBits) == 0;
}

// Used if the libc function that was called is not on the stack (replaced by its tail call), or has no name.
Classified by_words(const FutexWait& wait) {
  Classified found;
  found.library = Library::kGlibc;
  if (is_robust_mutex(wait) || is_plain_mutex(wait)) {
    found.primitive = Primitive::kMutex;
  } else if (is_join(wait)) {
    found.primitive = Primitive::kJoin;
  } else if (is_semaphore(wait)) {
    found.primitive = Primitive::kSemaphore;
  } else if (is_once(wait)) {
    found.primitive = Primitive::kOnce;
  } else {
    found.library = Library::kOther;
  }
  return found;
}

// Python's locks, also those of its multiprocessing, are semaphores that only its own code takes and releases. A
// handler that it has in C only notes the signal.
bool is_python_lock(const Classified& found, const StackLines& stack, std::size_t caller) {
  constexpr std::array<std::string_view, 5> kCallers{"PyThread_acquire_lock", "_PySemaphore_", "_PyParkingLot_Park",
                                                     "_PyMutex_Lock", "_multiprocessing_SemLock_"};
  if (found.primitive != Primitive::kSemaphore || caller >= stack.size()) return false;
  const StackLine& line = stack[caller];
  return line.module.starts_with("_multiprocessing.") ||
         std::any_of(kCallers.begin(), kCallers.end(),
                     [&](std::string_view prefix) { return line.function.starts_with(prefix); });
}

// A condition variable of the interpreter's lock.
bool is_of_interpreter(const StackLine& line) {
  const std::string_view bare = without_underscores(line.function);
  return std::any_of(kInterpreters.begin(), kInterpreters.end(),
                     [&](const Name& name) { return bare.starts_with(name.prefix); });
}

// The call of a function without a name that waits for a lock of libc's own: what follows locks this very word. glibc's
// locks are 2 while threads wait for them; musl's have their highest bit set while they are taken.
bool waits_for_fixed_word(const FutexWait& wait, const StackLines& stack, bool musl) {
  constexpr std::uint32_t kContended = 2;
  constexpr std::uint32_t kTaken = 0x80000000;
  const bool fits = musl ? (wait.expected & kTaken) != 0 : wait.expected == kContended;
  return fits && wait.op == (kFutexWait | kFutexPrivate) && !wait.timed && stack.size() > 1 && is_nameless(stack[0]) &&
         trace::is_runtime(stack[0].module) && fixed_word(wait, stack[1]) != 0;
}

// A lock of libc's own, of which the frames from `at` on know the purpose.
Classified libc_lock(const FutexWait& wait, const StackLines& stack, std::size_t at, Library library) {
  Classified found;
  found.primitive = Primitive::kLibcLock;
  found.library = library;
  found.by_name = true;
  if (at < stack.size()) found.word = fixed_word(wait, stack[at]);
  if (found.word != 0) found.module = stack[at].module;
  for (; at < stack.size() && is_libcs(stack, stack[at]); at++) {
    if (is_nameless(stack[at])) continue;
    if (found.api.empty()) found.api = api_of(stack[at].function);
    found.part = libc_part(without_underscores(stack[at].function));
    if (!found.part.empty()) break;
  }
  // Its waiter may have no name that tells: another function on the stack takes the same lock.
  for (std::size_t i = 0; i < stack.size() && found.part.empty(); i++)
    if (takes_word(stack[i], found)) found.part = libc_part(without_underscores(stack[i].function));
  if (is_owned_by_pointer(wait)) found.part = kStreams;
  // Of the locks that fork() takes, only those of malloc's arenas are at no fixed place.
  if (found.part.empty() && found.word == 0 && found.api == "fork") found.part = libc_part("malloc");
  if (found.part == kStreams) found.primitive = Primitive::kStream;
  return found;
}

// libgomp makes its system calls itself. Of its functions only those that programs call have names everywhere.
std::optional<Classified> of_openmp(const StackLines& stack) {
  constexpr std::string_view kModule = "libgomp.so";
  if (stack.empty() || !stack[0].module.starts_with(kModule)) return std::nullopt;
  Classified found;
  found.primitive = Primitive::kOpenmp;
  found.by_name = true;
  std::size_t at = 0;
  for (; at < stack.size() && stack[at].module.starts_with(kModule); at++)
    if (!is_nameless(stack[at])) found.api = api_of(stack[at].function);
  found.idle = at >= stack.size() || !stack[at].app;
  if (found.idle) found.idle = std::none_of(stack.begin(), stack.end(), [](const StackLine& line) { return line.app; });
  return found;
}

// "std::call_once<…>(…)" of "void std::call_once<…>(…)", and "std::sync::…" of Rust's "<std::sync::… as …>::lock".
std::string_view without_result(std::string_view function) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)";
  constexpr std::string_view kOperator = "operator";
  std::size_t start = 0;
  int depth = 0;
  for (std::size_t at = 0; at < function.size(); at++) {
    const char c = function[at];
    const std::string_view before = function.substr(0, at);
    if (depth == 0 && function.substr(at).starts_with(kAnonymous)) {
      at += kAnonymous.size() - 1;
    } else if (c == '<' && !before.ends_with(kOperator)) {
      depth++;
    } else if (c == '>' && depth > 0) {
      depth--;
    } else if (depth == 0 && (c == '(' || before.ends_with(kOperator))) {
      break;
    } else if (depth == 0 && c == ' ') {
      start = at + 1;
    }
  }
  function.remove_prefix(start);
  function.remove_prefix(std::min(function.find_first_not_of("<&"), function.size()));
  return function;
}

// A function of a language's library, or one that only wraps a lock of libc's: a program may have these linked into it,
// or inlined.
bool is_of_library(std::string_view function) {
  constexpr std::array<std::string_view, 12> kLibraries{
      "std::",       "core::",  "alloc::", "runtime.", "PyThread_",   "__gthread_",
      "__gnu_cxx::", "boost::", "absl::",  "folly::",  "parking_lot", "lock_api::"};
  if (by_prefix(function) || by_part(function) || only_leads(without_underscores(function))) return true;
  const std::string_view name = without_result(function);
  return std::any_of(kLibraries.begin(), kLibraries.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

// Functions of Rust's and C++'s libraries that may stand between a primitive and the call.
bool only_wraps(std::string_view function) {
  const std::string_view name = without_result(function);
  return name.starts_with("std::") || name.starts_with("core::") || name.starts_with("parking_lot_core::") ||
         name.starts_with("lock_api::");
}

Library library_of(Primitive primitive, bool musl) {
  switch (primitive) {
    case Primitive::kAtomic:
    case Primitive::kSpinLock:
    case Primitive::kOpenmp:
    case Primitive::kInterpreter:
    case Primitive::kPark:
    case Primitive::kRustMutex:
    case Primitive::kRustRwlock:
    case Primitive::kRustCondvar:
    case Primitive::kGo:
    case Primitive::kVfork:
    case Primitive::kFutex:
      return Library::kOther;
    default:
      return musl ? Library::kMusl : Library::kGlibc;
  }
}

}  // namespace

std::string_view without_underscores(std::string_view name) {
  constexpr std::string_view kInternal = "GI_";  // glibc's own alias of an exported function
  for (int i = 0; i < 2; i++) {
    name.remove_prefix(std::min(name.find_first_not_of('_'), name.size()));
    if (i == 0 && name.starts_with(kInternal)) name.remove_prefix(kInternal.size());
  }
  return name;
}

bool is_libcs(const StackLines& stack, const StackLine& line) {
  return trace::is_runtime(line.module) ||
         (!libc_part(without_underscores(line.function)).empty() && contains_libc(stack, line.module));
}

bool tries_again(const Classified& what) {
  return what.primitive == Primitive::kInterpreter || what.primitive == Primitive::kSpinLock;
}

std::string_view primitive_name(Primitive primitive) {
  constexpr std::array<std::string_view, 21> kNames{
      "futex",   "mutex",     "rwlock",      "condition_variable", "semaphore",    "barrier", "join",
      "once",    "park",      "rust_mutex",  "rust_rwlock",        "rust_condvar", "go",      "vfork",
      "monitor", "libc_lock", "stream_lock", "interpreter_lock",   "openmp",       "atomic",  "spin_lock"};
  return kNames.at(static_cast<std::size_t>(primitive));
}

std::string_view primitive_phrase(Primitive primitive) {
  constexpr std::array<std::string_view, 21> kPhrases{"a futex",
                                                      "a mutex",
                                                      "a read-write lock",
                                                      "a condition variable",
                                                      "a semaphore",
                                                      "a barrier",
                                                      "a thread's exit (join)",
                                                      "a once-initialiser",
                                                      "being unparked",
                                                      "a Rust mutex",
                                                      "a Rust read-write lock",
                                                      "a Rust condition variable",
                                                      "Go's scheduler",
                                                      "a child of vfork",
                                                      "the monitor of a Java object",
                                                      "a lock inside libc",
                                                      "the lock of a stream",
                                                      "the interpreter's lock",
                                                      "other threads of OpenMP",
                                                      "an atomic variable",
                                                      "a spin lock"};
  return kPhrases.at(static_cast<std::size_t>(primitive));
}

const StackLine* application_frame(const StackLines& stack) {
  const StackLine* found = nullptr;
  for (const StackLine& line : stack) {
    if (!line.app) continue;
    if (!is_of_library(line.function)) return &line;
    if (!found) found = &line;
  }
  if (!found && !stack.empty()) found = &stack.front();
  return found;
}

std::vector<std::string> application_chain(const StackLines& stack) {
  constexpr std::size_t kMost = 8;
  std::vector<std::string> chain;
  const StackLine* first = application_frame(stack);
  for (const StackLine& line : stack) {
    if (&line == first && !line.function.empty()) chain.push_back(line.function);
    const bool is_start = line.function == "main" || line.function == "_start";
    const bool is_named = !is_start && !line.function.empty() && !line.function.starts_with(line.module + "+0x");
    if (chain.empty() || &line == first || !line.app || !is_named || chain.back() == line.function) continue;
    if (chain.size() == kMost) break;
    chain.push_back(line.function);
  }
  return chain;
}

Classified classify(const FutexWait& wait, const StackLines& stack) {
  const bool musl = is_musl(stack);
  if (auto openmp = of_openmp(stack)) return *openmp;
  Classified found;
  std::optional<std::size_t> own_lock;  // of libc: where the function stands that waits for such
  bool parks = false;
  bool nameless = true;  // no function so far has a name that shows its purpose
  bool in_libc = false;  // a frame of libc has been skipped
  if (waits_for_fixed_word(wait, stack, musl)) own_lock = 1;
  std::size_t at = 0;
  for (; at < stack.size() && at < kDeepest; at++) {
    const StackLine& line = stack[at];
    // parking_lot's threads sleep at a word of their own; who calls its core knows for what.
    const bool at_core = without_result(line.function).starts_with("parking_lot_core::");
    parks = parks || at_core;
    if (const Name* name = at_core ? nullptr : library_name(stack, line)) {
      found.primitive = name->primitive;
      found.library = library_of(name->primitive, musl);
      found.by_name = true;
      found.api = api_of(line.function);
      break;
    }
    const bool libc = trace::is_runtime(line.module);
    const bool leads = only_leads(without_underscores(line.function));
    // glibc uses it for locks of its own only.
    if (without_underscores(line.function).starts_with("lll_lock_wait_private")) own_lock = at + 1;
    // The application's own use of futexes: by syscall(2), or in a function of its own.
    if (line.function == "syscall" || (leads && !libc)) nameless = false;
    // A stripped program called libc: frames further out do not concern this wait.
    if (in_libc && !libc && is_nameless(line)) break;
    in_libc = in_libc || libc;
    if (leads || is_nameless(line)) continue;
    if (libc) nameless = false;  // a lock within libc: of malloc, of a stream
    // Functions of Rust's and C++'s libraries, inlined or called, come before the deciding one.
    if (!only_wraps(line.function)) break;
    nameless = false;
  }
  // A call that the application makes itself, though it has libc in a module of its own, is for no lock of libc.
  nameless = nameless && at > 0 && (trace::is_runtime(stack.front().module) || !has_libc(stack));
  if (!found.by_name) {
    const bool pi = wait.command() == kFutexLockPi || wait.command() == kFutexLockPi2;
    // The kernel's own rule: the word holds the owner's tid.
    if (own_lock) {
      found = libc_lock(wait, stack, *own_lock, musl ? Library::kMusl : Library::kGlibc);
    } else if (pi) {
      found.primitive = Primitive::kMutex;
      found.library = musl ? Library::kMusl : Library::kGlibc;
    } else if (nameless && !musl) {
      found = by_words(wait);
    }
    found.is_lock = is_python_lock(found, stack, at);
    return found;
  }
  // In a run of names of the same kind, the application called the outermost one.
  for (at++; at < stack.size() && at < kDeepest; at++) {
    const Name* name = library_name(stack, stack[at]);
    const bool same = name && (name->primitive == found.primitive);
    const bool refined =
        name && found.primitive == Primitive::kConditionVariable && name->primitive == Primitive::kPark;
    if (refined) found.primitive = Primitive::kPark;
    if (same || refined) {
      found.api = api_of(stack[at].function);
      continue;
    }
    if (found.primitive == Primitive::kConditionVariable && stack[at].module.starts_with("libjvm")) continue;
    break;
  }
  found.leaves = awaits_waiters(found);
  if (relocks(wait, found)) found.primitive = Primitive::kMutex;
  if (found.primitive == Primitive::kConditionVariable && at < stack.size() && is_of_interpreter(stack[at]))
    found.primitive = Primitive::kInterpreter;
  found.at_parker = parks;
  found.is_lock = is_python_lock(found, stack, at);
  return found;
}

}  // namespace uscope::analyzer
