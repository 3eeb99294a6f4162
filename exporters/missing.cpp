// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "exporters/missing.h"

#include <fmt/core.h>

#include <algorithm>

#include "analyzer/read/query.h"
#include "support/text.h"
#include "trace/loss_class.h"

namespace uscope::exporters {
namespace {

using analyzer::SqlRow;

// The columns: cause, count, first and last moment, process.
std::optional<Missing> missing_of(const SqlRow& row) {
  const trace::LossClass kind = trace::loss_class(row.text(0));
  const std::int64_t count = row.integer(1);
  if (!trace::leaves_out(kind) || count <= 0) return std::nullopt;
  Missing out;
  out.cause = analyzer::text(row, 0);
  out.meaning = trace::loss_meaning(out.cause);
  out.count = static_cast<std::uint64_t>(count);
  out.ts_ns = row.integer(2);
  out.until_ns = std::max(out.ts_ns, row.integer(3));
  out.events = trace::loses_events(kind);
  return out;
}

}  // namespace

std::string Missing::text() const {
  return printable(
      fmt::format("lost {}: {}{}", cause, group_digits(count), meaning.empty() ? "" : " (" + meaning + ")"));
}

Result<void> for_each_missing(const store::Database& database, const analyzer::Catalog& catalog,
                              const std::function<void(const Missing&)>& use) {
  return analyzer::each_row(
      database, "SELECT cause, count, ts_ns, until_ns, process_id FROM loss ORDER BY ts_ns, rowid",
      [&](const SqlRow& row) {
        auto missing = missing_of(row);
        if (!missing) return;
        const analyzer::Process* process = catalog.processes.find(analyzer::ProcessRowId(row.integer(4)));
        if (process) missing->pid = process->pid;
        use(*missing);
      });
}

Result<std::vector<Missing>> missing_by_cause(const store::Database& database) {
  std::vector<Missing> out;
  auto done = analyzer::each_row(
      database, "SELECT cause, sum(count), min(ts_ns), max(until_ns) FROM loss GROUP BY cause ORDER BY 2 DESC, 1",
      [&](const SqlRow& row) {
        if (auto missing = missing_of(row)) out.push_back(std::move(*missing));
      });
  if (!done) return done.error();
  return out;
}

std::string recording_text(const analyzer::Catalog& catalog) {
  const auto meta = [&](const char* key) {
    const auto at = catalog.meta.find(key);
    return at == catalog.meta.end() ? std::string() : at->second;
  };
  std::string out = "uscope " + meta("uscope_version");
  if (!meta("host").empty()) out += ", recorded on " + meta("host");
  if (!meta("command").empty()) out += ": " + meta("command");
  return printable(out);
}

}  // namespace uscope::exporters
