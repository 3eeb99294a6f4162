// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// An event does not tell in which folder a relative path begins, but `object` has the whole name. Any texts that make
// this name are as good: readers show only the name.
#include "analyzer/read/part_objects.h"

#include <algorithm>

#include "analyzer/read/query.h"
#include "store/write/string_writer.h"
#include "trace/names.h"
#include "trace/object_name.h"

namespace uscope::analyzer {
namespace {

std::optional<std::string> maybe_text(const SqlRow& row, int column) {
  return row.is_null(column) ? std::nullopt : std::optional(text(row, column));
}

}  // namespace

Result<PartObjects> PartObjects::create(const store::Database& database, const Catalog& catalog) {
  auto names = database.prepare("SELECT name FROM object WHERE id = ?1");
  if (!names) return names.error();
  auto strings = database.prepare(
      "SELECT es.arg, es.string_id, es.source, s.value = '' FROM event_string es JOIN string s ON s.id = es.string_id "
      "WHERE es.event_id = ?1");
  if (!strings) return strings.error();
  PartObjects objects(std::move(*names), std::move(*strings));
  if (auto done = objects.learn(database, catalog); !done) return done.error();
  return objects;
}

std::size_t PartObjects::relation_of(const std::string& call) {
  const std::string relation(trace::address_relation(call));
  const auto at = std::find(relations_.begin(), relations_.end(), relation);
  const auto place = static_cast<std::size_t>(at - relations_.begin());
  if (at == relations_.end()) {
    relations_.push_back(relation);
    by_name_.emplace_back();
    known_.emplace_back();
  }
  return place;
}

Result<void> PartObjects::learn(const store::Database& database, const Catalog& catalog) {
  for (const analyzer::Kind& kind : catalog.kinds) {
    const auto abi = kind.is_call() ? trace::abi_of_name(kind.abi) : std::nullopt;
    const bool has_number = abi && kind.nr >= 0 && kind.nr <= UINT32_MAX;
    kinds_.push_back({has_number ? &store::object_args_of(*abi, static_cast<std::uint32_t>(kind.nr)) : nullptr,
                      relation_of(kind.name)});
    kind_ids_.push_back(kind.id);
  }
  auto done =
      each_row(database,
               "SELECT o.kind_id, o.process_id, o.image_id, o.folder_id, o.string_id, f.value, s.value, o.part, "
               "o.space, o.last_event_id FROM " +
                   database.table("object_total") +
                   " o LEFT JOIN string f ON f.id = o.folder_id LEFT JOIN string s ON s.id = o.string_id",
               [&](const SqlRow& row) {
                 const KindRowId id(row.integer(0));
                 const analyzer::Kind* kind = catalog.kinds.find(id);
                 if (kind == nullptr) return;
                 const Texts texts{store::StringRowId(row.integer(3)), store::StringRowId(row.integer(4))};
                 if (row.text(7) == "target") {
                   target_folders_[{id, ProcessRowId(row.integer(1)), texts.second}].push_back(
                       {texts.first, EventRowId(row.integer(9))});
                 }
                 if (row.text(7) != "call") return;
                 const std::size_t relation = kinds_[catalog.kinds.index_of(*kind)].relation;
                 const auto name = trace::object_name(relations_[relation], maybe_text(row, 5), maybe_text(row, 6));
                 if (!name) return;
                 const auto at = by_name_[relation].try_emplace(*name, texts).first;
                 if (!row.is_null(8))
                   spaces_[{id, ProcessRowId(row.integer(1)), ImageRowId(row.integer(2)), at->second}] =
                       static_cast<std::uint32_t>(row.integer(8));
               });
  for (auto& [call, folders] : target_folders_)
    std::sort(folders.begin(), folders.end(),
              [](const TargetFolder& a, const TargetFolder& b) { return a.last < b.last; });
  return done;
}

Result<PartObjects::Texts> PartObjects::texts_of(std::int64_t object, std::size_t relation) {
  const auto [at, is_new] = known_[relation].try_emplace(object);
  if (!is_new) return at->second;
  object_name_.bind(1, object);
  auto done = each(object_name_, [&, place = &at->second](const SqlRow& row) {
    const auto named = by_name_[relation].find(text(row, 0));
    if (named != by_name_[relation].end()) *place = named->second;
  });
  if (!done) return done.error();
  return at->second;
}

// The second path, what is read from, and an empty path, which is no object's name.
Result<void> PartObjects::add_arguments(const Call& call, const syscalls::ObjectArgs& args, store::CallObject& object) {
  constexpr auto kDescriptor = static_cast<std::int64_t>(store::StringSource::kDescriptor);
  store::StringRowId given;  // for the second path's folder
  strings_.bind(1, call.event);
  auto done = each(strings_, [&](const SqlRow& row) {
    const std::int64_t arg = row.integer(0);
    const store::StringRowId string(row.integer(1));
    const bool of_descriptor = row.integer(2) == kDescriptor;
    if (object.has_source && of_descriptor && arg == args.source) object.source = string;
    if (object.has_target && !of_descriptor && arg == args.target) object.target = string;
    if (object.has_target && of_descriptor && args.target_folder >= 0 && arg == args.target_folder) given = string;
    const bool is_empty = row.integer(3) != 0;
    if (call.object == 0 && is_empty && !of_descriptor && arg == args.path) object.name = string;
  });
  if (!done || !object.has_target || !object.target) return done;
  const auto folders = target_folders_.find({kind_ids_[call.kind], call.process, object.target});
  if (folders == target_folders_.end() || folders->second.empty()) return done;
  const std::vector<TargetFolder>& all = folders->second;
  const auto has = [&](store::StringRowId folder) {
    return folder && std::any_of(all.begin(), all.end(), [&](const TargetFolder& one) { return one.folder == folder; });
  };
  // Both paths of a call without folders begin in the working directory. If the first one does not tell: a process
  // seldom comes back to a directory.
  const auto next =
      std::find_if(all.begin(), all.end(), [&](const TargetFolder& one) { return one.last >= call.event; });
  object.target_folder = has(given)           ? given
                         : has(object.folder) ? object.folder
                                              : (next == all.end() ? all.back() : *next).folder;
  return done;
}

Result<store::CallObject> PartObjects::of(const Call& call) {
  const Kind& kind = kinds_[call.kind];
  if (kind.args == nullptr) return store::CallObject();
  store::CallObject object = store::object_without_names(*kind.args, call.arguments);
  if (!object.is_about_any) return object;
  if (call.object != 0) {
    const auto texts = texts_of(call.object, kind.relation);
    if (!texts) return texts.error();
    std::tie(object.folder, object.name) = *texts;
    if (!spaces_.empty()) {
      const auto space = spaces_.find({kind_ids_[call.kind], call.process, call.image, *texts});
      if (space != spaces_.end()) object.space = space->second;
    }
  }
  const bool may_be_empty = call.object == 0 && kind.args->path >= 0;
  if (object.has_source || object.has_target || may_be_empty)
    if (auto done = add_arguments(call, *kind.args, object); !done) return done.error();
  return object;
}

}  // namespace uscope::analyzer
