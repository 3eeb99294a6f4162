// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/walk/stack_copy.h"

#include <bit>

namespace uscope::tracer {
namespace {

constexpr std::uint64_t kWord = 8;

}  // namespace

const char* StackCopy::Part::find(std::uint64_t address) const {
  if (address < base) return nullptr;
  const std::uint64_t page = address / kPageBytes - base / kPageBytes;
  const std::uint64_t last_page = (address + kWord - 1) / kPageBytes - base / kPageBytes;
  if (page >= USC_SAMPLE_PAGES || last_page >= USC_SAMPLE_PAGES || (pages >> page & pages >> last_page & 1) == 0)
    return nullptr;
  // Pages lie one behind the other; the first of them may be cut.
  const std::uint64_t first_bytes = kPageBytes - base % kPageBytes;
  const auto before = static_cast<std::uint64_t>(std::popcount(pages & ((std::uint64_t{1} << page) - 1)));
  const bool has_first = (pages & 1) != 0;
  std::uint64_t at = 0;
  if (page == 0) {
    at = address - base;
  } else {
    at = (has_first ? first_bytes + (before - 1) * kPageBytes : before * kPageBytes) + address % kPageBytes;
  }
  return at + kWord <= bytes ? data + at : nullptr;
}

StackCopy::StackCopy(const usc_sample& sample)
    : sample_(sample),
      first_{sample.base, sample.pages, sample.bytes, sample.data},
      second_{sample.end_base, sample.end_pages, sample.end_bytes, sample.data + sample.bytes} {}

const char* StackCopy::find(std::uint64_t address) const {
  const char* found = first_.find(address);
  return found != nullptr ? found : second_.find(address);
}

std::span<const std::byte> StackCopy::unbroken() const {
  const auto pages = static_cast<std::uint64_t>(std::countr_one(sample_.pages));
  if (pages == 0) return {};
  const std::uint64_t bytes = kPageBytes - sample_.base % kPageBytes + (pages - 1) * kPageBytes;
  const auto* data = reinterpret_cast<const std::byte*>(sample_.data);
  return {data, static_cast<std::size_t>(bytes < sample_.bytes ? bytes : sample_.bytes)};
}

}  // namespace uscope::tracer
