#include "tracer/stack_copy.h"

#include <bit>

namespace uscope::tracer {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kWindowPages = 64;
constexpr std::uint64_t kWord = 8;

}  // namespace

const char* StackCopy::find(std::uint64_t address) const {
  const std::uint64_t end_at = address - sample_.end_base;
  if (address >= sample_.end_base && sample_.end_bytes >= kWord && end_at <= sample_.end_bytes - kWord)
    return sample_.data + sample_.bytes + end_at;
  if (address < sample_.base) return nullptr;
  const std::uint64_t page = address / kPage - sample_.base / kPage;
  const std::uint64_t last_page = (address + kWord - 1) / kPage - sample_.base / kPage;
  if (last_page >= kWindowPages || (sample_.pages >> page & sample_.pages >> last_page & 1) == 0) return nullptr;
  // Pages lie one behind the other; the first of them may be cut.
  const std::uint64_t first_bytes = kPage - sample_.base % kPage;
  const auto before = static_cast<std::uint64_t>(std::popcount(sample_.pages & ((std::uint64_t{1} << page) - 1)));
  const bool has_first = (sample_.pages & 1) != 0;
  std::uint64_t at = 0;
  if (page == 0) {
    at = address - sample_.base;
  } else {
    at = (has_first ? first_bytes + (before - 1) * kPage : before * kPage) + address % kPage;
  }
  return at + kWord <= sample_.bytes ? sample_.data + at : nullptr;
}

std::span<const std::byte> StackCopy::unbroken() const {
  const auto pages = static_cast<std::uint64_t>(std::countr_one(sample_.pages));
  if (pages == 0) return {};
  const std::uint64_t bytes = kPage - sample_.base % kPage + (pages - 1) * kPage;
  const auto* data = reinterpret_cast<const std::byte*>(sample_.data);
  return {data, static_cast<std::size_t>(bytes < sample_.bytes ? bytes : sample_.bytes)};
}

}  // namespace uscope::tracer
