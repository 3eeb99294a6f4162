// The copy of a stack that a sample carries: pages of a window, those that could be read, and the stack's end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "uscope/record.h"

namespace uscope::tracer {

class StackCopy {
 public:
  // The sample stays the caller's and must outlive the copy.
  explicit StackCopy(const usc_sample& sample) : sample_(sample) {}

  // The 8 bytes at an address; null where the copy does not hold all of them.
  [[nodiscard]] const char* find(std::uint64_t address) const;

  // The bytes from the sample's base on up to the first page that is missing.
  [[nodiscard]] std::span<const std::byte> unbroken() const;

 private:
  const usc_sample& sample_;
};

}  // namespace uscope::tracer
