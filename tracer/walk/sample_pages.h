// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Stack copies as they come from the kernel side, and as they are kept: pages that one copy has in common with the one
// before are sent once (usc_sample::same) and held once; of others the words that changed are held. So ten thousand
// calls of one loop take little more than one copy.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "uscope/arch/arch.h"
#include "uscope/record.h"

namespace uscope::tracer {

// 4096 bytes, counted while they are there: whole, or as the words in which they differ from a whole page.
class Page {
 public:
  static constexpr std::size_t kBytes = USC_PAGE_BYTES;
  using Bytes = std::array<char, kBytes>;

  Page(const Bytes& bytes, std::size_t& counter);
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;
  ~Page() { counter_ -= own_bytes(); }

  // Nothing if they differ in too many words for it to be smaller. `base` is whole.
  static std::shared_ptr<const Page> as_difference(const std::shared_ptr<const Page>& base, const Bytes& bytes,
                                                   std::size_t& counter);

  [[nodiscard]] Bytes bytes() const;
  [[nodiscard]] std::size_t own_bytes() const {
    return sizeof(Page) + (whole_ ? sizeof(Bytes) : 0) + changes_.capacity() * sizeof(Change);
  }

 private:
  static constexpr std::size_t kMostChanges = 128;
  struct Change {  // 8 bytes of the page, in 12
    std::uint32_t at = 0;
    std::array<std::uint32_t, 2> half{};
  };
  Page(std::shared_ptr<const Page> base, std::vector<Change> changes, std::size_t& counter);

  std::unique_ptr<const Bytes> whole_;
  std::shared_ptr<const Page> base_;
  std::vector<Change> changes_;
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
  // Without its pages.
  [[nodiscard]] std::size_t own_bytes() const {
    return sizeof(HeldSample) + (pages.size() + end_pages.size()) * sizeof(pages.front());
  }
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
  [[nodiscard]] std::size_t own_bytes() const { return last_.size() * 3 * kNumbers * 2 * sizeof(Page::Bytes); }

 private:
  static constexpr std::size_t kNumbers = 64;
  struct Slot {
    std::shared_ptr<const Page> last;  // as it came
    std::shared_ptr<const Page> base;  // the last whole one
  };
  using Numbered = std::array<Slot, kNumbers>;  // by page number
  struct Last {
    Numbered first;
    Numbered second;
    Numbered cut;  // first pages of which less came: zeros before that
  };
  class Reader;

  std::size_t bytes_ = 0;  // before what refers to it
  std::vector<Last> last_;
};

}  // namespace uscope::tracer
