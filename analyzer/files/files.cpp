// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The loader has counted calls by kind, image and texts (object_total), so the work grows with the number of objects
// and of their users, and not with that of events. Different texts may name one object: `index.html` in /srv, and
// /srv/index.html.
#include "analyzer/files/files.h"

#include <sqlite3.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "analyzer/read/path_filter.h"
#include "analyzer/read/peer_name.h"
#include "analyzer/read/process_filter.h"
#include "analyzer/read/query.h"
#include "analyzer/read/trigger_modules.h"
#include "syscalls/call_traits.h"
#include "trace/object_name.h"

namespace uscope::analyzer {
namespace {

struct KindFacts {
  std::string name;
  syscalls::Transfer transfer;
  bool opens = false;
  bool waits = false;
};

std::optional<std::string> maybe_text(const SqlRow& row, int column) {
  return row.is_null(column) ? std::nullopt : std::optional(text(row, column));
}

std::uint64_t count_of(const SqlRow& row, int column) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, row.integer(column)));
}

void add(FileCounts& line, const FileCounts& more) {
  line.calls += more.calls;
  line.failures += more.failures;
  line.opens += more.opens;
  line.reads += more.reads;
  line.writes += more.writes;
  line.changes += more.changes;
  line.bytes_read += more.bytes_read;
  line.bytes_written += more.bytes_written;
  line.total_ns += more.total_ns;
  line.wait_ns += more.wait_ns;
}

// One row of object_total.
FileCounts counts_of(const SqlRow& row, const KindFacts& kind) {
  FileCounts line;
  const std::uint64_t events = count_of(row, 7);
  const std::uint64_t bytes = count_of(row, 9);
  line.changes = count_of(row, 10);
  if (row.text(5) == "target") return line;
  if (row.text(5) == "source") {
    line.reads = events;
    line.bytes_read = bytes;
    return line;
  }
  const bool reads_here = kind.transfer.reads && kind.transfer.source < 0;
  line.calls = events;
  line.failures = row.is_null(6) ? 0 : events;
  line.total_ns = count_of(row, 8);
  line.wait_ns = kind.waits ? line.total_ns : 0;
  line.opens = kind.opens ? events : 0;
  line.reads = reads_here ? events : 0;
  line.writes = kind.transfer.writes ? events : 0;
  line.bytes_read = reads_here ? bytes : 0;
  line.bytes_written = kind.transfer.writes ? bytes : 0;
  return line;
}

std::uint64_t weight(const FileCounts& line, FileOrder order) {
  switch (order) {
    case FileOrder::kBytes:
      return line.bytes_read + line.bytes_written;
    case FileOrder::kCalls:
      return line.calls;
    case FileOrder::kOpens:
      return line.opens;
    case FileOrder::kFailures:
      return line.failures;
    default:
      return line.total_ns - line.wait_ns;
  }
}

constexpr std::string_view kCounts =
    "SELECT o.kind_id, o.process_id, o.image_id, f.value, s.value, o.part, o.errno, o.events, o.total_ns, o.bytes, "
    "o.changes, o.last_event_id, o.space";
constexpr std::string_view kTriggers = ", frame.function, module.path, ";
constexpr std::string_view kTables =
    " FROM object_total o LEFT JOIN string f ON f.id = o.folder_id LEFT JOIN string s ON s.id = o.string_id";
constexpr std::string_view kTriggerTables =
    " LEFT JOIN frame ON frame.id = o.trigger_frame_id LEFT JOIN module ON module.id = frame.module_id";

class FileReader {
 public:
  FileReader(const Catalog& catalog, const FileQuery& query) : catalog_(catalog), query_(query), near_(query.paths) {
    for (const Kind& kind : catalog.kinds)
      kinds_[kind.id] = {kind.name, syscalls::transfer_of(kind.name), syscalls::opens(kind.name), kind.waits};
    for (const Image& image : catalog.images)
      if (goes_by(image, query.processes)) images_.insert(image.id);
  }

  void add_row(const SqlRow& row) {
    const auto kind = kinds_.find(KindRowId(row.integer(0)));
    const KindFacts& facts = kind == kinds_.end() ? unknown_kind_ : kind->second;
    const auto name = trace::object_name(trace::address_relation(facts.name), maybe_text(row, 3), maybe_text(row, 4));
    if (!query_.paths.empty() && (!name || !path_matches(query_.paths, *name))) {
      if (name) near_.add(*name);
      return;
    }
    any_ = true;
    if (!query_.processes.empty() && images_.count(ImageRowId(row.integer(2))) == 0) return;
    const FileCounts counts = counts_of(row, facts);
    add(table_.all, counts);
    const std::string host = name && !query_.peers ? host_of_peer(*name) : "";
    const std::size_t place = place_of(host.empty() ? name : std::optional(host), row.maybe_integer(12));
    Line& line = lines_[place];
    if (!host.empty()) line.peers.insert(*name);
    note_removal(row, facts.name, line.line);
    const auto process = maybe_id<ProcessRowId>(row, 1);
    const std::string program = program_of(process, ImageRowId(row.integer(2)));
    add_user(line, user_number(process, program), counts);
    add(line.line, counts);
    if (query_.failed) add_outcome(row, facts.name, name, process);
    if (!query_.callers) return;
    Caller& caller = callers_[{place, process, program, facts.name, text(row, 13), text(row, 14)}];
    add(caller.counts, counts);
    caller.fallback = row.integer(15) != 0;
  }

  FileTable finish() {
    for (Line& line : lines_) {
      if (line.peers.size() > 1) line.line.peers = line.peers.size();
      if (line.peers.size() == 1) line.line.name = *line.peers.begin();
    }
    take_callers();
    std::vector<Line*> files;
    files.reserve(lines_.size());
    for (Line& line : lines_) files.push_back(&line);
    auto largest = top(std::move(files), query_.lines, [&](const Line* left, const Line* right) {
      const FileLine& a = left->line;
      const FileLine& b = right->line;
      return std::forward_as_tuple(weight(b, query_.order), b.calls, a.name, a.space) <
             std::forward_as_tuple(weight(a, query_.order), a.calls, b.name, b.space);
    });
    table_.files.total = largest.total;
    for (Line* line : largest.lines) table_.files.lines.push_back(with_users(*line));
    table_.failed = failures_.finish(query_.lines);
    table_.any_path = any_ || query_.paths.empty();
    if (!table_.any_path) table_.near = near_.found();
    return std::move(table_);
  }

 private:
  using User = std::pair<std::optional<ProcessRowId>, std::string>;  // and the program's name
  // Most objects have one user, whose counts are the line's.
  struct Line {
    FileLine line;
    std::uint32_t user = 0;  // the only one, without `users`
    std::unique_ptr<std::map<std::uint32_t, FileCounts>> users;
    std::unordered_set<std::string> peers = {};  // the names, if the line is one of a host's clients
  };
  struct Caller {
    FileCounts counts;
    bool fallback = false;
  };
  // Place of the object, process, program, call, function, module.
  using CallerKey =
      std::tuple<std::size_t, std::optional<ProcessRowId>, std::string, std::string, std::string, std::string>;

  std::size_t place_of(const std::optional<std::string>& name, std::optional<std::int64_t> space) {
    auto& places = places_[space.value_or(0)];
    if (name)
      if (const auto known = places.find(*name); known != places.end()) return known->second;
    if (!name && unnamed_) return *unnamed_;
    const std::size_t place = lines_.size();
    const std::optional<std::string>& kept = lines_.emplace_back().line.name = name;
    lines_.back().line.space = space;
    if (kept)
      places.emplace(*kept, place);
    else
      unnamed_ = place;
    return place;
  }

  // From then on, who has the file open has one without that name.
  static void note_removal(const SqlRow& row, const std::string& call, FileLine& line) {
    if (!row.is_null(6)) return;
    if (call == "flock") line.was_locked = true;
    const bool removes = call == "unlink" || call == "unlinkat" || row.text(5) == "target";
    if (removes) line.removed_event = std::max(line.removed_event, row.integer(11));
  }

  std::uint32_t user_number(const std::optional<ProcessRowId>& process, const std::string& program) {
    const auto [user, is_new] =
        user_numbers_.try_emplace({process, program}, static_cast<std::uint32_t>(users_.size()));
    if (is_new) users_.push_back(&user->first);
    return user->second;
  }

  // Before the counts are added to the line.
  static void add_user(Line& line, std::uint32_t user, const FileCounts& counts) {
    if (line.line.is_empty()) line.user = user;
    if (!line.users && line.user == user) return;
    if (!line.users) {
      line.users = std::make_unique<std::map<std::uint32_t, FileCounts>>();
      (*line.users)[line.user] = line.line;
    }
    add((*line.users)[user], counts);
  }

  FileLine with_users(Line& line) const {
    FileLine whole = std::move(line.line);
    const auto add_one = [&](std::uint32_t number, const FileCounts& counts) {
      const auto& [process, program] = *users_[number];
      whole.users.push_back({{counts}, pid_of(process), program});
    };
    if (!line.users) {
      add_one(line.user, whole);
      return whole;
    }
    for (const auto& [number, counts] : *line.users) add_one(number, counts);
    std::stable_sort(whole.users.begin(), whole.users.end(), [](const FileUser& a, const FileUser& b) {
      return std::tie(b.calls, a.pid, a.process) < std::tie(a.calls, b.pid, b.process);
    });
    return whole;
  }

  void take_callers() {
    std::vector<FileCaller> callers;
    callers.reserve(callers_.size());
    for (const auto& [key, caller] : callers_) {
      const auto& [place, process, program, call, function, module] = key;
      callers.push_back({{{caller.counts}, pid_of(process), program},
                         lines_[place].line.name,
                         call,
                         function,
                         module,
                         caller.fallback});
    }
    callers_.clear();
    table_.callers = top(std::move(callers), query_.lines, [&](const FileCaller& a, const FileCaller& b) {
      const bool by_change = query_.order == FileOrder::kTime;
      return std::forward_as_tuple(by_change && b.changes > 0, weight(b, query_.order), b.calls, a.name, a.pid, a.call,
                                   a.function, a.module) <
             std::forward_as_tuple(by_change && a.changes > 0, weight(a, query_.order), a.calls, b.name, b.pid, b.call,
                                   b.function, b.module);
    });
  }

  void add_outcome(const SqlRow& row, const std::string& call, const std::optional<std::string>& name,
                   const std::optional<ProcessRowId>& id) {
    if (row.is_null(6)) return failures_.add_success(id, name, row.integer(11));
    const Process* process = id ? catalog_.processes.find(*id) : nullptr;
    const Image* image = catalog_.images.find(ImageRowId(row.integer(2)));
    if (!image && process) image = catalog_.last_image(*process);
    failures_.add({.process = id,
                   .call = call,
                   .number = row.integer(6),
                   .name = name,
                   .events = count_of(row, 7),
                   .last_event = row.integer(11),
                   .by_application = !row.is_null(15) && row.integer(15) == 0,
                   .program_failed = process && (process->exit_code.value_or(0) != 0 || process->exit_signal),
                   .named_to_program = image && name && is_named(image->argv, last_component(*name))});
  }

  // Whether a word of the arguments, the program's name left out, has the text in it. Two letters may be there by
  // chance.
  static bool is_named(const std::string& argv, const std::string& text) {
    const std::size_t first = argv.find(',');
    return first != std::string::npos && text.size() > 2 && argv.find(text, first) != std::string::npos;
  }

  [[nodiscard]] std::optional<std::int64_t> pid_of(const std::optional<ProcessRowId>& id) const {
    const Process* process = id ? catalog_.processes.find(*id) : nullptr;
    return process ? std::optional(process->pid) : std::nullopt;
  }

  [[nodiscard]] std::string program_of(const std::optional<ProcessRowId>& id, ImageRowId image_id) const {
    const Image* image = catalog_.images.find(image_id);
    const Process* process = image || !id ? nullptr : catalog_.processes.find(*id);
    if (process) image = catalog_.last_image(*process);
    return image ? image->name : "";
  }

  const Catalog& catalog_;
  const FileQuery& query_;
  NearPaths near_;
  KindFacts unknown_kind_;
  std::unordered_map<KindRowId, KindFacts> kinds_;
  std::unordered_set<ImageRowId> images_;  // that the filter of processes means
  std::deque<Line> lines_;
  std::unordered_map<std::int64_t, std::unordered_map<std::string_view, std::size_t>>
      places_;  // by space, of the lines' names until finish()
  std::optional<std::size_t> unnamed_;
  std::map<User, std::uint32_t> user_numbers_;
  std::vector<const User*> users_;
  std::map<CallerKey, Caller> callers_;
  Failures failures_;
  FileTable table_;
  bool any_ = false;
};

}  // namespace

Result<FileTable> read_files(const store::Database& database, const Catalog& catalog, const FileQuery& query) {
  FileReader reader(catalog, query);
  // What failed is read first, and then what of it was found: this keeps names that matter only.
  std::string sql(kCounts);
  const bool triggers = query.callers || query.failed;
  if (triggers) sql.append(kTriggers).append(kIsFallback);
  sql += kTables;
  if (triggers) sql += kTriggerTables;
  const auto read = [&](std::string_view which) {
    return each_row(database, sql + std::string(which), [&](const SqlRow& row) { reader.add_row(row); });
  };
  auto done = read(query.failed ? " WHERE o.errno IS NOT NULL" : "");
  if (done && query.failed) done = read(" WHERE o.errno IS NULL");
  if (!done) return done.error();
  return reader.finish();
}

}  // namespace uscope::analyzer
