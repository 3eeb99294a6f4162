// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Dual-space comparison: what abnormal runs of an application do that normal runs do not, and vice versa.
//
// Memory: the cells of all runs. All stores are open at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/diff/argument_values.h"
#include "analyzer/diff/diff_cells.h"
#include "analyzer/diff/diff_picture.h"
#include "analyzer/diff/endings.h"
#include "analyzer/diff/identity.h"
#include "analyzer/diff/matrix.h"
#include "analyzer/diff/run_facts.h"
#include "analyzer/diff/settings.h"
#include "analyzer/diff/time_shift.h"
#include "analyzer/diff/transfers.h"
#include "analyzer/read/app_modules.h"
#include "support/result.h"

namespace uscope::analyzer {

struct DiffOptions {
  std::vector<std::filesystem::path> normal;    // at least one
  std::vector<std::filesystem::path> abnormal;  // at least one
  ModuleNames names{};                          // renamed modules: old base name to new
  AppChoice app{};                              // what counts as the application's, chosen afterwards
  MatrixBy by{};
  // Calls whose successes are the units of work for rates; empty: rates are per second.
  std::vector<std::string> per{};
  std::size_t lines = 0;  // of each list; 0: no limit
  bool picture = false;   // also what pictures need: every cell, and all stacks, which reads all events once
};

// An argument value of a cell's calls, and how many of the examined calls had it.
struct ArgumentValue {
  std::string value;
  std::uint64_t events = 0;
};

// A stack, folded (root first, `;`), and how many of the cell's events have it: of very many, those that were counted.
struct CommonStack {
  std::string stack;
  std::uint64_t events = 0;
};

// An example of a cell, from the run that has most of its events.
struct CellExample {
  std::string file;                 // of the run
  EventRowId event_id;              // the first event with that stack there
  std::string stack;                // of most events of those looked at, folded: root first, `;`. Empty: none
  std::vector<CommonStack> stacks;  // those of most events, at most kMostStacks; the first is `stack`
  static constexpr std::size_t kMostStacks = 5;
  std::optional<std::int64_t> first_ns;  // time of the cell's first event since the start of the run
  std::vector<std::string> threads;      // names; first the threads with most of the examined events
  std::vector<ArgumentValue> strings;    // most distinctive ones first
  std::uint64_t looked_at = 0;           // number of events that threads and strings come from
  std::vector<std::string> flags;        // of a cell that only one side has: what its calls ask for, most calls first
};

struct OnlyEntry {
  OnlyCell cell;
  CellExample example;
  bool new_arguments = false;  // normal runs have the error too, but not for these files or addresses
};

struct ChangedEntry {
  ChangedCell cell;
  CellExample example;
};

struct TimeEntry {
  PlaceShift shift;
  std::string file;   // the run that the stack is from: of the side where the place takes more time, the one with most
  std::string stack;  // where most of the time is; outside of calls, of the next call or the one before. Empty: none
};

template <typename Entry>
struct RankedList {
  std::vector<Entry> entries;
  std::size_t total = 0;  // before the list was cut
};

struct Diff {
  std::vector<RunFacts> normal;
  std::vector<RunFacts> abnormal;
  bool tested = false;  // tested across runs; if false, ranked by effect alone
  bool by_work = false;
  TimeChanges time;  // without `places`, which are in `places`
  RankedList<TimeEntry> places;
  RankedList<OnlyEntry> normal_only;
  RankedList<OnlyEntry> abnormal_only;
  RankedList<ChangedEntry> changed;
  RankedList<ChangedArgument> arguments;
  std::vector<ChangedSetting> settings;
  std::vector<ChangedEnding> endings;
  RankedList<ChangedObject> objects;
  std::vector<std::string> warnings;
  std::optional<DiffPicture> picture;  // as asked for
};

// Returns an error if a store cannot be read, or if rates are per unit of work and a run has no work.
[[nodiscard]] Result<Diff> diff(const DiffOptions& options);

}  // namespace uscope::analyzer
