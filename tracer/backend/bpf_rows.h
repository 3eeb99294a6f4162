// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The unwind rows of files, where the BPF programs find them: in shared maps of rows, of entries of the index, and of
// rules. Files with the same rows share them.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "support/result.h"
#include "symbolizer/rows/row_builder.h"
#include "trace/ids.h"
#include "tracer/backend/backend.h"
#include "tracer/backend/bpf_handles.h"
#include "tracer/backend/bpf_map_memory.h"
#include "tracer/backend/free_ranges.h"

namespace uscope::tracer {

class BpfRows {
 public:
  using Table = std::shared_ptr<const symbolizer::UnwindTable>;

  // `skeleton`: loaded, with maps of these sizes; it must outlive this object.
  Result<void> open(const uscope_bpf& skeleton, const BackendSizes& sizes);
  // As the functions of Backend do. `wait_for_programs` returns when no program runs any more that ran when it was
  // called.
  Result<Publish> publish(trace::FileId file, const Table& table, std::uint32_t classes);
  Result<void> publish_state(trace::FileId file, usc_file_state state, std::uint32_t classes);
  Result<void> withdraw(std::span<const trace::FileId> files, const std::function<Result<void>()>& wait_for_programs);
  Result<void> release(std::span<const trace::FileId> files, const std::function<Result<void>()>& wait_for_programs);
  // A serial that the programs will not give out; `counter` is shared with them (uscope/file_slots.h).
  Result<trace::FileId> take_file(std::uint32_t& counter);
  // Takes back a serial that no program knows.
  Result<void> free_slot(trace::FileId file);

 private:
  struct RulesLess {
    bool operator()(const std::vector<usc_rule>& a, const std::vector<usc_rule>& b) const {
      return a.size() != b.size() ? a.size() < b.size()
                                  : std::memcmp(a.data(), b.data(), a.size() * sizeof(usc_rule)) < 0;
    }
  };
  struct Published {
    usc_file_rows place{};
    std::uint32_t index_count = 0;
    std::uint32_t files = 0;  // that have these rows
  };
  struct OfFile {
    Table table;
    std::uint32_t classes = 0;
  };

  Result<void> put_file(trace::FileId file, const usc_file_entry& entry);
  Result<void> put_slot(trace::FileId file, const usc_file_entry& entry);
  // Nothing: there is no room.
  Result<std::optional<usc_file_rows>> copy_rows(const symbolizer::UnwindTable& table);
  Result<std::optional<std::uint32_t>> copy_rules(const std::vector<usc_rule>& rules);
  // In maps that hold nothing but shared rules.
  [[nodiscard]] bool may_fit(const symbolizer::UnwindTable& table) const;

  int files_fd_ = -1;
  int rules_fd_ = -1;
  BackendSizes sizes_;
  MapMemory rows_;
  MapMemory index_;
  FreeRanges free_rows_;
  FreeRanges free_index_;
  // Rules keep their places, since cached rows name them by number (struct row_slot): the start of each table's.
  std::map<std::vector<usc_rule>, std::uint32_t, RulesLess> rule_bases_;
  std::uint32_t rules_used_ = 0;
  std::map<Table, Published> published_;
  std::unordered_map<trace::FileId, OfFile> tables_;
};

}  // namespace uscope::tracer
