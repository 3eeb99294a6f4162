// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/backend/bpf_rows.h"

#include <bpf/bpf.h>
#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

#include "uscope/file_slots.h"

namespace uscope::tracer {

Result<void> BpfRows::open(const uscope_bpf& skeleton, const BackendSizes& sizes) {
  sizes_ = sizes;
  files_fd_ = bpf_map__fd(skeleton.maps.files);
  rules_fd_ = bpf_map__fd(skeleton.maps.rules);
  free_rows_ = FreeRanges(sizes.rows);
  free_index_ = FreeRanges(sizes.index_entries);
  if (auto opened = rows_.open(bpf_map__fd(skeleton.maps.rows), std::size_t{sizes.rows} * sizeof(usc_row), "rows");
      !opened)
    return opened;
  return index_.open(bpf_map__fd(skeleton.maps.row_index), std::size_t{sizes.index_entries} * sizeof(__u32),
                     "row_index");
}

Result<void> BpfRows::put_file(trace::FileId file, const usc_file_entry& entry) {
  usc_file_entry whole = entry;
  whole.serial = file.value();
  whole.turn = file.value() / USC_FILE_SLOTS + 1;
  return put_slot(file, whole);
}

Result<void> BpfRows::put_slot(trace::FileId file, const usc_file_entry& entry) {
  const std::uint32_t slot = usc_file_slot(file.value());
  if (bpf_map_update_elem(files_fd_, &slot, &entry, BPF_ANY) != 0)
    return errno_error(fmt::format("cannot publish file {} to the BPF programs", file.value()), errno);
  return {};
}

Result<trace::FileId> BpfRows::take_file(std::uint32_t& counter) {
  for (int i = 0; i < static_cast<int>(USC_FILE_TRIES); i++) {
    const std::uint32_t number = __atomic_add_fetch(&counter, 1, __ATOMIC_SEQ_CST);
    const std::uint32_t slot = usc_file_slot(number);
    usc_file_entry entry{};
    if (bpf_map_lookup_elem(files_fd_, &slot, &entry) != 0) return errno_error("cannot look for a file serial", errno);
    const trace::FileId serial(usc_file_take_slot(&entry, number));
    if (!serial) continue;
    if (auto put = put_slot(serial, entry); !put) return put.error();
    return serial;
  }
  return Error{"no file serials are free", ""};
}

Result<void> BpfRows::free_slot(trace::FileId file) {
  return put_slot(file, usc_file_free_slot(file.value()));
}

Result<void> BpfRows::release(std::span<const trace::FileId> files,
                              const std::function<Result<void>()>& wait_for_programs) {
  if (auto done = withdraw(files, wait_for_programs); !done) return done;
  for (const trace::FileId file : files)
    if (auto done = free_slot(file); !done) return done;
  return {};
}

// A table that is published again finds its rules where they were.
Result<std::optional<std::uint32_t>> BpfRows::copy_rules(const std::vector<usc_rule>& rules) {
  if (const auto known = rule_bases_.find(rules); known != rule_bases_.end()) return std::optional(known->second);
  const auto count = static_cast<std::uint32_t>(rules.size());
  if (count > sizes_.rules - rules_used_) return std::optional<std::uint32_t>();
  for (std::uint32_t i = 0; i < count; i++) {
    const std::uint32_t number = rules_used_ + i;
    if (bpf_map_update_elem(rules_fd_, &number, &rules[i], BPF_ANY) != 0)
      return errno_error("cannot publish unwind rules to the BPF programs", errno);
  }
  const std::uint32_t base = std::exchange(rules_used_, rules_used_ + count);
  rule_bases_.emplace(rules, base);
  return std::optional(base);
}

Result<std::optional<usc_file_rows>> BpfRows::copy_rows(const symbolizer::UnwindTable& table) {
  const auto rows = static_cast<std::uint32_t>(table.rows.size());
  const auto entries = static_cast<std::uint32_t>(table.index.size());
  const auto row_base = free_rows_.take(rows);
  const auto index_base = row_base ? free_index_.take(entries) : std::nullopt;
  auto rule_base = index_base ? copy_rules(table.rules) : Result(std::optional<std::uint32_t>());
  if (!rule_base || !*rule_base) {
    if (row_base) free_rows_.give_back(*row_base, rows);
    if (index_base) free_index_.give_back(*index_base, entries);
    if (!rule_base) return rule_base.error();
    return std::optional<usc_file_rows>();
  }
  std::copy(table.rows.begin(), table.rows.end(), rows_.as<usc_row>() + *row_base);
  std::copy(table.index.begin(), table.index.end(), index_.as<__u32>() + *index_base);
  return std::optional(usc_file_rows{.row_base = *row_base,
                                     .row_count = rows,
                                     .index_base = *index_base,
                                     .rule_base = **rule_base,
                                     .rule_count = static_cast<__u32>(table.rules.size()),
                                     .text_start = table.text_start,
                                     .text_end = table.text_end,
                                     .pad = 0});
}

bool BpfRows::may_fit(const symbolizer::UnwindTable& table) const {
  return table.rows.size() <= sizes_.rows && table.index.size() <= sizes_.index_entries &&
         (rule_bases_.count(table.rules) != 0 || table.rules.size() <= sizes_.rules - rules_used_);
}

Result<Publish> BpfRows::publish(trace::FileId file, const Table& table, std::uint32_t classes) {
  auto published = published_.find(table);
  if (published == published_.end()) {
    const auto place = copy_rows(*table);
    if (!place) return place.error();
    if (!*place) return may_fit(*table) ? Publish::kNoRoom : Publish::kNever;
    const auto entries = static_cast<std::uint32_t>(table->index.size());
    published = published_.emplace(table, Published{**place, entries, 0}).first;
  }
  published->second.files++;
  tables_[file] = {table, classes};
  usc_file_entry entry{};
  entry.rows = published->second.place;
  entry.classes = classes;
  entry.state = USC_FILE_PENDING;
  if (auto put = put_file(file, entry); !put) return put.error();
  // An array value is copied word by word: its state may only say READY when all the rest is there.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  entry.state = USC_FILE_READY;
  if (auto put = put_file(file, entry); !put) return put.error();
  return Publish::kDone;
}

Result<void> BpfRows::withdraw(std::span<const trace::FileId> files,
                               const std::function<Result<void>()>& wait_for_programs) {
  for (const trace::FileId file : files) {
    const auto table = tables_.find(file);
    if (table == tables_.end()) continue;
    // A walk may be reading the entry: nothing but its state changes.
    usc_file_entry entry{};
    entry.rows = published_.at(table->second.table).place;
    entry.classes = table->second.classes;
    entry.state = USC_FILE_USER_ONLY;
    if (auto put = put_file(file, entry); !put) return put;
  }
  if (auto waited = wait_for_programs(); !waited) return waited;
  for (const trace::FileId file : files) {
    const auto table = tables_.find(file);
    if (table == tables_.end()) continue;
    const auto published = published_.find(table->second.table);
    tables_.erase(table);
    if (--published->second.files != 0) continue;
    free_rows_.give_back(published->second.place.row_base, published->second.place.row_count);
    free_index_.give_back(published->second.place.index_base, published->second.index_count);
    published_.erase(published);
  }
  return {};
}

Result<void> BpfRows::publish_state(trace::FileId file, usc_file_state state, std::uint32_t classes) {
  usc_file_entry entry{};
  entry.classes = classes;
  if (auto put = put_file(file, entry); !put) return put;
  entry.state = state;
  return put_file(file, entry);
}

}  // namespace uscope::tracer
