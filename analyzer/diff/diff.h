// Dual-space comparison: what abnormal runs of an application do that normal runs do not, and the other way round.
//
// Memory: the cells of all runs. All stores are open at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/diff/diff_cells.h"
#include "analyzer/diff/identity.h"
#include "analyzer/diff/matrix.h"
#include "analyzer/diff/run_facts.h"
#include "support/result.h"

namespace uscope::analyzer {

struct DiffOptions {
  std::vector<std::filesystem::path> normal;    // at least one
  std::vector<std::filesystem::path> abnormal;  // at least one
  ModuleNames names{};                          // renamed modules, old base name to new
  MatrixBy by{};
  // Calls whose successes are pieces of work that rates are told by; empty: rates are by duration.
  std::vector<std::string> per{};
  std::size_t lines = 0;  // of each list; 0: all
};

// What an argument of a cell's calls was, and in how many of those looked at.
struct ArgumentValue {
  std::string value;
  std::uint64_t events = 0;
};

// What the store says of a cell in the run that has most of its events.
struct CellExample {
  std::string file;                      // of the run
  std::int64_t event_id = 0;             // its first event there
  std::string stack;                     // of that, folded: root first, `;`. Empty: none
  std::optional<std::int64_t> first_ns;  // when that was, since the start of the run
  std::vector<std::string> threads;      // names, those with most of the events looked at first
  std::vector<ArgumentValue> strings;    // those that stand out first
  std::uint64_t looked_at = 0;           // events that threads and strings are from
};

struct OnlyEntry {
  OnlyCell cell;
  CellExample example;
  bool new_arguments = false;  // normal runs have the error too, but not of these files or addresses
};

struct ChangedEntry {
  ChangedCell cell;
  CellExample example;
};

template <typename Entry>
struct RankedList {
  std::vector<Entry> entries;
  std::size_t total = 0;  // before it was cut
};

struct Diff {
  std::vector<RunFacts> normal;
  std::vector<RunFacts> abnormal;
  bool tested = false;  // across runs; else ranked by effect alone
  bool by_work = false;
  RankedList<OnlyEntry> normal_only;
  RankedList<OnlyEntry> abnormal_only;
  RankedList<ChangedEntry> changed;
  std::vector<std::string> warnings;
};

// Errors: a store that cannot be read; a run without a piece of work where rates are told by work.
[[nodiscard]] Result<Diff> diff(const DiffOptions& options);

}  // namespace uscope::analyzer
