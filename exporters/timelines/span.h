// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How long events last, and which of one thread lie within another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "analyzer/read/catalog.h"
#include "analyzer/read/event_row.h"

namespace uscope::exporters {

enum class Lasting : std::uint8_t {
  kMoment,      // happened at one moment, or no more is known
  kFinished,    // from ts_ns for dur_ns
  kUnfinished,  // began at ts_ns, and was not seen to end
};

// A function that was left without a return is a moment: when it was over is not known.
[[nodiscard]] Lasting lasting(const analyzer::EventRow& event);

// When it was over, since the trace's start: of a moment, the moment itself. No overflow for any values of a store.
[[nodiscard]] std::int64_t end_of(const analyzer::EventRow& event);

// The slices of one thread that are open, outermost first. Events must come by time; ends are told in order of time, so
// that what is written by `end` stands between the events where it belongs.
class OpenSlices {
 public:
  // Ends all that is over at `ts_ns`.
  void advance(std::int64_t ts_ns, const std::function<void(std::int64_t)>& end);
  // Opens a slice that ends at `until_ns`, or at no known time. Returns false, and opens none, if one around it ends
  // before: clocks that disagree, or a hostile store.
  [[nodiscard]] bool open(std::optional<std::int64_t> until_ns);
  // Ends all: those without a time of their own at `until_ns` (but not before what is known to come after), or never.
  void finish(std::optional<std::int64_t> until_ns, const std::function<void(std::int64_t)>& end);

  [[nodiscard]] std::size_t depth() const { return ends_.size(); }

 private:
  std::vector<std::optional<std::int64_t>> ends_;
  std::int64_t latest_ = std::numeric_limits<std::int64_t>::min();  // time that advance() was last told
};

}  // namespace uscope::exporters
