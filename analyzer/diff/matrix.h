// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The dual-space matrix of one run: the kind of call against its caller (a function, a chain of application functions,
// or the path through the modules), with identities that hold across runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "analyzer/diff/identity.h"
#include "analyzer/read/cell_counts.h"
#include "analyzer/read/event_totals.h"
#include "store/db/database.h"
#include "support/result.h"

namespace uscope::analyzer {

// The second dimension of the matrix.
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

// Used as an error number for a connection that `connect` began (EINPROGRESS) and that was closed without a byte sent
// or received. The application learns the reason by getsockopt(SO_ERROR), which is not the result of a call. See
// connections.h.
constexpr std::int64_t kUnconnected = 1'000'000;

// error_name(), or "unconnected" for kUnconnected.
[[nodiscard]] std::string outcome_name(std::int64_t error);

// Locates a cell's events in its store.
struct CellSource {
  KindRowId kind_id;
  std::optional<FrameRowId> trigger_frame_id;  // for function cells
  std::vector<StackRowId> stack_ids;           // for other cells: some of their stacks
};

struct Cell {
  std::uint64_t events = 0;
  std::uint64_t errors = 0;
  std::uint64_t open = 0;  // never returned
  std::uint64_t total_ns = 0;
  std::uint64_t timed = 0;      // events with a duration
  double median_ns = 0;         // of the timed events, within one step of the store's cell_latency
  std::uint64_t transfers = 0;  // events that succeeded, of a call whose result is a number of bytes
  std::uint64_t bytes = 0;      // that these moved
  EventRowId first_event_id;
  std::map<std::int64_t, ErrorCount> errnos;
  std::vector<CellSource> sources;
  std::vector<EventRowId> unconnected;  // some of these events
};

struct Matrix {
  std::map<CellKey, Cell> cells;
  std::set<std::string> nameless;  // modules whose nameless functions became one because their builds differ
};

// The names of kinds, as a matrix has them.
using KindNames = std::unordered_map<KindRowId, std::string>;
[[nodiscard]] Result<KindNames> read_kinds(const store::Database& database);

// The modules of a store, renamed.
[[nodiscard]] Result<std::vector<ModuleBuild>> read_modules(const store::Database& database, const ModuleNames& names);

// By function: uses the totals that the loader counted, and reads the events that move bytes. Otherwise reads all
// events once, in order.
[[nodiscard]] Result<Matrix> read_matrix(const store::Database& database, const MatrixBy& by, const ModuleNames& names,
                                         const OffsetTrust& trust);

// The duration that half of the calls do not exceed, assuming that durations are evenly spread within a step. `steps`
// may be in any order, and equal ends may occur more than once.
[[nodiscard]] double median_of_steps(std::vector<LatencyStep> steps);

}  // namespace uscope::analyzer
