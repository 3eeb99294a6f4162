// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A trace as a page shows it: counted so that it stays small however many events there are, and by call and function
// (cell), so that the page can limit itself to some of them. Plain data; times are nanoseconds since the trace's start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/picture/event_cube.h"
#include "analyzer/picture/stack_tree.h"
#include "analyzer/picture/time_line.h"
#include "analyzer/read/catalog.h"
#include "analyzer/read/part.h"
#include "store/db/database.h"
#include "support/result.h"

namespace uscope::analyzer {

// A kind of event, and the application function that it comes from; frames of one function of one module are one.
struct PictureCell {
  std::size_t kind = 0;   // its place in the catalog
  std::string function;   // the trigger; empty: no stack
  std::string module;     // path
  bool fallback = false;  // the trigger is not part of the application
  std::uint64_t events = 0;
  std::uint64_t errors = 0;
  std::uint64_t open = 0;
  std::uint64_t total_ns = 0;  // of those that have a duration; of samples, what they stand for
  std::uint64_t longest_ns = 0;
  bool in_cube = false;  // its events are among `cube`
};

struct Picture {
  std::int64_t duration_ns = 0;
  std::vector<PictureCell> cells;
  std::vector<ThreadLane> threads;  // like Catalog::threads
  std::vector<HeatCount> heat;      // of all cells
  std::uint64_t heat_left_out = 0;  // events with a duration that are not in it
  std::vector<CubeCount> cube;      // of some
  StackTree stacks;
};

// How much of each a picture holds.
struct PictureLimits {
  std::size_t marks = 120'000;  // of all threads: single calls and parts of their lives
  std::size_t cube = 100'000;   // also of the heat map
  std::size_t stacks = 3000;    // for each weight
};

// Of a part of the trace, after count_part(). Reads each event once.
[[nodiscard]] Result<Picture> read_picture(const store::Database& database, const Catalog& catalog, const Part& part,
                                           const PictureLimits& limits = {});

}  // namespace uscope::analyzer
