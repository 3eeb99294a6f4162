// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "exporters/profiles/folded.h"

#include <algorithm>

#include "support/text.h"

namespace uscope::exporters {
namespace {

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

void append(std::string& line, const std::string& frame) {
  if (!frame.empty()) line += (line.empty() ? "" : ";") + frame;
}

std::string line_of(const StackGroup& group, const LevelNames& names, const Levels& levels) {
  std::string line;
  names.before(group, levels, [&](const char*, const std::string& name) { append(line, one_frame(name)); });
  append(line, group.mark());
  append(line, one_line(group.folded));
  append(line, one_frame(names.behind(group, levels)));
  return line;
}

}  // namespace

Result<FoldedTotals> fold_stacks(const store::Database& database, const analyzer::Catalog& catalog,
                                 const FoldedOptions& options,
                                 const std::function<void(const std::string&, std::uint64_t)>& line) {
  FoldedTotals totals;
  const LevelNames names(catalog);
  const bool by_time = options.weight == FoldedWeight::kTime;
  auto done =
      for_each_group(database, catalog, options.filter, options.levels, [&](const StackGroup& group) -> Result<void> {
        const std::uint64_t counted = by_time ? group.timed : group.events;
        const std::uint64_t weight = by_time ? group.total_ns : group.events;
        totals.events += counted;
        totals.events_left_out += group.events - counted;
        if (weight == 0) return {};
        totals.lines++;
        line(line_of(group, names, options.levels), weight);
        return {};
      });
  if (!done) return done.error();
  return totals;
}

}  // namespace uscope::exporters
