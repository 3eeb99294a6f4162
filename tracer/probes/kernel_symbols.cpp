// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/probes/kernel_symbols.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>

namespace uscope::tracer {

std::optional<KernelSymbolLine> parse_kernel_symbol(std::string_view line) {
  KernelSymbolLine symbol;
  const char* const rest = std::from_chars(line.data(), line.data() + line.size(), symbol.address, 16).ptr;
  line.remove_prefix(static_cast<std::size_t>(rest - line.data()));
  if (line.size() < 4 || line[0] != ' ' || line[2] != ' ') return std::nullopt;
  symbol.type = line[1];
  line.remove_prefix(3);
  symbol.name = line.substr(0, line.find_first_of(" \t"));
  line.remove_prefix(symbol.name.size());
  if (line.size() > 3) symbol.module = line.substr(2, line.size() - 3);
  return symbol;
}

KernelSymbols KernelSymbols::read() {
  std::ifstream symbols("/proc/kallsyms");
  std::ifstream modules("/proc/modules");
  return {symbols, modules};
}

KernelSymbols::KernelSymbols(std::istream& symbols, std::istream& modules) {
  std::string line;
  while (std::getline(modules, line)) {
    std::istringstream words(line);
    std::string name, size, users, by, state, address;
    if (words >> name >> size >> users >> by >> state >> address)
      bases_.emplace(name, std::strtoull(address.c_str(), nullptr, 16));
  }
  while (std::getline(symbols, line)) {
    const auto symbol = parse_kernel_symbol(line);
    if (!symbol) continue;
    if (symbol->name == "_text") bases_.emplace("", symbol->address);
    if (symbol->address == 0 || !symbol->is_code()) continue;
    // Symbols of one module stand together.
    if (!symbol->module.empty() && modules_.back() != symbol->module) modules_.emplace_back(symbol->module);
    const std::size_t module = symbol->module.empty() ? 0 : modules_.size() - 1;
    symbols_.push_back(
        {symbol->address, static_cast<std::uint32_t>(names_.size()), static_cast<std::uint16_t>(module)});
    names_.append(symbol->name).push_back('\0');
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
