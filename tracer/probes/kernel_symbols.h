// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Names of the kernel's functions, by address, from /proc/kallsyms and /proc/modules.
#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace uscope::tracer {

// A line of /proc/kallsyms, which its texts lie in.
struct KernelSymbolLine {
  std::uint64_t address = 0;  // 0: the kernel hides it
  char type = 0;
  std::string_view name;
  std::string_view module;  // "": of the kernel itself

  [[nodiscard]] bool is_code() const { return std::string_view("tTwW").find(type) != std::string_view::npos; }
};
// "ffffffff81000000 T name\t[module]"
[[nodiscard]] std::optional<KernelSymbolLine> parse_kernel_symbol(std::string_view line);

class KernelSymbols {
 public:
  // Of this machine, read now: some 50 ms. Without names where the kernel hides addresses from this process.
  static KernelSymbols read();
  // `symbols` as /proc/kallsyms has them, `modules` as /proc/modules.
  KernelSymbols(std::istream& symbols, std::istream& modules);

  // Where a function of the kernel's lies, up to the next one; nothing if there is none of the name.
  struct Range {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
  };
  [[nodiscard]] std::optional<Range> find(std::string_view name) const;

  // "module+0xoffset function+0xoffset", as a usc_kernel_place has it. A return address is looked up as the call before
  // it.
  [[nodiscard]] std::string place(std::uint64_t address, bool is_return) const;

 private:
  struct Symbol {
    std::uint64_t address = 0;
    std::uint32_t name = 0;    // place in names_
    std::uint16_t module = 0;  // in modules_; 0: the kernel itself
  };

  std::vector<Symbol> symbols_;  // by address
  std::string names_;            // each with its NUL
  std::vector<std::string> modules_{""};
  std::map<std::string, std::uint64_t, std::less<>> bases_;  // of modules, and of the kernel ("")
};

}  // namespace uscope::tracer
