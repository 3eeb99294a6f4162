// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/latency.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace uscope::trace {
namespace {

constexpr unsigned kSubBits = 6;
constexpr std::uint64_t kSubBuckets = 1U << kSubBits;

// Values below 64 have a bucket each; above, the six bits behind the leading one choose the bucket of their octave.
std::size_t bucket_of(std::uint64_t value) {
  if (value < kSubBuckets) return value;
  const unsigned shift = static_cast<unsigned>(std::bit_width(value)) - 1 - kSubBits;
  return (shift + 1) * kSubBuckets + ((value >> shift) - kSubBuckets);
}

// The largest value that falls into a bucket.
std::uint64_t bucket_top(std::size_t bucket) {
  if (bucket < kSubBuckets) return bucket;
  const unsigned shift = static_cast<unsigned>(bucket / kSubBuckets) - 1;
  const std::uint64_t first = (kSubBuckets + bucket % kSubBuckets) << shift;
  return first + ((std::uint64_t{1} << shift) - 1);
}

}  // namespace

std::uint64_t percentile_rank(double percent, std::uint64_t count) {
  const double share = std::clamp(percent, 0.0, 100.0) / 100.0;
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count) - 1e-9)));
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> LatencySketch::steps() const {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> steps;
  const auto put = [&](std::uint64_t value, std::uint64_t count) {
    if (count == 0) return;
    if (!steps.empty() && steps.back().first == value) {
      steps.back().second += count;
    } else {
      steps.emplace_back(value, count);
    }
  };
  if (buckets_.empty()) std::sort(values_.begin(), values_.end());
  for (const std::uint64_t value : values_) put(value, 1);
  for (std::size_t bucket = 0; bucket < buckets_.size(); bucket++)
    put(std::min(bucket_top(bucket), max_), buckets_[bucket]);
  return steps;
}

void LatencySketch::add(std::uint64_t nanoseconds) {
  count_++;
  total_ += nanoseconds;
  max_ = std::max(max_, nanoseconds);
  if (buckets_.empty() && values_.size() < kExactValues) {
    values_.push_back(nanoseconds);
    return;
  }
  if (buckets_.empty()) spill();
  buckets_[bucket_of(nanoseconds)]++;
}

void LatencySketch::add(const LatencySketch& other) {
  if (other.buckets_.empty()) {
    for (const std::uint64_t value : other.values_) add(value);
    return;
  }
  if (buckets_.empty()) spill();
  for (std::size_t i = 0; i < buckets_.size(); i++) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  total_ += other.total_;
  max_ = std::max(max_, other.max_);
}

void LatencySketch::spill() {
  buckets_.assign(bucket_of(~std::uint64_t{0}) + 1, 0);
  for (const std::uint64_t value : values_) buckets_[bucket_of(value)]++;
  values_ = {};
}

std::uint64_t LatencySketch::percentile(double percent) const {
  if (count_ == 0) return 0;
  const std::uint64_t rank = percentile_rank(percent, count_);
  if (buckets_.empty()) {
    std::sort(values_.begin(), values_.end());
    return values_[rank - 1];
  }
  std::uint64_t seen = 0;
  for (std::size_t bucket = 0; bucket < buckets_.size(); bucket++) {
    seen += buckets_[bucket];
    if (seen >= rank) return std::min(bucket_top(bucket), max_);
  }
  return max_;
}

}  // namespace uscope::trace
