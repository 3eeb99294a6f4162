// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the dynamic linker writes into a file's memory when it loads it: there, the file's bytes are not the program's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "symbolizer/elf/elf_facts.h"

namespace uscope::symbolizer {

class Relocations {
 public:
  // At most `count` bytes of the file from an ELF address on.
  using Read = std::function<std::vector<std::byte>(std::uint64_t address, std::size_t count)>;

  Relocations() = default;
  // Those of PT_DYNAMIC (DT_RELA, DT_JMPREL, DT_REL, DT_RELR), as the dynamic linker finds them.
  Relocations(Elf* elf, const Read& read);

  // Whether one of them changes bytes of [low, high).
  [[nodiscard]] bool touch(std::uint64_t low, std::uint64_t high) const;

  enum class Says : std::uint8_t { kNothing, kAddress, kUnknown };
  struct Word {
    Says says = Says::kNothing;
    std::uint64_t address = 0;  // kAddress: the ELF address that stands there once the file is loaded
  };
  // Of the word at an address: nothing, so that it is the file's; an address in the same file; or something else.
  [[nodiscard]] Word word_at(std::uint64_t address) const;

  // The addresses in the file that they put into words or call: of its own functions and data.
  [[nodiscard]] std::vector<std::uint64_t> own_addresses(const Read& read) const;

 private:
  struct One {
    std::uint64_t at = 0;
    std::uint64_t address = 0;  // or what is added to the symbol's
    std::uint32_t symbol = 0;   // whose address the word gets
    std::uint8_t bytes = 8;
    bool is_address = false;
    bool is_called = false;  // the address: it gives what the word gets
    bool in_place = false;   // the address is what the file has there
  };
  void add_table(const Read& read, std::uint64_t table, std::uint64_t size, bool with_addends);
  void add_relr(const Read& read, std::uint64_t table, std::uint64_t size);

  std::vector<One> all_;  // by `at`
  std::uint64_t symbols_ = 0;
};

}  // namespace uscope::symbolizer
