// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The kind of object that a thread waits for on a futex, derived from the functions on its stack. If libc used a tail
// call, its function is not on the stack; then the words around the address decide.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/deadlock/futex_wait.h"

namespace uscope::analyzer {

enum class Primitive {
  kFutex,  // kind unknown
  kMutex,
  kRwlock,
  kConditionVariable,
  kSemaphore,
  kBarrier,
  kJoin,
  kOnce,
  kPark,
  kRustMutex,
  kRustRwlock,
  kRustCondvar,
  kGo,
  kVfork,        // no futex: a parent whose vfork child uses its memory
  kMonitor,      // of a Java object
  kLibcLock,     // one that libc has of its own
  kStream,       // of a FILE, or of libc's list of them
  kInterpreter,  // the lock of an interpreter: Python's GIL, Ruby's GVL
  kOpenmp,       // other threads of libgomp
  kAtomic,       // C++'s std::atomic::wait
  kSpinLock,     // that sleeps between its tries
};

// The library that defines the structure, and so the meaning of its words.
enum class Library { kGlibc, kMusl, kOther };

struct Classified {
  Primitive primitive = Primitive::kFutex;
  Library library = Library::kOther;
  bool by_name = false;  // a function shows the kind; if false, only the words do
  bool is_lock = false;  // a semaphore that serves as a lock (Python's): only Python's own code posts it
  std::string api;       // the function called, without leading underscores: "pthread_mutex_lock"; empty: unknown
  // Of libc's own locks: the word's ELF address in libc's module; 0: it is at no fixed place, or not known.
  std::uint64_t word = 0;
  std::string module;      // of the word: its base name
  std::string part;        // of libc's own locks: "malloc", "time zone"; empty: unknown
  bool at_parker = false;  // the futex is the thread's own, not part of what it waits for (parking_lot)
  bool idle = false;       // a thread of a pool, which waits for work
  bool leaves = false;  // at a condition variable, until its waiters have left: to destroy it, or to wake a new group
};

// "mutex", "condition_variable": as in docs/json/deadlock.schema.json.
[[nodiscard]] std::string_view primitive_name(Primitive primitive);
// "a mutex", "a condition variable".
[[nodiscard]] std::string_view primitive_phrase(Primitive primitive);

// Whether the thread goes on trying until it has it, though each try has a time limit: the GIL, spin locks.
[[nodiscard]] bool tries_again(const Classified& what);

// The name without leading underscores, and without the mark of libc's own aliases.
[[nodiscard]] std::string_view without_underscores(std::string_view name);

// Whether the function is libc's: it lies in a module of libc, or in a program that libc is linked into and has the
// name of a function that takes one of libc's locks (library_locks.h).
[[nodiscard]] bool is_libcs(const StackLines& stack, const StackLine& line);

[[nodiscard]] Classified classify(const FutexWait& wait, const StackLines& stack);

// The innermost frame of the application that is not part of a language's library or runtime (programs may link these
// statically). Without one: the innermost frame of the application's binaries, then the innermost of all; null if there
// is no stack.
[[nodiscard]] const StackLine* application_frame(const StackLines& stack);
// The names of that frame and of the application's functions that called it, innermost first: at most 8, without main
// and those that have no name.
[[nodiscard]] std::vector<std::string> application_chain(const StackLines& stack);

}  // namespace uscope::analyzer
