// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Programs compiled while the test runs, and the tools of binutils as oracles.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "support/unique_fd.h"
#include "symbolizer/names/symbols.h"
#include "tests/support/temporary_folder.h"

namespace uscope::symbolizer {

using test::TemporaryFolder;

inline std::string read_file(const std::string& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

// What a command prints; the test fails where the command does.
inline std::string output_of(const std::string& command) {
  std::FILE* pipe = popen(("env -u DEBUGINFOD_URLS LC_ALL=C " + command).c_str(), "r");
  EXPECT_NE(pipe, nullptr) << command;
  std::string text;
  char buffer[65536];
  for (std::size_t n = 0; pipe != nullptr && (n = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0;)
    text.append(buffer, n);
  EXPECT_EQ(pipe == nullptr ? -1 : pclose(pipe), 0) << command;
  return text;
}

inline std::vector<std::string> lines_of(const std::string& command) {
  std::istringstream text(output_of(command));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

inline bool has_command(const std::string& name) {
  return std::system(("command -v " + name + " >/dev/null 2>&1").c_str()) == 0;
}

inline std::uint64_t hex(const std::string& text) {
  return std::strtoull(text.c_str(), nullptr, 16);
}

inline std::unique_ptr<ModuleSymbols> open_module(const std::string& path) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_TRUE(fd) << path;
  Result<std::unique_ptr<ModuleSymbols>> symbols = ModuleSymbols::open(fd.get(), path);
  EXPECT_TRUE(symbols) << (symbols ? "" : symbols.error().what);
  return symbols ? std::move(*symbols) : nullptr;
}

// The physical function, as "name+offset".
inline std::string function_at(ModuleSymbols& symbols, std::uint64_t address, bool exact = true) {
  const SymbolizedFrame frame = symbols.resolve(address, exact).back();
  return frame.function + "+" + std::to_string(frame.function_offset);
}

// A function symbol as readelf shows it.
struct ListedSymbol {
  std::uint64_t start = 0;
  std::uint64_t size = 0;
  std::string type;
  std::string bind;
  std::string name;  // without the version
};

inline std::vector<ListedSymbol> listed_symbols(const std::string& path, const std::string& options = "--dyn-syms") {
  std::vector<ListedSymbol> symbols;
  for (const std::string& line : lines_of("readelf -W " + options + " '" + path + "'")) {
    std::istringstream fields(line);
    std::string number, value, size, visibility, section;
    ListedSymbol symbol;
    if (!(fields >> number >> value >> size >> symbol.type >> symbol.bind >> visibility >> section >> symbol.name))
      continue;
    if (number.back() != ':' || section == "UND" || section == "ABS") continue;
    if (symbol.type != "FUNC" && symbol.type != "IFUNC" && symbol.type != "NOTYPE") continue;
    symbol.start = hex(value);
    symbol.size = std::strtoull(size.c_str(), nullptr, 0);
    symbol.name = symbol.name.substr(0, symbol.name.find('@'));
    symbols.push_back(symbol);
  }
  return symbols;
}

inline std::uint64_t address_of(const std::string& path, const std::string& name) {
  for (const ListedSymbol& symbol : listed_symbols(path, "--syms"))
    if (symbol.name == name) return symbol.start;
  ADD_FAILURE() << name << " is not in " << path;
  return 0;
}

}  // namespace uscope::symbolizer
