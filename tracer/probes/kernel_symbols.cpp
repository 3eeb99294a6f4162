// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/probes/kernel_symbols.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>
#include <string_view>

namespace uscope::tracer {
namespace {

// Words of a line, the first few.
std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t from = line.find_first_not_of(" \t");
    if (from == std::string_view::npos) return words;
    line.remove_prefix(from);
    const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

std::uint64_t hexadecimal(std::string_view digits) {
  return std::strtoull(std::string(digits).c_str(), nullptr, 16);
}

}  // namespace

KernelSymbols KernelSymbols::read() {
  std::ifstream symbols("/proc/kallsyms");
  std::ifstream modules("/proc/modules");
  return {symbols, modules};
}

KernelSymbols::KernelSymbols(std::istream& symbols, std::istream& modules) {
  std::string line;
  while (std::getline(modules, line)) {
    const auto words = words_of(line);  // name size users by state address
    if (words.size() >= 6) bases_.emplace(words[0], hexadecimal(words[5]));
  }
  while (std::getline(symbols, line)) {
    const auto words = words_of(line);  // address type name [module]
    if (words.size() < 3 || words[1].size() != 1) continue;
    const std::uint64_t address = hexadecimal(words[0]);
    if (words[2] == "_text") bases_.emplace("", address);
    if (address == 0 || std::string_view("tTwW").find(words[1][0]) == std::string_view::npos) continue;
    std::uint16_t module = 0;
    if (words.size() > 3 && words[3].size() > 2) {
      const std::string_view name = words[3].substr(1, words[3].size() - 2);
      // Symbols of one module stand together.
      if (modules_.back() != name) modules_.emplace_back(name);
      module = static_cast<std::uint16_t>(modules_.size() - 1);
    }
    symbols_.push_back({address, static_cast<std::uint32_t>(names_.size()), module});
    names_.append(words[2]).push_back('\0');
  }
  // Of several names of one address the first one counts.
  std::stable_sort(symbols_.begin(), symbols_.end(),
                   [](const Symbol& a, const Symbol& b) { return a.address < b.address; });
}

std::optional<KernelSymbols::Range> KernelSymbols::find(std::string_view name) const {
  const auto found = std::find_if(symbols_.begin(), symbols_.end(), [&](const Symbol& symbol) {
    return symbol.module == 0 && std::string_view(names_.data() + symbol.name) == name;
  });
  if (found == symbols_.end()) return std::nullopt;
  const auto next = std::upper_bound(found, symbols_.end(), found->address,
                                     [](std::uint64_t at, const Symbol& symbol) { return at < symbol.address; });
  return Range{found->address, next == symbols_.end() ? found->address : next->address};
}

std::string KernelSymbols::place(std::uint64_t address, bool is_return) const {
  const std::uint64_t inside = address - (is_return ? 1 : 0);
  auto after = std::upper_bound(symbols_.begin(), symbols_.end(), inside,
                                [](std::uint64_t at, const Symbol& symbol) { return at < symbol.address; });
  if (after == symbols_.begin()) return fmt::format("? {:#x}", address);
  --after;
  while (after != symbols_.begin() && std::prev(after)->address == after->address) --after;
  const std::string_view name(names_.data() + after->name);
  const std::string& module = modules_[after->module];
  const auto base = bases_.find(module);
  // Code made at run time (programs of BPF, trampolines) is listed as of a module that there is not.
  if (base == bases_.end() || address < base->second) return fmt::format("? {}+{:#x}", name, address - after->address);
  return fmt::format("{}+{:#x} {}+{:#x}", module.empty() ? "vmlinux" : module, address - base->second, name,
                     address - after->address);
}

}  // namespace uscope::tracer
