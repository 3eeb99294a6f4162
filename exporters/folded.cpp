// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Events are grouped by image and stack (and call) in SQL, so that each distinct stack's text is read once for each
// image it occurs in. Limit: the groups of equal text (two images of one name) stay separate lines, which flame graph
// tools add.
#include "exporters/folded.h"

#include <algorithm>

#include "analyzer/read/catalog.h"
#include "analyzer/read/event_query.h"
#include "analyzer/read/query.h"
#include "support/text.h"

namespace uscope::exporters {
namespace {

using analyzer::Image;
using analyzer::Kind;
using analyzer::Process;
using analyzer::SqlRow;
using analyzer::text;
using analyzer::Thread;

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

// The query's columns.
enum Column : int { kImage, kThread, kKind, kEvents, kTotal, kTimed, kEnded, kFolded };

void append(std::string& line, const std::string& frame) {
  line += (line.empty() ? "" : ";") + frame;
}

class Folder {
 public:
  Folder(const analyzer::Catalog& catalog, const FoldedLevels& levels) : catalog_(catalog), levels_(levels) {}

  [[nodiscard]] std::string line(const SqlRow& row) const {
    std::string line = tasks(row);
    if (row.is_null(kEnded)) {
      append(line, "[no stack]");
    } else {
      const std::string ended = text(row, kEnded);
      if (ended.starts_with("broken:")) append(line, "[" + ended + "]");
      const std::string stack = one_line(text(row, kFolded));
      if (!stack.empty()) append(line, stack);
    }
    const Kind* kind = levels_.call ? catalog_.kinds.find(analyzer::KindRowId(row.integer(kKind))) : nullptr;
    if (kind) append(line, one_frame(kind->label()));
    return line;
  }

 private:
  [[nodiscard]] std::string tasks(const SqlRow& row) const {
    std::string line;
    if (levels_.process) {
      const Image* image = catalog_.images.find(analyzer::ImageRowId(row.integer(kImage)));
      const std::string name = image ? image->name : "";
      append(line, name.empty() ? "[unknown]" : one_frame(name));
    }
    if (!levels_.pid && !levels_.thread) return line;
    const Thread* thread = catalog_.threads.find(analyzer::ThreadRowId(row.integer(kThread)));
    const Process* process = thread ? catalog_.processes.find(thread->process_id) : nullptr;
    if (levels_.pid) append(line, process ? "pid " + std::to_string(process->pid) : "[unknown]");
    if (levels_.thread)
      append(line, thread ? one_frame(thread->name) + "/" + std::to_string(thread->tid) : "[unknown]");
    return line;
  }

  const analyzer::Catalog& catalog_;
  const FoldedLevels& levels_;
};

// What an event's time is: of a sample, what it stands for, as far as that can be.
std::string time_of_event(const analyzer::Catalog& catalog) {
  std::string samples;
  for (const Kind& kind : catalog.kinds)
    if (kind.is_sample()) samples += (samples.empty() ? "" : ",") + to_string(kind.id);
  if (samples.empty()) return "e.dur_ns";
  return "iif(e.kind_id IN (" + samples + "), min(max(e.a1, 0), 10000000000), e.dur_ns)";
}

// The columns of event by which lines differ. Threads are of processes, so their pid needs no column of its own.
std::string columns(const FoldedLevels& levels, const std::string& time) {
  const auto column = [](bool wanted, const std::string& name) { return wanted ? "e." + name : "0 AS " + name; };
  return column(levels.process, "image_id") + ", " + column(levels.pid || levels.thread, "thread_id") + ", " +
         column(levels.call, "kind_id") + ", e.stack_id AS stack_id, count(*) AS events, coalesce(sum(" + time +
         "), 0) AS total_ns, count(" + time + ") AS timed";
}

}  // namespace

Result<FoldedTotals> fold_stacks(const store::Database& database, const analyzer::Catalog& catalog,
                                 const FoldedOptions& options,
                                 const std::function<void(const std::string&, std::uint64_t)>& line) {
  auto query = analyzer::select_events(
      database, catalog, options.filter,
      "SELECT g.image_id, g.thread_id, g.kind_id, g.events, g.total_ns, g.timed, s.ended, s.folded FROM (SELECT " +
          columns(options.levels, time_of_event(catalog)),
      "GROUP BY 1, 2, 3, 4) g LEFT JOIN stack s ON s.id = g.stack_id");
  if (!query) return query.error();
  FoldedTotals totals;
  const Folder folder(catalog, options.levels);
  auto done = analyzer::each(*query, [&](const SqlRow& row) {
    const auto events = static_cast<std::uint64_t>(row.integer(kEvents));
    const bool by_time = options.weight == FoldedWeight::kTime;
    const auto counted = by_time ? static_cast<std::uint64_t>(row.integer(kTimed)) : events;
    const auto weight = by_time ? static_cast<std::uint64_t>(std::max<std::int64_t>(0, row.integer(kTotal))) : events;
    totals.events += counted;
    totals.events_left_out += events - counted;
    if (weight == 0) return;
    totals.lines++;
    line(folder.line(row), weight);
  });
  if (!done) return done.error();
  return totals;
}

}  // namespace uscope::exporters
