// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/files/holders.h"

#include <fcntl.h>
#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyzer/read/path_filter.h"
#include "analyzer/read/process_filter.h"
#include "analyzer/read/query.h"
#include "analyzer/read/trigger_modules.h"

namespace uscope::analyzer {
namespace {

constexpr std::string_view kBound = "socket:[at ";
constexpr std::string_view kHeld =
    "SELECT h.process_id, h.fd, s.value, h.until, h.until_ns, e.ts_ns, k.name, t.process_id, e.stack_id, "
    "stack.folded, frame.function, module.path, e.id, e.thread_id, ";
constexpr std::string_view kHeldTables =
    " FROM held_descriptor h LEFT JOIN string s ON s.id = h.string_id LEFT JOIN event e ON e.id = h.event_id "
    "LEFT JOIN kind k ON k.id = e.kind_id LEFT JOIN thread t ON t.id = e.thread_id "
    "LEFT JOIN stack ON stack.id = e.stack_id LEFT JOIN frame ON frame.id = stack.trigger_frame_id "
    "LEFT JOIN module ON module.id = frame.module_id ORDER BY h.process_id, e.ts_ns, h.fd";

// Program, opener, call, stack, how it ended; of what no event opened, and of what is inherited, the name too.
// Processes of a program that is not known have a group each.
using GroupKey =
    std::tuple<std::string, std::int64_t, std::int64_t, std::string, std::int64_t, std::string, std::string>;

class HolderReader {
 public:
  HolderReader(const Catalog& catalog, const HolderQuery& query) : catalog_(catalog), query_(query) {}

  void take(const SqlRow& row) {
    const ProcessRowId process(row.integer(0));
    if (!is_wanted(process) || !is_in_part(row, process)) return;
    if (row.integer(1) < 0) {
      unknown_.push_back(shown(process));
      return;
    }
    Holder holder;
    holder.until = row.text(3);
    if (!row.is_null(2)) holder.name = text(row, 2);
    if (query_.left_open_only && !holder.is_left_open()) return;
    if (query_.objects && !is_meant(holder.name, row.integer(12))) return;
    if (!query_.paths.empty() && (!holder.name || !path_matches(query_.paths, *holder.name))) return;
    const auto since_start = [&](int column) { return difference(row.integer(column), catalog_.start_ns); };
    const Process* found = catalog_.processes.find(process);
    if (found) holder.pid = found->pid;
    holder.process = name_of(process, row.is_null(4) ? kLast : row.integer(4) - 1);
    holder.fd = row.integer(1);
    if (!row.is_null(4)) holder.until_ns = since_start(4);
    if (!row.is_null(5)) holder.opened_ns = since_start(5);
    holder.call = text(row, 6);
    const ProcessRowId opener(row.integer(7));
    const bool inherited = !row.is_null(7) && opener != process;
    if (inherited) holder.opener = shown(opener, row.integer(5));
    holder.stack = text(row, 9);
    holder.function = text(row, 10);
    holder.module = text(row, 11);
    holder.fallback = row.integer(14) != 0;
    const bool by_name = row.is_null(5) || inherited;
    groups_[{holder.process, holder.process.empty() ? row.integer(0) : 0, inherited ? row.integer(7) : 0, holder.call,
             row.integer(8), holder.until, by_name ? holder.name.value_or("") : ""}]
        .holders.push_back(std::move(holder));
    descriptors_++;
  }

  HolderList finish() {
    HolderList list{{}, descriptors_, std::move(unknown_)};
    std::vector<HolderGroup> groups;
    groups.reserve(groups_.size());
    for (auto& [key, group] : groups_) groups.push_back(in_order(std::move(group)));
    list.groups = top(std::move(groups), query_.lines, [](const HolderGroup& a, const HolderGroup& b) {
      const Holder& one = a.holders.front();
      const Holder& other = b.holders.front();
      return std::forward_as_tuple(b.most_of_one, b.holders.size(), one.pid, one.opened_ns, one.fd) <
             std::forward_as_tuple(a.most_of_one, a.holders.size(), other.pid, other.opened_ns, other.fd);
    });
    return list;
  }

 private:
  static HolderGroup in_order(HolderGroup group) {
    std::map<std::optional<std::int64_t>, std::size_t> of_process;
    for (const Holder& holder : group.holders)
      group.most_of_one = std::max(group.most_of_one, ++of_process[holder.pid]);
    group.processes = of_process.size();
    std::stable_sort(group.holders.begin(), group.holders.end(),
                     [](const Holder& a, const Holder& b) { return a.opened_ns < b.opened_ns; });
    return group;
  }

  [[nodiscard]] bool is_meant(const std::optional<std::string>& name, std::int64_t event) const {
    // A socket that was bound to any port has got its address after the last call that is listed at it.
    if (name && !query_.paths.empty() && name->starts_with(kBound)) return true;
    const auto object = name ? query_.objects->find(*name) : query_.objects->end();
    return object != query_.objects->end() && (object->second == 0 || event < object->second);
  }

  // What no event opened was open when its process began, or came into the trace: it is of the process's first thread.
  [[nodiscard]] bool is_in_part(const SqlRow& row, ProcessRowId id) const {
    if (query_.part == nullptr || query_.part->is_all()) return true;
    const Process* process = catalog_.processes.find(id);
    if (row.integer(1) < 0) return process != nullptr && query_.part->has(*process);
    if (const Thread* opener = catalog_.threads.find(ThreadRowId(row.integer(13))))
      return query_.part->has(*opener, row.integer(5));
    for (const Thread& thread : catalog_.threads)
      if (thread.process_id == id && process != nullptr && thread.tid == process->pid)
        return query_.part->has(thread, std::max(thread.start_ns.value_or(catalog_.start_ns), catalog_.start_ns));
    return !query_.part->chooses_tasks() && query_.part->has(catalog_.start_ns);
  }

  [[nodiscard]] bool is_wanted(ProcessRowId id) const {
    if (query_.processes.empty()) return true;
    const Process* process = catalog_.processes.find(id);
    return process && std::any_of(process->images.begin(), process->images.end(), [&](ImageRowId image_id) {
             const Image* image = catalog_.images.find(image_id);
             return image && goes_by(*image, query_.processes);
           });
  }

  // Of its program at a time.
  [[nodiscard]] std::string name_of(ProcessRowId id, std::int64_t ts_ns) const {
    const Process* process = catalog_.processes.find(id);
    const Image* image = process ? catalog_.image_at(*process, ts_ns) : nullptr;
    return image ? image->name : "";
  }

  [[nodiscard]] std::string shown(ProcessRowId id, std::int64_t ts_ns = kLast) const {
    const Process* process = catalog_.processes.find(id);
    const std::string name = name_of(id, ts_ns);
    return fmt::format("{}[{}]", name.empty() ? "?" : name, process ? std::to_string(process->pid) : "?");
  }

  static constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();

  const Catalog& catalog_;
  const HolderQuery& query_;
  std::map<GroupKey, HolderGroup> groups_;
  std::uint64_t descriptors_ = 0;
  std::vector<std::string> unknown_;
};

}  // namespace

Result<HolderList> read_holders(const store::Database& database, const Catalog& catalog, const HolderQuery& query) {
  HolderReader reader(catalog, query);
  const std::string sql = std::string(kHeld) + kIsFallback + std::string(kHeldTables);
  auto done = each_row(database, sql, [&](const SqlRow& row) { reader.take(row); });
  if (!done) return done.error();
  return reader.finish();
}

namespace {

// Of files that a process locked by fcntl; other locks are calls of their own.
Result<std::set<std::string>> names_locked(const store::Database& database) {
  std::set<std::string> names;
  auto done = each_row(
      database,
      fmt::format("SELECT DISTINCT s.value FROM kind k JOIN event e ON e.kind_id = k.id JOIN event_string es ON "
                  "es.event_id = e.id AND es.arg = 0 JOIN string s ON s.id = es.string_id "
                  "WHERE k.name = 'fcntl' AND e.a1 IN ({}, {}, {}, {})",
                  F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW),
      [&](const SqlRow& row) { names.insert(text(row, 0)); });
  if (!done) return done.error();
  return names;
}

}  // namespace

Result<HolderList> read_holders_of(const store::Database& database, const Catalog& catalog,
                                   const std::vector<FileLine>& files, HolderQuery query) {
  const auto locked = names_locked(database);
  if (!locked) return locked.error();
  query.objects.emplace();
  for (const FileLine& file : files) {
    if (!file.name) continue;
    const bool has_address = file.name->starts_with(kBound);
    const bool is_removed = file.name->ends_with(" (deleted)") && !file.name->starts_with("/memfd:");
    if (has_address || is_removed || file.was_locked || locked->count(*file.name) != 0)
      query.objects->emplace(*file.name, 0);
    else if (file.removed_event != 0)
      query.objects->emplace(*file.name, file.removed_event);
  }
  return query.objects->empty() && query.paths.empty() ? Result<HolderList>(HolderList())
                                                       : read_holders(database, catalog, query);
}

}  // namespace uscope::analyzer
