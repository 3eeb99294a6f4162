// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/probes/file_functions.h"

#include <algorithm>
#include <iterator>

namespace uscope::symbolizer {
namespace {

std::vector<FileFunction> of_symbols(const std::vector<FunctionSymbol>& symbols, const std::optional<GoPclntab>& go,
                                     const FdeTable& fdes) {
  std::vector<FileFunction> all;
  for (const FunctionSymbol& symbol : symbols) {
    if (is_part(symbol.name)) continue;
    if (all.empty() || all.back().start != symbol.start) {
      FileFunction& function = all.emplace_back();
      function.start = symbol.start;
      const GoFunction* of_go = go ? go->containing(symbol.start) : nullptr;
      function.go = of_go != nullptr && of_go->start == symbol.start;
      if (function.go)
        function.proof = ProvenBy::kGoTable;
      else if (fdes.starting_at(symbol.start))
        function.proof = ProvenBy::kFrameInfo;
    }
    FileFunction& function = all.back();
    if (symbol.is_function && function.proof != ProvenBy::kGoTable) function.proof = ProvenBy::kSymbol;
    function.whole = std::max(function.whole, symbol.size);
    function.ifunc = function.ifunc || symbol.ifunc;
    if (std::find(function.names.begin(), function.names.end(), symbol.name) == function.names.end())
      function.names.push_back(symbol.name);
  }
  return all;
}

// Code may have an entry within another function (memmove's variants): a place behind it would be reached from there. A
// label that is not known to be a function ends none.
void settle_sizes(std::vector<FileFunction>& all) {
  std::uint64_t next = 0;
  for (auto function = all.rbegin(); function != all.rend(); ++function) {
    function->size = function->whole;
    const std::uint64_t room = next == 0 ? 0 : next - function->start;
    if (room != 0 && (function->size == 0 || function->size > room)) function->size = room;
    if (function->proof != ProvenBy::kNothing) next = function->start;
  }
}

}  // namespace

bool is_part(std::string_view name) {
  return name.ends_with(kPartSuffix) || name.find(".cold.") != std::string_view::npos;
}

std::vector<FileFunction> file_functions(const std::vector<FunctionSymbol>& symbols, const std::optional<GoPclntab>& go,
                                         const FdeTable& fdes) {
  std::vector<FileFunction> all = of_symbols(symbols, go, fdes);
  settle_sizes(all);
  if (!go) return all;
  const auto by_start = [](const FileFunction& a, const FileFunction& b) { return a.start < b.start; };
  std::vector<FileFunction> more;
  for (const GoFunction& function : go->functions()) {
    const std::uint64_t size = function.limit - function.start;
    FileFunction one{function.start, size, size, ProvenBy::kGoTable, false, true, {function.name}};
    if (!std::binary_search(all.begin(), all.end(), one, by_start)) more.push_back(std::move(one));
  }
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  std::sort(all.begin(), all.end(), by_start);
  return all;
}

}  // namespace uscope::symbolizer
