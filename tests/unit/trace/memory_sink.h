// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A sink that keeps its records, for tests of what is written.
#pragma once

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "trace/sink.h"

namespace uscope {

class MemorySink final : public trace::RecordSink {
 public:
  Result<void> append(const usc_record& record) override {
    if (fails) return Error{"the sink is full", ""};
    const auto* from = reinterpret_cast<const char*>(&record);
    records_.emplace_back(from, from + record.size);
    bytes_ += record.size;
    return {};
  }
  Result<void> flush() override { return {}; }
  [[nodiscard]] std::uint64_t bytes() const override { return bytes_; }

  // The fixed parts of the records of one type, in order, and what lies behind them.
  template <typename Record>
  [[nodiscard]] std::vector<Record> all(std::vector<std::string>* tails = nullptr) const {
    std::vector<Record> found;
    for (const auto& bytes : records_) {
      const auto& record = *reinterpret_cast<const Record*>(bytes.data());
      if (record.head.type != trace::kTypeOf<Record>) continue;
      std::memcpy(static_cast<void*>(&found.emplace_back()), &record, sizeof(Record));
      if (tails) tails->emplace_back(trace::tail_of(record));
    }
    return found;
  }
  // The same by the time of entry: of what ran on several CPUs, records come CPU by CPU.
  template <typename Record>
  [[nodiscard]] std::vector<Record> all_by_entry(std::vector<std::string>* tails = nullptr) const {
    std::vector<std::string> texts;
    const std::vector<Record> found = all<Record>(&texts);
    std::vector<std::size_t> order(found.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&found](std::size_t a, std::size_t b) { return found[a].entry_ns < found[b].entry_ns; });
    std::vector<Record> ordered;
    for (const std::size_t at : order) {
      ordered.push_back(found[at]);
      if (tails) tails->push_back(texts[at]);
    }
    return ordered;
  }
  // The types of all records, in order.
  [[nodiscard]] std::vector<std::uint16_t> types() const {
    std::vector<std::uint16_t> types;
    for (const auto& bytes : records_) types.push_back(reinterpret_cast<const usc_record*>(bytes.data())->type);
    return types;
  }

  bool fails = false;

 private:
  std::vector<std::vector<char>> records_;
  std::uint64_t bytes_ = 0;
};

}  // namespace uscope
