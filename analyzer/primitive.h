// What kind of thing a thread waits for on a futex, told by the functions on its stack and, where libc left by a tail
// call so that its function is not there, by the words around the address.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/futex_wait.h"

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
};

// Whose structures the words are: they decide what a word means.
enum class Library { kGlibc, kMusl, kOther };

struct Classified {
  Primitive primitive = Primitive::kFutex;
  Library library = Library::kOther;
  bool by_name = false;  // a function says so; else the words alone
  std::string api;       // the function called, without leading underscores: "pthread_mutex_lock"; empty: not known
};

// "mutex", "condition_variable": as docs/json/deadlock.schema.json has them.
[[nodiscard]] std::string_view primitive_name(Primitive primitive);
// "a mutex", "a condition variable".
[[nodiscard]] std::string_view primitive_phrase(Primitive primitive);

[[nodiscard]] Classified classify(const FutexWait& wait, const StackLines& stack);

// Where glibc waits under this stack: frames up to the first one that is another's than libc's, and of those only what
// may stand between a primitive and the kernel.
[[nodiscard]] bool is_libc(std::string_view module);

}  // namespace uscope::analyzer
