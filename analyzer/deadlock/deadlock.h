// Deadlock diagnosis: which threads of a trace will never go on, and why. Built from what the trace has of futex waits
// (last_calls), what they are (primitive), who owns them (lock_owner), who used to wake them (wake_history), and the
// rules of wait_graph. docs/deadlock.md tells the rules and their limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/deadlock/last_calls.h"
#include "analyzer/deadlock/primitive.h"
#include "analyzer/deadlock/wait_graph.h"
#include "store/db/database.h"
#include "support/result.h"

namespace uscope::analyzer {

enum class Verdict { kNone, kStall, kDeadlock };

// A thread that waits for a futex.
struct BlockedThread {
  std::int64_t pid = 0;  // pid and tid of the initial namespace
  std::int64_t tid = 0;
  std::string name;
  std::string process;  // base name of the program; empty: not known
  std::string call;
  Primitive primitive = Primitive::kFutex;
  std::string api;            // the library's function; empty: not known
  std::uint64_t address = 0;  // of the lock, where its layout is known, else of the futex
  std::int64_t waited_ns = 0;
  bool at_least = false;  // it waited before tracing began, too
  Standing standing = Standing::kHeld;
  std::vector<std::int64_t> held_by;  // tids: the owner, the thread that is joined, or in a deadlock those who used to
                                      // wake it
  StackLines stack;
};

struct Finding {
  FindingType type = FindingType::kStall;
  Verdict verdict = Verdict::kStall;
  std::string explanation;  // sentences; names in it may hold any byte
  std::vector<BlockedThread> threads;
  std::int64_t waited_ns = 0;  // the shortest of their waits
};

struct Diagnosis {
  Verdict verdict = Verdict::kNone;
  std::vector<Finding> findings;       // deadlocks first
  std::vector<BlockedThread> blocked;  // every thread that waits for a futex, those of findings too
  std::string reason;                  // why nothing was found; else empty
  std::vector<std::string> warnings;
};

[[nodiscard]] std::string_view verdict_name(Verdict verdict);
[[nodiscard]] std::string_view finding_name(FindingType type);

// Errors: the database cannot be read; it has no futex calls because -e left them out. `under_way`: of a recording that
// goes on, up to a look at all open waits, so that it is no sign of loss that it has no end.
[[nodiscard]] Result<Diagnosis> diagnose(const store::Database& database, bool under_way = false);

}  // namespace uscope::analyzer
