// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Counts calls by the file, socket or other object that they are about, who makes them, and how they fail: the table
// `object_total`. Memory is bounded:
// when there are kMost counts, counting begins anew once they are put aside to be written, so that one object may have
// several rows, which add up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "store/db/row_ids.h"
#include "store/db/table_writer.h"
#include "store/model/gathering_map.h"
#include "store/write/call_object.h"
#include "trace/ids.h"

namespace uscope::store {

class ObjectTotals {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 16;

  // What is behind `tables` must outlive this object. `most` is for tests.
  explicit ObjectTotals(const TableWriter& tables, std::size_t most = kMost) : tables_(tables), most_(most) {}

  struct Facts {
    EventRowId event;
    KindRowId kind;
    trace::ProcessId process;
    trace::ImageId image;
    FrameRowId trigger;
    FrameRowId runtime_trigger{};  // with --app-runtime; none: the same
    std::uint64_t duration = 0;
    std::uint64_t bytes = 0;  // that the call transferred
    std::int64_t error = 0;   // 0: it did not fail
  };

  Result<void> prepare();  // to be called first
  void add(const Facts& call, const CallObject& object);
  // Adds rows, see TableWriter::rows(), of what has not been written yet: where counting began anew, and of all.
  Result<void> write_full();
  Result<void> write();

 private:
  struct Key {
    KindRowId kind;
    trace::ProcessId process;
    trace::ImageId image;
    FrameRowId trigger;
    FrameRowId runtime_trigger;
    StringRowId folder;
    StringRowId name;
    std::uint32_t space = 0;
    std::int64_t error = 0;
    enum class Part : std::uint8_t { kCall, kSource, kTarget } part = Part::kCall;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const noexcept;
  };
  struct Total {
    std::uint64_t events = 0;
    std::uint64_t total_ns = 0;
    std::uint64_t bytes = 0;
    std::uint64_t changes = 0;
    EventRowId last;
  };

  using Totals = GatheringMap<Key, Total, KeyHash>;
  Result<void> write(const Totals& totals);

  TableWriter tables_;
  std::size_t most_;
  std::unique_ptr<TableRows> rows_;
  Totals totals_;
  std::vector<Totals> full_;
  std::uint64_t bytes_left_ = std::uint64_t{1} << 62U;  // so that no reader's sum of both directions overflows
};

}  // namespace uscope::store
