// What kind of thing a thread waits for on a futex, told by the functions on its stack and, where libc left by a tail
// call so that its function is not there, by the words around the address.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/deadlock/futex_wait.h"

namespace uscope::analyzer {

enum class Primitive {
  kFutex,  // nothing tells
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
  kVfork,  // no futex: a parent whose child of vfork has its memory
};

// Whose structures the words are: they decide what a word means.
enum class Library { kGlibc, kMusl, kOther };

struct Classified {
  Primitive primitive = Primitive::kFutex;
  Library library = Library::kOther;
  bool by_name = false;  // a function says so; else the words alone
  bool is_lock = false;  // a semaphore that serves as a lock (Python's): no signal handler posts it
  std::string api;       // the function called, without leading underscores: "pthread_mutex_lock"; empty: not known
};

// "mutex", "condition_variable": as docs/json/deadlock.schema.json has them.
[[nodiscard]] std::string_view primitive_name(Primitive primitive);
// "a mutex", "a condition variable".
[[nodiscard]] std::string_view primitive_phrase(Primitive primitive);

[[nodiscard]] Classified classify(const FutexWait& wait, const StackLines& stack);

// The innermost frame of the application that is not of a language's own library or runtime, which programs may have
// within; else the innermost of its binaries; else of all; null where there is no stack.
[[nodiscard]] const StackLine* application_frame(const StackLines& stack);

// Whether a module, by its base name, is a C library or its loader.
[[nodiscard]] bool is_libc(std::string_view module);

}  // namespace uscope::analyzer
