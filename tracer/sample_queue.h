// Stack copies between the ring and their walk. A copy waits one round in any case, and where its walk meets a file
// whose unwind rows are being made, until they are there. Bounded: beyond kMostBytes none may wait for rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "tracer/sample_pages.h"

namespace uscope::tracer {

class SampleQueue {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{256} << 20;
  // A walk that goes through more files than memory has rows for would wait again and again.
  static constexpr unsigned kMostWaits = 16;

  explicit SampleQueue(std::size_t most_bytes = kMostBytes) : most_bytes_(most_bytes) {}

  // For the next round; false where the sample is damaged.
  bool add(const usc_sample& sample, std::uint64_t round_ns);
  // One that was taken, once more for the next round.
  void put_back(HeldSample sample) { fresh_.push_back(std::move(sample)); }
  void begin_round();
  // The next one that is due in this round.
  std::optional<HeldSample> take();

  [[nodiscard]] bool may_wait(const HeldSample& sample) const {
    return mirror_.bytes() <= most_bytes_ + mirror_.own_bytes() && sample.waits < kMostWaits;
  }
  // Until rows_came(serial).
  void let_wait(HeldSample sample, std::uint32_t serial);
  // The file that the walk waits for which is to define the stack; nothing where none waits.
  [[nodiscard]] std::optional<std::uint32_t> who_waits(std::uint32_t stack) const;
  void rows_came(std::uint32_t serial);

  [[nodiscard]] bool empty() const { return fresh_.empty() && !has_due() && waiting_.empty(); }
  [[nodiscard]] bool has_due() const { return at_ != due_.size(); }
  // A time at or before the oldest round of those that wait or were not taken when they were due; ~0 where there are
  // none.
  [[nodiscard]] std::uint64_t waiting_since_ns() const {
    return has_due() ? std::min(waiting_since_ns_, due_[at_].round_ns) : waiting_since_ns_;
  }

 private:
  std::size_t most_bytes_;
  PageMirror mirror_;  // before the samples whose pages it counts
  std::vector<HeldSample> fresh_;
  std::vector<HeldSample> due_;
  std::size_t at_ = 0;                                                  // of due_, those before it were taken
  std::unordered_map<std::uint32_t, std::vector<HeldSample>> waiting_;  // by file
  std::unordered_map<std::uint32_t, std::uint32_t> stacks_;             // stack id to file, of walks that wait
  std::uint64_t waiting_since_ns_ = ~std::uint64_t{0};
};

}  // namespace uscope::tracer
