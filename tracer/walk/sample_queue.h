// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Stack copies between the ring and their walk. A copy waits one round in any case, and where its walk meets a file
// whose unwind rows are being made, until they are there. Bounded: beyond kMostBytes none may wait for rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "trace/ids.h"
#include "tracer/walk/sample_pages.h"

namespace uscope::tracer {

class SampleQueue {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20;
  // A walk that goes through more files than memory has rows for would wait again and again.
  static constexpr unsigned kMostWaits = 16;

  explicit SampleQueue(std::size_t most_bytes = kMostBytes) : most_bytes_(most_bytes) {}

  // For the next round; false where the sample is damaged. `since_ns`: a time that its call's is not before.
  bool add(const usc_sample& sample, std::uint64_t since_ns);
  // One that was taken, once more for the next round.
  void put_back(HeldSample sample);
  void begin_round();
  // The next one that is due in this round.
  std::optional<HeldSample> take();

  [[nodiscard]] bool may_wait(const HeldSample& sample) const {
    return !stopped_ && mirror_.bytes() + held_bytes_ <= most_bytes_ + mirror_.own_bytes() && sample.waits < kMostWaits;
  }
  // Until rows_came(file).
  void let_wait(HeldSample sample, trace::FileId file);
  // The file that the walk waits for which is to define the stack; nothing where none waits.
  [[nodiscard]] std::optional<trace::FileId> who_waits(trace::StackId stack) const;
  void rows_came(trace::FileId file);
  // From here on none waits for rows.
  void stop_waiting();

  [[nodiscard]] bool empty() const { return fresh_.empty() && due_.empty() && waiting_.empty(); }
  [[nodiscard]] bool has_due() const { return !due_.empty(); }
  // A time at or before the call of every sample that is held; ~0 where there are none.
  [[nodiscard]] std::uint64_t held_since_ns() const {
    return held_since_.empty() ? ~std::uint64_t{0} : held_since_.begin()->first;
  }

 private:
  std::size_t most_bytes_;
  PageMirror mirror_;  // before the samples whose pages it counts
  void hold(const HeldSample& sample);
  void let_go(const HeldSample& sample);

  std::vector<HeldSample> fresh_;
  std::deque<HeldSample> due_;
  std::unordered_map<trace::FileId, std::vector<HeldSample>> waiting_;
  std::unordered_map<trace::StackId, trace::FileId> stacks_;  // of walks that wait
  std::map<std::uint64_t, std::size_t> held_since_;           // samples by since_ns
  std::size_t held_bytes_ = 0;                                // of samples, beside their pages
  bool stopped_ = false;
};

}  // namespace uscope::tracer
