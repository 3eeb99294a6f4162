// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The processes of a trace as a tree, with the images each one ran over time.
//
// The parent links come from the store and are not trusted: a process whose parent is missing is a root, and one whose
// ancestors form a cycle is cut free and marked, so that every process appears exactly once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/read/row_ids.h"
#include "store/db/database.h"
#include "support/result.h"

namespace uscope::analyzer {

struct ImageSpan {
  ImageRowId id;
  std::optional<std::int64_t> ts_ns;  // since the trace's start; nullopt if unknown
  std::string path;
  std::string argv;
  std::string name;
  std::uint64_t events = 0;  // that the process made in it
};

struct ProcessNode {
  ProcessRowId id;
  std::int64_t pid = 0;
  std::int64_t ns_pid = 0;
  std::optional<std::int64_t> parent_pid;
  bool parent_missing = false;         // the store names a parent that it does not hold
  bool in_circle = false;              // its parent links led back to itself
  std::string name;                    // of the last image
  std::string inherited_path;          // the image at its start: its parent's then; empty if unknown
  std::string inherited_name;          // of that
  std::uint64_t inherited_events = 0;  // that the process made in it
  std::vector<ImageSpan> images;
  std::optional<std::int64_t> start_ns;  // since the trace's start
  std::optional<std::int64_t> end_ns;
  std::optional<std::int64_t> exit_code;
  std::optional<std::int64_t> exit_signal;
  bool stopped = false;  // by a signal, when tracing ended
  bool uses_io_uring = false;
  std::uint64_t threads = 0;
  std::uint64_t events = 0;           // of all programs
  std::vector<std::size_t> children;  // indices into ProcessTree::nodes, by start time
};

struct ProcessTree {
  std::int64_t start_ns = 0;  // CLOCK_MONOTONIC; times count from here
  std::int64_t end_ns = 0;    // of the trace, since its start
  std::vector<ProcessNode> nodes;
  std::vector<std::size_t> roots;  // by start time
};

[[nodiscard]] Result<ProcessTree> build_tree(const store::Database& database);

}  // namespace uscope::analyzer
