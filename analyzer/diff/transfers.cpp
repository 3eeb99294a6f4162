// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/diff/transfers.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "analyzer/diff/call_traits.h"
#include "analyzer/diff/identity.h"
#include "analyzer/diff/rates.h"
#include "analyzer/read/query.h"

namespace uscope::analyzer {
namespace {

using Key = std::pair<std::string, Direction>;

std::vector<double> bytes_by_run(const std::vector<ObjectBytes>& runs, const Key& key) {
  std::vector<double> values;
  for (const ObjectBytes& run : runs) {
    const auto found = run.find(key);
    values.push_back(found == run.end() ? 0 : static_cast<double>(found->second));
  }
  return values;
}

}  // namespace

std::string transferring_kinds(const KindNames& kinds) {
  std::string list;
  for (const auto& [kind, name] : kinds)
    if (transfer_of_kind(name).counts_bytes) list += (list.empty() ? "" : ",") + to_string(kind);
  return list;
}

Result<ObjectBytes> read_object_bytes(const store::Database& database, const RunFacts& facts) {
  auto kinds = read_kinds(database);
  if (!kinds) return kinds.error();
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::uint64_t> counted;  // by kind, argument, string
  constexpr std::uint64_t kMost = std::uint64_t{1} << 62;  // a store may hold any numbers
  auto done = each_row(database,
                       "SELECT e.kind_id, es.arg, es.string_id, e.result FROM event_string es CROSS JOIN event e ON "
                       "e.id = es.event_id WHERE es.source = 2 AND e.result > 0 AND e.kind_id IN (" +
                           transferring_kinds(*kinds) + ")",
                       [&](const SqlRow& row) {
                         std::uint64_t& bytes = counted[{row.integer(0), row.integer(1), row.integer(2)}];
                         bytes = std::min(kMost, bytes + std::min(kMost, static_cast<std::uint64_t>(row.integer(3))));
                       });
  if (!done) return done.error();
  auto string = database.prepare("SELECT value FROM string WHERE id = ?1");
  if (!string) return string.error();
  ObjectBytes objects;
  for (const auto& [key, bytes] : counted) {
    const auto& [kind, argument, id] = key;
    const syscalls::Transfer transfer = transfer_of_kind((*kinds)[KindRowId(kind)]);
    const bool copies = transfer.source >= 0;
    const bool reads = copies ? argument == transfer.source : transfer.reads;
    if (copies && !reads && argument != transfer.target) continue;
    std::string name;
    string->bind(1, id);
    done = each(*string, [&](const SqlRow& row) { name = argument_identity(row.text(0), facts.tasks); });
    if (!done) return done.error();
    if (name.empty()) continue;
    std::uint64_t& sum = objects[{name, reads ? Direction::kRead : Direction::kWritten}];
    sum = std::min(kMost, sum + bytes);
  }
  return objects;
}

std::vector<ChangedObject> compare_objects(const std::vector<ObjectBytes>& normal,
                                           const std::vector<ObjectBytes>& abnormal, const Exposure& exposure) {
  std::set<Key> keys;
  for (const auto* side : {&normal, &abnormal})
    for (const ObjectBytes& run : *side)
      for (const auto& [key, bytes] : run) keys.insert(key);
  const std::vector<double> one_before(normal.size(), 1);
  const std::vector<double> one_after(abnormal.size(), 1);
  std::vector<ChangedObject> changed;
  for (const Key& key : keys) {
    const std::vector<double> before = bytes_by_run(normal, key);
    const std::vector<double> after = bytes_by_run(abnormal, key);
    const Rates rates{{before, exposure.normal}, {after, exposure.abnormal}};
    const Rates counts{{before, one_before}, {after, one_after}};
    const Rates& shown = exposure.by_work ? rates : counts;
    if (!is_large_ratio(shown.nearest_ratio()) || shown.excess() < kLeastBytes) continue;
    if (!exposure.by_work && !is_large_ratio(rates.nearest_ratio())) continue;
    const double effect = shown.ratio();
    const double excess = exposure.by_work ? counts.excess() : shown.excess();
    changed.push_back({.object = key.first,
                       .direction = key.second,
                       .before = shown.before.rate(),
                       .after = shown.after.rate(),
                       .effect = effect,
                       .score = std::min(std::abs(std::log2(effect)), 10.0) * std::log2(1 + excess)});
  }
  std::stable_sort(changed.begin(), changed.end(),
                   [](const ChangedObject& a, const ChangedObject& b) { return a.score > b.score; });
  return changed;
}

}  // namespace uscope::analyzer
