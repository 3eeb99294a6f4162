// The dual-space matrix of one run: what was called (a kind of call) against what called it (a function; some
// application functions above one another; the path through the modules), by identities that hold across runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "analyzer/diff/identity.h"
#include "analyzer/read/event_totals.h"
#include "store/db/database.h"
#include "support/result.h"

namespace uscope::analyzer {

// What the second dimension of the matrix is.
struct MatrixBy {
  enum class Space {
    kFunction,  // the trigger of the stack
    kDepth,     // the trigger and the application functions that called it, `depth` in all
    kPath,      // the modules that the stack goes through, root first
  };
  Space space = Space::kFunction;
  std::size_t depth = 1;
};

struct CellKey {
  std::string kind;      // "openat"; "i386:open" of another ABI than x86_64
  std::string function;  // kNameless; empty: the stack has no trigger, or there is no stack
  std::string module;    // of the trigger: base name; empty as function

  friend bool operator<(const CellKey& a, const CellKey& b) {
    return std::tie(a.kind, a.function, a.module) < std::tie(b.kind, b.function, b.module);
  }
  friend bool operator==(const CellKey& a, const CellKey& b) {
    return std::tie(a.kind, a.function, a.module) == std::tie(b.kind, b.function, b.module);
  }
};

// In place of an error number: a connection that `connect` has begun (EINPROGRESS) and that was closed without a byte
// sent or received. Why, the application learns by getsockopt(SO_ERROR), which is no result of a call. See
// connections.h.
constexpr std::int64_t kUnconnected = 1'000'000;

// error_name, "unconnected" of kUnconnected.
[[nodiscard]] std::string outcome_name(std::int64_t error);

struct ErrorCount {
  std::uint64_t events = 0;
  std::int64_t first_event_id = 0;
};

// Where a cell's events are in its store.
struct CellSource {
  std::int64_t kind_id = 0;
  std::optional<std::int64_t> trigger_frame_id;  // of function cells
  std::vector<std::int64_t> stack_ids;           // of others: some of their stacks
};

struct Cell {
  std::uint64_t events = 0;
  std::uint64_t errors = 0;
  std::uint64_t open = 0;  // never returned
  std::uint64_t total_ns = 0;
  std::uint64_t timed = 0;  // events with a duration
  double median_ns = 0;     // of these: within a step of the store's cell_latency
  std::int64_t first_event_id = 0;
  std::map<std::int64_t, ErrorCount> errnos;
  std::vector<CellSource> sources;
  std::vector<std::int64_t> unconnected;  // events: some of them
};

struct Matrix {
  std::map<CellKey, Cell> cells;
  std::set<std::string> nameless;  // modules of which nameless functions became one, since their builds differ
};

// The modules of a store, renamed.
[[nodiscard]] Result<std::vector<ModuleBuild>> read_modules(const store::Database& database, const ModuleNames& names);

// By function: from the totals that the loader counted. Otherwise all events are read once, in order.
[[nodiscard]] Result<Matrix> read_matrix(const store::Database& database, const MatrixBy& by, const ModuleNames& names,
                                         const OffsetTrust& trust);

// The duration that half of the calls do not exceed, taken as evenly spread within its step. `steps` in any order,
// equal ends more than once.
[[nodiscard]] double median_of_steps(std::vector<LatencyStep> steps);

}  // namespace uscope::analyzer
