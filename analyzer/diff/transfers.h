// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The bytes that runs read from files, sockets and pipes, and wrote to them: what calls returned, by object.
//
// An object is what its descriptor refers to (event_string.source = 2), by argument_identity(). It has changed if all
// runs of one side moved at least kLeastFactor times as many bytes as all runs of the other side, and at least
// kLeastBytes more, in total and, unless rates are by work, for each second too.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/diff/diff_cells.h"
#include "analyzer/diff/matrix.h"
#include "analyzer/diff/run_facts.h"
#include "store/db/database.h"
#include "support/result.h"

namespace uscope::analyzer {

constexpr double kLeastBytes = 4096;

enum class Direction : std::uint8_t { kRead, kWritten };

// Bytes by object and direction.
using ObjectBytes = std::map<std::pair<std::string, Direction>, std::uint64_t>;

struct ChangedObject {
  std::string object;
  Direction direction = Direction::kRead;
  double before = 0;  // bytes of a normal run, or for each unit of work
  double after = 0;
  double effect = 1;  // after / before; 0 bytes count as half a byte
  double score = 0;
};

// The ids of kinds whose results are numbers of bytes, with commas between them.
[[nodiscard]] std::string transferring_kinds(const KindNames& kinds);

[[nodiscard]] Result<ObjectBytes> read_object_bytes(const store::Database& database, const RunFacts& facts);

// By falling score. `exposure` as for compare_cells().
[[nodiscard]] std::vector<ChangedObject> compare_objects(const std::vector<ObjectBytes>& normal,
                                                         const std::vector<ObjectBytes>& abnormal,
                                                         const Exposure& exposure);

}  // namespace uscope::analyzer
