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
  kVfork,    // no futex: a parent whose vfork child uses its memory
  kMonitor,  // of a Java object
};

// The library that defines the structure, and so the meaning of its words.
enum class Library { kGlibc, kMusl, kOther };

struct Classified {
  Primitive primitive = Primitive::kFutex;
  Library library = Library::kOther;
  bool by_name = false;  // a function shows the kind; if false, only the words do
  bool is_lock = false;  // a semaphore that serves as a lock (Python's): only Python's own code posts it
  std::string api;       // the function called, without leading underscores: "pthread_mutex_lock"; empty: unknown
};

// "mutex", "condition_variable": as in docs/json/deadlock.schema.json.
[[nodiscard]] std::string_view primitive_name(Primitive primitive);
// "a mutex", "a condition variable".
[[nodiscard]] std::string_view primitive_phrase(Primitive primitive);

[[nodiscard]] Classified classify(const FutexWait& wait, const StackLines& stack);

// The innermost frame of the application that is not part of a language's library or runtime (programs may link these
// statically). Without one: the innermost frame of the application's binaries, then the innermost of all; null if there
// is no stack.
[[nodiscard]] const StackLine* application_frame(const StackLines& stack);
// The names of that frame and of the application's functions that called it, innermost first: at most 8, without main and
// those that have no name.
[[nodiscard]] std::vector<std::string> application_chain(const StackLines& stack);

}  // namespace uscope::analyzer
