// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Stack copies as they come from the kernel side, and as they are kept: pages that one copy has in common with the one
// before are sent once (usc_sample::same) and held once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "uscope/record.h"

namespace uscope::tracer {

// 4096 bytes, counted while they are there.
class Page {
 public:
  static constexpr std::size_t kBytes = 4096;

  explicit Page(std::size_t& counter) : counter_(counter) { counter_ += sizeof(Page); }
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;
  ~Page() { counter_ -= sizeof(Page); }

  std::array<char, kBytes> bytes{};

 private:
  std::size_t& counter_;
};

struct HeldSample {
  alignas(usc_sample) std::array<char, sizeof(usc_sample)> fixed{};  // the sample as it came, without its data
  std::uint64_t since_ns = 0;                                        // its call's time is not before this
  unsigned waits = 0;                                                // for rows, so far
  // Not 0: its walk met no mapping where one must be, and this is what MappingTimeline::version() + 1 was then.
  std::uint64_t unmapped_version = 0;
  bool asked = false;                                  // its process's mappings have been asked for
  std::vector<std::shared_ptr<const Page>> pages;      // of usc_sample::pages; the first one may hold less, at its end
  std::vector<std::shared_ptr<const Page>> end_pages;  // of usc_sample::end_pages

  [[nodiscard]] const usc_sample& head() const { return *reinterpret_cast<const usc_sample*>(fixed.data()); }
  // The sample with all pages in it, none of them left out.
  [[nodiscard]] std::vector<char> whole() const;
};

// What the kernel side leaves out, by processor.
class PageMirror {
 public:
  // The sample's pages, with those that it has in common with earlier ones of its processor. Nothing where it is
  // damaged.
  std::optional<HeldSample> take(const usc_sample& sample);

  // Of all pages that this and the samples it gave hold; and of its own, at most.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] std::size_t own_bytes() const { return last_.size() * 2 * kNumbers * sizeof(Page); }

 private:
  static constexpr std::size_t kNumbers = 64;
  struct Last {  // page of each number, of both copies
    std::array<std::shared_ptr<const Page>, kNumbers> first;
    std::array<std::shared_ptr<const Page>, kNumbers> second;
  };
  class Reader;

  std::size_t bytes_ = 0;  // before what refers to it
  std::vector<Last> last_;
};

}  // namespace uscope::tracer
