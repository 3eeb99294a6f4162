// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The copy of a stack that a sample carries: of a window and of the stack's end, the pages that could be read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "uscope/arch/arch.h"
#include "uscope/record.h"

namespace uscope::tracer {

inline constexpr std::uint64_t kPageBytes = USC_PAGE_BYTES;

class StackCopy {
 public:
  // The sample, with all its pages in it (HeldSample::whole), stays the caller's and must outlive the copy.
  explicit StackCopy(const usc_sample& sample);

  // The 8 bytes at an address; null where the copy does not hold all of them.
  [[nodiscard]] const char* find(std::uint64_t address) const;

  // The bytes from the sample's base on up to the first page that is missing.
  [[nodiscard]] std::span<const std::byte> unbroken() const;

 private:
  struct Part {
    std::uint64_t base = 0;
    std::uint64_t pages = 0;
    std::uint64_t bytes = 0;
    const char* data = nullptr;

    [[nodiscard]] const char* find(std::uint64_t address) const;
  };

  const usc_sample& sample_;
  Part first_;
  Part second_;
};

}  // namespace uscope::tracer
