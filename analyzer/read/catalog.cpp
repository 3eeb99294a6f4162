// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/read/catalog.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <limits>

#include "analyzer/read/query.h"
#include "syscalls/call_traits.h"
#include "syscalls/errno_names.h"
#include "trace/names.h"

namespace uscope::analyzer {
namespace {

Result<void> read_meta(const store::Database& database, Catalog& catalog) {
  return each_row(database, "SELECT key, value FROM meta",
                  [&](const SqlRow& row) { catalog.meta[text(row, 0)] = text(row, 1); });
}

Result<void> read_kinds(const store::Database& database, Catalog& catalog) {
  auto done = each_row(database, "SELECT id, name, class, abi, nr FROM kind ORDER BY id", [&](const SqlRow& row) {
    const bool waits = row.text(2) == trace::source_name(USC_SOURCE_SYSCALL) && syscalls::waits(row.text(1));
    catalog.kinds.append(
        {KindRowId(row.integer(0)), text(row, 1), text(row, 2), text(row, 3), row.integer(4), waits, {}, {}});
  });
  if (!done) return done;
  done =
      each_row(database, "SELECT kind_id, name, type FROM kind_argument ORDER BY kind_id, arg", [&](const SqlRow& row) {
        Kind* kind = catalog.kinds.find(KindRowId(row.integer(0)));
        if (kind) kind->arguments.push_back({text(row, 1), text(row, 2)});
      });
  if (!done) return done;
  return each_row(database, "SELECT kind_id, type FROM kind_result", [&](const SqlRow& row) {
    Kind* kind = catalog.kinds.find(KindRowId(row.integer(0)));
    if (kind) kind->result_type = text(row, 1);
  });
}

Origin origin_of(std::string_view name) {
  if (name == "exec") return Origin::kExec;
  if (name == "fork") return Origin::kFork;
  return name == "clone" ? Origin::kClone : Origin::kUnknown;
}

Result<void> read_processes(const store::Database& database, Catalog& catalog) {
  return each_row(database,
                  "SELECT id, pid, ns_pid, parent_id, start_ns, end_ns, exit_code, exit_signal, uses_io_uring, space, "
                  "origin "
                  "FROM process ORDER BY id",
                  [&](const SqlRow& row) {
                    Process process;
                    process.id = ProcessRowId(row.integer(0));
                    process.pid = row.integer(1);
                    process.ns_pid = row.integer(2);
                    process.parent_id = ProcessRowId(row.integer(3));
                    process.start_ns = row.maybe_integer(4);
                    process.end_ns = row.maybe_integer(5);
                    process.exit_code = row.maybe_integer(6);
                    process.exit_signal = row.maybe_integer(7);
                    process.uses_io_uring = !row.is_null(8) && row.integer(8) != 0;
                    process.may_use_io_uring = row.is_null(8) || process.uses_io_uring;
                    process.space = SpaceId(row.integer(9));
                    process.origin = origin_of(row.text(10));
                    catalog.processes.append(std::move(process));
                  });
}

Result<void> read_stopped(const store::Database& database, Catalog& catalog) {
  return each_row(
      database,
      "SELECT process_id FROM thread_look JOIN thread ON thread.id = thread_id WHERE state != 'ended' GROUP BY "
      "process_id HAVING min(state = 'stopped') = 1",
      [&](const SqlRow& row) {
        Process* process = catalog.processes.find(ProcessRowId(row.integer(0)));
        if (process != nullptr) process->stopped = !process->end_ns;
      });
}

Result<void> read_images(const store::Database& database, Catalog& catalog) {
  auto done = each_row(
      database, "SELECT id, process_id, ts_ns, path, argv, name, names FROM image ORDER BY id", [&](const SqlRow& row) {
        const Image& image =
            catalog.images.append({ImageRowId(row.integer(0)), ProcessRowId(row.integer(1)), row.maybe_integer(2),
                                   text(row, 3), text(row, 4), text(row, 5), text(row, 6)});
        if (Process* process = catalog.processes.find(image.process_id)) process->images.push_back(image.id);
      });
  if (!done) return done;
  const auto earlier = [&](ImageRowId a, ImageRowId b) {
    return catalog.images.find(a)->ts_ns < catalog.images.find(b)->ts_ns;
  };
  for (Process& process : catalog.processes) std::stable_sort(process.images.begin(), process.images.end(), earlier);
  return {};
}

Result<void> read_threads(const store::Database& database, Catalog& catalog) {
  return each_row(
      database, "SELECT id, process_id, tid, ns_tid, name, start_ns, end_ns, left_ns FROM thread ORDER BY id",
      [&](const SqlRow& row) {
        const ProcessRowId process_id(row.integer(1));
        catalog.threads.append({ThreadRowId(row.integer(0)), process_id, row.integer(2), row.integer(3), text(row, 4),
                                row.maybe_integer(5), row.maybe_integer(6), row.maybe_integer(7)});
        if (Process* process = catalog.processes.find(process_id)) process->threads++;
      });
}

Result<void> read_thread_names(const store::Database& database, Catalog& catalog) {
  return each_row(database, "SELECT thread_id, ts_ns, name FROM thread_name", [&](const SqlRow& row) {
    if (Thread* thread = catalog.threads.find(ThreadRowId(row.integer(0))))
      thread->names.insert_or_assign(row.integer(1), text(row, 2));
  });
}

Result<void> read_thread_users(const store::Database& database, Catalog& catalog) {
  return each_row(database, "SELECT thread_id, ts_ns, uid FROM thread_user", [&](const SqlRow& row) {
    if (Thread* thread = catalog.threads.find(ThreadRowId(row.integer(0))))
      thread->users.insert_or_assign(row.integer(1), row.integer(2));
  });
}

// Reads the times in meta or, in a store without them, those of the first and last event.
Result<void> read_span(const store::Database& database, Catalog& catalog) {
  const auto start = catalog.meta_number("start_ns");
  const auto duration = catalog.meta_number("duration_ns");
  std::optional<std::int64_t> first;
  std::optional<std::int64_t> last;
  if (!start || !duration) {
    auto done =
        each_row(database, "SELECT min(ts_ns), max(ts_ns + coalesce(dur_ns, 0)) FROM event", [&](const SqlRow& row) {
          first = row.maybe_integer(0);
          last = row.maybe_integer(1);
        });
    if (!done) return done;
  }
  catalog.start_ns = start.value_or(first.value_or(0));
  catalog.end_ns = duration ? difference(catalog.start_ns, -*duration) : last.value_or(catalog.start_ns);
  return {};
}

}  // namespace

bool Kind::is_call() const {
  return source == trace::source_name(USC_SOURCE_SYSCALL);
}

bool Kind::is_sample() const {
  return source == trace::source_name(USC_SOURCE_SAMPLE);
}

std::string Kind::label() const {
  return is_of_probes(source) ? source + ":" + name : name;
}

bool is_of_probes(std::string_view source) {
  for (std::uint32_t number = 0; number < USC_SOURCE_COUNT; number++)
    if (trace::source_name(number) == source) return trace::is_of_probes(number);
  return false;
}

Result<Catalog> read_catalog(const store::Database& database) {
  Catalog catalog;
  for (const auto read : {read_meta, read_kinds, read_processes, read_stopped, read_images, read_threads,
                          read_thread_names, read_thread_users, read_span}) {
    auto done = read(database, catalog);
    if (!done) return done.error();
  }
  return catalog;
}

const Image* Catalog::inherited_image(const Process& process) const {
  constexpr int kAncestors = 1000;  // parent links may form a cycle
  const Process* child = &process;
  for (int i = 0; i < kAncestors; i++) {
    const Process* parent = processes.find(child->parent_id);
    if (!parent) return nullptr;
    for (auto id = parent->images.rbegin(); id != parent->images.rend(); ++id) {
      const Image* image = images.find(*id);
      if (!child->start_ns || !image->ts_ns || *image->ts_ns <= *child->start_ns) return image;
    }
    child = parent;
  }
  return nullptr;
}

const std::string& Thread::name_at(std::int64_t ts_ns) const {
  const auto next = names.upper_bound(ts_ns);
  return next == names.begin() ? name : std::prev(next)->second;
}

const Image* Catalog::image_at(const Process& process, std::int64_t ts_ns) const {
  for (auto id = process.images.rbegin(); id != process.images.rend(); ++id) {
    const Image* image = images.find(*id);
    if (image && (!image->ts_ns || *image->ts_ns <= ts_ns)) return image;
  }
  const Image* inherited = inherited_image(process);
  return inherited || process.images.empty() ? inherited : images.find(process.images.front());
}

std::vector<std::string> Thread::names_since(std::int64_t ts_ns) const {
  constexpr std::size_t kMost = 16;
  std::vector<std::string> list;
  const auto add = [&](const std::string& one) {
    if (one != name && std::find(list.begin(), list.end(), one) == list.end()) list.push_back(one);
  };
  add(name_at(ts_ns));
  for (auto at = names.upper_bound(ts_ns); at != names.end() && list.size() + 1 < kMost; ++at) add(at->second);
  list.push_back(name);
  return list;
}

const Image* Catalog::last_image(const Process& process) const {
  if (!process.images.empty()) return images.find(process.images.back());
  return inherited_image(process);
}

std::optional<std::int64_t> Catalog::meta_number(const std::string& key) const {
  const auto at = meta.find(key);
  if (at == meta.end()) return std::nullopt;
  char* end = nullptr;
  const long long value = std::strtoll(at->second.c_str(), &end, 10);
  if (end == at->second.c_str()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> Catalog::since_1970(std::int64_t since_start_ns) const {
  const auto offset = meta_number("utc_offset_ns");
  if (!offset) return std::nullopt;
  return difference(difference(start_ns, difference(0, since_start_ns)), difference(0, *offset));
}

std::optional<std::int64_t> Catalog::since_start(std::optional<std::int64_t> ts_ns) const {
  if (!ts_ns) return std::nullopt;
  return difference(*ts_ns, start_ns);
}

std::int64_t difference(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (!__builtin_sub_overflow(a, b, &result)) return result;
  return a < b ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
}

std::string error_name(std::int64_t number) {
  const std::string_view name =
      number > 0 && number <= syscalls::kLastErrno ? syscalls::errno_name(static_cast<int>(number)) : "";
  return name.empty() ? std::to_string(number) : std::string(name);
}

}  // namespace uscope::analyzer
