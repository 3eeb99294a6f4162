// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The wait-for graph of a diagnosis as a picture shows it: nodes with all that is known of them, and edges between
// them. Threads that wait alike are one node with a count, so a hundred threads behind one lock are one node. A wait
// for any thread of a process leads to its only node or, if it has several, to a node of the process, which leads to
// these.
//
// Limits: threads that nobody waits for, that wait for nobody known and that no finding names are not in the picture
// (the diagnosis lists them). At most kMostNodes are drawn, those of findings first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/deadlock/deadlock.h"

namespace uscope::analyzer {

struct PictureNode {
  enum class What {
    kWaits,
    kComputes,  // in no call
    kEnded,     // the owner of a lock, which has ended
    kUnknown,   // a thread of which the diagnosis says nothing else
    kProcess,   // any thread of the process
  };
  What what = What::kWaits;
  std::vector<std::int64_t> tids;        // ascending; none: a process
  std::vector<std::int64_t> pids;        // of these threads, each once
  std::string name;                      // of the first thread
  std::string process;                   // empty: unknown
  std::string waits_for;                 // "a mutex", "read(3<pipe:[4711]>)"; empty unless it waits
  std::string halted;                    // "stopped by SIGTTOU"; empty: it is not
  std::string api;                       // the library's function; empty: unknown
  std::uint64_t address = 0;             // of the lock or the futex; 0: none
  std::int64_t waited_ns = 0;            // the longest of them
  bool at_least = false;                 // that one waited before tracing began
  std::optional<std::size_t> finding{};  // index in Diagnosis::findings
  bool circle = false;                   // it is in the circle of that finding
  StackLines stack;
};

struct PictureEdge {
  std::size_t from = 0;  // index of a node
  std::size_t to = 0;
  std::string label;      // names in it may hold any byte; empty: from a process to its threads
  bool circle = false;    // of a circle
  std::size_t count = 1;  // edges between threads that it stands for
};

struct WaitPicture {
  static constexpr std::size_t kMostNodes = 150;
  std::vector<PictureNode> nodes;  // those of circles first, then those of findings
  std::vector<PictureEdge> edges;
  std::size_t left_out = 0;  // threads whose nodes were too many
};

[[nodiscard]] WaitPicture picture_of(const Diagnosis& diagnosis);

}  // namespace uscope::analyzer
