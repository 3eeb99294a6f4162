// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/read/no_match.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "analyzer/read/path_filter.h"
#include "analyzer/read/query.h"
#include "support/text.h"
#include "syscalls/call_traits.h"

namespace uscope::analyzer {
namespace {

constexpr std::size_t kMostRelatives = 5;

// Empty if one of the calls occurs.
Result<std::string> missing_calls(const store::Database& database, const Catalog& catalog,
                                  const std::vector<std::string>& calls) {
  std::vector<std::pair<std::string, std::uint64_t>> relatives;
  bool occurs = false;
  auto done = each_row(
      database,
      "SELECT kind.name, sum(cell.events) FROM cell JOIN kind ON kind.id = cell.kind_id GROUP BY 1 ORDER BY 2 DESC, 1",
      [&](const SqlRow& row) {
        const std::string name = text(row, 0);
        occurs = occurs || std::find(calls.begin(), calls.end(), name) != calls.end();
        if (std::any_of(calls.begin(), calls.end(),
                        [&](const std::string& call) { return syscalls::are_related(call, name); }))
          relatives.emplace_back(name, static_cast<std::uint64_t>(std::max<std::int64_t>(0, row.integer(1))));
      });
  if (!done) return done.error();
  if (occurs) return std::string();
  std::string out = "the trace has " + (calls.size() == 1 ? "no " + calls.front() : std::string("none of these calls"));
  if (const auto recorded = catalog.meta.find("calls"); recorded != catalog.meta.end() && recorded->second != "all")
    out += " (it was recorded with -e " + recorded->second + ")";
  for (std::size_t i = 0; i < std::min(relatives.size(), kMostRelatives); i++)
    out += fmt::format("{}{} ({})", i == 0 ? "; related calls in it: " : ", ", relatives[i].first,
                       group_digits(relatives[i].second));
  return out;
}

// Empty if a name matches.
Result<std::string> missing_paths(const store::Database& database, const std::vector<std::string>& globs) {
  NearPaths near(globs);
  bool occurs = false;
  auto done = each_path(database, [&](const std::string& name, const PathIds&) {
    if (path_matches(globs, name))
      occurs = true;
    else
      near.add(name);
  });
  if (!done) return done.error();
  return occurs ? std::string() : no_such_path(globs, near.found());
}

}  // namespace

Result<std::vector<std::string>> why_none_match(const store::Database& database, const Catalog& catalog,
                                                const EventFilter& filter) {
  std::vector<std::string> reasons;
  const auto keep = [&](Result<std::string> reason) -> Result<void> {
    if (!reason) return reason.error();
    if (!reason->empty()) reasons.push_back(std::move(*reason));
    return {};
  };
  if (filter.calls)
    if (auto done = keep(missing_calls(database, catalog, *filter.calls)); !done) return done.error();
  if (!filter.paths.empty())
    if (auto done = keep(missing_paths(database, filter.paths)); !done) return done.error();
  return reasons;
}

}  // namespace uscope::analyzer
