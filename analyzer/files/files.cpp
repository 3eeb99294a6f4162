// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The loader has counted calls by kind, image and texts (object_total), so the work grows with the number of objects
// and not with that of events. Different texts may name one object: `index.html` in /srv, and /srv/index.html.
#include "analyzer/files/files.h"

#include <sqlite3.h>

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "analyzer/read/object_name.h"
#include "analyzer/read/process_filter.h"
#include "analyzer/read/query.h"
#include "syscalls/call_traits.h"

namespace uscope::analyzer {
namespace {

struct KindFacts {
  std::string name;
  syscalls::Transfer transfer;
  bool opens = false;
  bool waits = false;
};

bool matches(const std::vector<std::string>& globs, const std::string& text) {
  return std::any_of(globs.begin(), globs.end(),
                     [&](const std::string& glob) { return sqlite3_strglob(glob.c_str(), text.c_str()) == 0; });
}

std::optional<std::string> maybe_text(const SqlRow& row, int column) {
  return row.is_null(column) ? std::nullopt : std::optional(text(row, column));
}

std::uint64_t count_of(const SqlRow& row, int column) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, row.integer(column)));
}

void add(FileLine& line, const FileLine& more) {
  line.calls += more.calls;
  line.failures += more.failures;
  line.opens += more.opens;
  line.reads += more.reads;
  line.writes += more.writes;
  line.bytes_read += more.bytes_read;
  line.bytes_written += more.bytes_written;
  line.total_ns += more.total_ns;
  line.wait_ns += more.wait_ns;
}

// One row of object_total.
FileLine counts_of(const SqlRow& row, const KindFacts& kind) {
  FileLine line;
  const std::uint64_t events = count_of(row, 5);
  const std::uint64_t bytes = count_of(row, 8);
  if (row.text(4) == "source") {
    line.reads = events;
    line.bytes_read = bytes;
    return line;
  }
  const bool reads_here = kind.transfer.reads && kind.transfer.source < 0;
  line.calls = events;
  line.failures = count_of(row, 6);
  line.total_ns = count_of(row, 7);
  line.wait_ns = kind.waits ? line.total_ns : 0;
  line.opens = kind.opens ? events : 0;
  line.reads = reads_here ? events : 0;
  line.writes = kind.transfer.writes ? events : 0;
  line.bytes_read = reads_here ? bytes : 0;
  line.bytes_written = kind.transfer.writes ? bytes : 0;
  return line;
}

std::uint64_t weight(const FileLine& line, FileOrder order) {
  switch (order) {
    case FileOrder::kBytes:
      return line.bytes_read + line.bytes_written;
    case FileOrder::kCalls:
      return line.calls;
    case FileOrder::kFailures:
      return line.failures;
    default:
      return line.total_ns - line.wait_ns;
  }
}

}  // namespace

Result<FileTable> read_files(const store::Database& database, const Catalog& catalog, const FileQuery& query) {
  std::unordered_map<KindRowId, KindFacts> kinds;
  for (const Kind& kind : catalog.kinds)
    kinds[kind.id] = {kind.name, syscalls::transfer_of(kind.name), syscalls::opens(kind.name), kind.waits};
  static const KindFacts kUnknown;
  std::unordered_set<ImageRowId> images;
  for (const Image& image : catalog.images)
    if (goes_by(image, query.processes)) images.insert(image.id);
  FileTable table;
  std::unordered_map<std::string, std::size_t> places;
  std::optional<std::size_t> unknown;
  std::vector<FileLine> lines;
  auto done =
      each_row(database,
               "SELECT o.kind_id, o.image_id, f.value, s.value, o.part, o.events, o.errors, o.total_ns, o.bytes "
               "FROM object_total o LEFT JOIN string f ON f.id = o.folder_id LEFT JOIN string s ON s.id = o.string_id",
               [&](const SqlRow& row) {
                 if (!query.processes.empty() && images.count(ImageRowId(row.integer(1))) == 0) return;
                 const auto kind = kinds.find(KindRowId(row.integer(0)));
                 const KindFacts& facts = kind == kinds.end() ? kUnknown : kind->second;
                 const auto name = object_name(facts.name, maybe_text(row, 2), maybe_text(row, 3));
                 if (!query.paths.empty() && (!name || !matches(query.paths, *name))) return;
                 std::size_t place = lines.size();
                 if (name)
                   place = places.try_emplace(*name, place).first->second;
                 else
                   place = unknown.value_or(place);
                 if (!name) unknown = place;
                 if (place == lines.size()) lines.push_back({.name = name});
                 const FileLine counts = counts_of(row, facts);
                 add(lines[place], counts);
                 add(table.all, counts);
               });
  if (!done) return done.error();
  table.files = top(std::move(lines), query.lines, [&](const FileLine& a, const FileLine& b) {
    return std::tuple(weight(b, query.order), b.calls, a.name) < std::tuple(weight(a, query.order), a.calls, b.name);
  });
  return table;
}

}  // namespace uscope::analyzer
