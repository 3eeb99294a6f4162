#include "store/descriptor_table.h"

#include <unordered_set>

namespace uscope::store {

void DescriptorTable::count(std::size_t entries) {
  entered_ += entries;
  if (entered_ <= kMost) return;
  std::unordered_set<const Entries*> seen;
  entered_ = 0;
  for (const auto& [process, table] : tables_)
    if (seen.insert(table->entries.get()).second) entered_ += table->entries->size();
  if (entered_ <= kMost / 2) return;
  forget_all();
  entered_ = 0;
}

DescriptorTable::Entries& DescriptorTable::writable(std::uint32_t process) {
  auto& table = tables_[process];
  if (!table) table = std::make_shared<Table>(Table{std::make_shared<Entries>()});
  if (table->entries.use_count() > 1) {
    const std::shared_ptr<Table> held = table;  // count() may forget it
    held->entries = std::make_shared<Entries>(*held->entries);
    count(held->entries->size());
    return *(tables_[process] = held)->entries;
  }
  return *table->entries;
}

void DescriptorTable::set(std::uint32_t process, int fd, Descriptor descriptor) {
  count(1);
  Entries& entries = writable(process);
  if (entries.size() < kMostOfOne || entries.count(fd) != 0) entries[fd] = descriptor;
}

void DescriptorTable::close_range(std::uint32_t process, int first, int last) {
  const auto at = tables_.find(process);
  if (at == tables_.end() || first < 0 || first > last) return;
  const Entries& now = *at->second->entries;
  const auto begin = now.lower_bound(first);
  if (begin == now.end() || begin->first > last) return;
  Entries& entries = writable(process);
  entries.erase(entries.lower_bound(first), entries.upper_bound(last));
}

void DescriptorTable::set_close_on_exec(std::uint32_t process, int first, int last, bool value) {
  const auto at = tables_.find(process);
  if (at == tables_.end() || first < 0 || first > last) return;
  Entries& entries = writable(process);
  for (auto entry = entries.lower_bound(first); entry != entries.end() && entry->first <= last; ++entry)
    entry->second.close_on_exec = value;
}

const Descriptor* DescriptorTable::find(std::uint32_t process, int fd) const {
  const auto at = tables_.find(process);
  if (at == tables_.end()) return nullptr;
  const auto entry = at->second->entries->find(fd);
  return entry == at->second->entries->end() ? nullptr : &entry->second;
}

void DescriptorTable::fork(std::uint32_t child, std::uint32_t parent) {
  const auto at = tables_.find(parent);
  if (at == tables_.end()) return forget(child);
  const auto entries = at->second->entries;
  tables_[child] = std::make_shared<Table>(Table{entries});
}

void DescriptorTable::share(std::uint32_t child, std::uint32_t parent) {
  writable(parent);
  const auto table = tables_[parent];
  tables_[child] = table;
}

void DescriptorTable::exec(std::uint32_t process) {
  const auto at = tables_.find(process);
  if (at == tables_.end()) return;
  Entries kept;
  for (const auto& [fd, descriptor] : *at->second->entries)
    if (!descriptor.close_on_exec) kept.emplace_hint(kept.end(), fd, descriptor);
  count(kept.size());
  tables_[process] = std::make_shared<Table>(Table{std::make_shared<Entries>(std::move(kept))});
}

}  // namespace uscope::store
