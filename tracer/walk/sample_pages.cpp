// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/walk/sample_pages.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "trace/record_builder.h"

namespace uscope::tracer {
namespace {

std::size_t first_bytes(const usc_sample& sample) {
  return Page::kBytes - sample.base % Page::kBytes;
}

bool has_cut_page(const usc_sample& sample) {
  return (sample.pages & 1) != 0 && first_bytes(sample) < Page::kBytes;
}

}  // namespace

Page::Page(const Bytes& bytes, std::size_t& counter) : whole_(std::make_unique<const Bytes>(bytes)), counter_(counter) {
  counter_ += own_bytes();
}

Page::Page(std::shared_ptr<const Page> base, std::vector<Change> changes, std::size_t& counter)
    : base_(std::move(base)), changes_(std::move(changes)), counter_(counter) {
  counter_ += own_bytes();
}

std::shared_ptr<const Page> Page::as_difference(const std::shared_ptr<const Page>& base, const Bytes& bytes,
                                                std::size_t& counter) {
  const Bytes& from = *base->whole_;
  std::vector<Change> changes;
  for (std::uint32_t at = 0; at < kBytes; at += sizeof(Change::half)) {
    if (std::memcmp(from.data() + at, bytes.data() + at, sizeof(Change::half)) == 0) continue;
    if (changes.size() == kMostChanges) return nullptr;
    Change& change = changes.emplace_back();
    change.at = at;
    std::memcpy(change.half.data(), bytes.data() + at, sizeof(Change::half));
  }
  changes.shrink_to_fit();
  return std::shared_ptr<const Page>(new Page(base, std::move(changes), counter));
}

Page::Bytes Page::bytes() const {
  if (whole_) return *whole_;
  Bytes bytes = base_->bytes();
  for (const Change& change : changes_) std::memcpy(bytes.data() + change.at, change.half.data(), sizeof(change.half));
  return bytes;
}

// Goes through a sample's data, page by page.
class PageMirror::Reader {
 public:
  Reader(const usc_sample& sample, std::size_t& counter)
      : rest_(sample.data, sample.head.size - sizeof(usc_sample)), counter_(counter) {}

  // The next page, of this address; null where it is not there.
  std::shared_ptr<const Page> page(std::uint64_t address, Numbered& numbered, bool same) {
    Slot& slot = numbered[address / Page::kBytes % kNumbers];
    if (!same) next(slot, Page::kBytes);
    return slot.last;
  }
  // The last `count` bytes of a page.
  std::shared_ptr<const Page> cut_page(std::uint64_t address, Numbered& numbered, std::size_t count) {
    Slot& slot = numbered[address / Page::kBytes % kNumbers];
    next(slot, count);
    return slot.last;
  }

 private:
  void next(Slot& slot, std::size_t count) {
    slot.last = nullptr;
    if (rest_.size() < count) return;
    Page::Bytes bytes{};
    std::memcpy(bytes.data() + Page::kBytes - count, rest_.data(), count);
    rest_ = rest_.subspan(count);
    if (slot.base) slot.last = Page::as_difference(slot.base, bytes, counter_);
    if (slot.last) return;
    slot.last = std::make_shared<Page>(bytes, counter_);
    slot.base = slot.last;
  }

  std::span<const char> rest_;
  std::size_t& counter_;
};

std::vector<char> HeldSample::whole() const {
  const std::size_t left_out = has_cut_page(head()) ? Page::kBytes - first_bytes(head()) : 0;
  const std::size_t bytes_of_pages = pages.size() * Page::kBytes - left_out;
  const std::size_t bytes_of_end = end_pages.size() * Page::kBytes;
  usc_sample sample{};
  std::memcpy(static_cast<void*>(&sample), fixed.data(), fixed.size());
  sample.same = 0;
  sample.end_same = 0;
  sample.bytes = static_cast<__u32>(bytes_of_pages);
  sample.end_bytes = static_cast<__u32>(bytes_of_end);
  trace::RecordBuilder<usc_sample> record(sample);
  record.reserve(bytes_of_pages + bytes_of_end);
  for (std::size_t i = 0; i < pages.size(); i++) {
    const Page::Bytes bytes = pages[i]->bytes();
    record.add(std::span(bytes).subspan(i == 0 ? left_out : 0));
  }
  for (const auto& page : end_pages) record.add(page->bytes());
  return record.take();
}

std::optional<HeldSample> PageMirror::take(const usc_sample& sample) {
  if (sample.head.cpu >= last_.size()) last_.resize(sample.head.cpu + 1u);
  Last& last = last_[sample.head.cpu];
  Reader reader(sample, bytes_);
  HeldSample held;
  std::memcpy(held.fixed.data(), &sample, held.fixed.size());
  const std::uint64_t first = sample.base - sample.base % Page::kBytes;
  for (unsigned i = 0; i < USC_SAMPLE_PAGES; i++) {
    if ((sample.pages >> i & 1) == 0) continue;
    const bool cut = i == 0 && has_cut_page(sample);
    held.pages.push_back(cut ? reader.cut_page(first, last.cut, first_bytes(sample))
                             : reader.page(first + i * Page::kBytes, last.first, (sample.same >> i & 1) != 0));
    if (!held.pages.back()) return std::nullopt;
  }
  for (unsigned i = 0; i < USC_SAMPLE_PAGES; i++) {
    if ((sample.end_pages >> i & 1) == 0) continue;
    held.end_pages.push_back(
        reader.page(sample.end_base + i * Page::kBytes, last.second, (sample.end_same >> i & 1) != 0));
    if (!held.end_pages.back()) return std::nullopt;
  }
  return held;
}

}  // namespace uscope::tracer
