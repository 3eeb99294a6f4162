// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Events are grouped by image and stack (and call) in SQL, so that each distinct stack's text is read once for each
// image it occurs in. Limit: the groups of equal text (two images of one name) stay separate lines, which flame graph
// tools add.
#include "exporters/folded.h"

#include <algorithm>

#include "analyzer/read/catalog.h"
#include "analyzer/read/query.h"
#include "support/text.h"

namespace uscope::exporters {
namespace {

using analyzer::Image;
using analyzer::Kind;
using analyzer::SqlRow;
using analyzer::text;

// Without control characters, line ends, and what turns the direction of writing.
std::string one_line(std::string_view text) {
  std::string clean;
  while (!text.empty()) {
    const std::size_t unsafe = unsafe_length(text);
    clean += unsafe ? '_' : text.front();
    text.remove_prefix(std::max<std::size_t>(1, unsafe));
  }
  return clean;
}

// A frame's or process's name must not hold what separates frames or lines.
std::string one_frame(std::string_view name) {
  std::string clean = one_line(name);
  std::replace(clean.begin(), clean.end(), ';', '_');
  return clean;
}

std::string folded_line(const std::string& process, const SqlRow& row, const std::string* call) {
  std::string line = process.empty() ? "[unknown]" : one_frame(process);
  if (row.is_null(4)) {
    line += ";[no stack]";
  } else {
    const std::string ended = text(row, 4);
    if (ended.starts_with("broken:")) line += ";[" + ended + "]";
    const std::string stack = one_line(text(row, 5));
    if (!stack.empty()) line += ";" + stack;
  }
  if (call) line += ";" + one_frame(*call);
  return line;
}

}  // namespace

Result<FoldedTotals> fold_stacks(const store::Database& database, const FoldedOptions& options,
                                 const std::function<void(const std::string&, std::uint64_t)>& line) {
  auto catalog = analyzer::read_catalog(database);
  if (!catalog) return catalog.error();
  const std::string group = options.with_call ? "image_id, stack_id, kind_id" : "image_id, stack_id";
  auto query = database.prepare(
      "SELECT g.image_id, g.kind_id, g.events, g.total_ns, s.ended, s.folded, g.timed FROM (SELECT image_id, "
      "stack_id, " +
      std::string(options.with_call ? "kind_id" : "0 AS kind_id") +
      ", count(*) AS events, coalesce(sum(dur_ns), 0) AS total_ns, count(dur_ns) AS timed FROM event GROUP BY " +
      group + ") g LEFT JOIN stack s ON s.id = g.stack_id");
  if (!query) return query.error();
  FoldedTotals totals;
  auto done = analyzer::each(*query, [&](const SqlRow& row) {
    const Image* image = catalog->images.find(analyzer::ImageRowId(row.integer(0)));
    const Kind* kind = options.with_call ? catalog->kinds.find(analyzer::KindRowId(row.integer(1))) : nullptr;
    const auto events = static_cast<std::uint64_t>(row.integer(2));
    const bool by_time = options.weight == FoldedWeight::kTime;
    const auto counted = by_time ? static_cast<std::uint64_t>(row.integer(6)) : events;
    const auto weight = by_time ? static_cast<std::uint64_t>(std::max<std::int64_t>(0, row.integer(3))) : events;
    totals.events += counted;
    totals.events_left_out += events - counted;
    if (weight == 0) return;
    totals.lines++;
    const std::string name = image ? std::string(base_name(image->path)) : "";
    line(folded_line(name, row, kind ? &kind->name : nullptr), weight);
  });
  if (!done) return done.error();
  return totals;
}

}  // namespace uscope::exporters
