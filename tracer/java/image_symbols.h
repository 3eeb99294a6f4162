// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Dynamic symbols of a library as it lies in a process's memory, found by its own hash table (DT_GNU_HASH), as the
// dynamic linker finds them. No file is opened: the process may have replaced it, or it may be on a file system that
// does not answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "support/result.h"
#include "tracer/java/target_memory.h"

namespace uscope::tracer {

class ImageSymbols {
 public:
  // `base`: where the library's ELF header lies. The reader must outlive the result.
  static Result<ImageSymbols> at(MemoryReader& memory, std::uint64_t base);

  // The address of a defined symbol.
  [[nodiscard]] std::optional<std::uint64_t> find(std::string_view name) const;

 private:
  explicit ImageSymbols(MemoryReader& memory) : memory_(&memory) {}
  bool take_dynamic(std::uint64_t base, std::uint64_t address, std::uint64_t size);

  MemoryReader* memory_;
  std::uint64_t bias_ = 0;  // added to the library's addresses
  std::uint64_t names_ = 0;
  std::uint64_t symbols_ = 0;
  std::uint64_t hash_ = 0;
};

// Where the ELF header of a library lies in a process that has mapped it, by the end of its path: "/libjvm.so"; 0: it
// has not.
[[nodiscard]] std::uint64_t image_base_of(std::uint32_t tid, std::string_view path_end);

}  // namespace uscope::tracer
