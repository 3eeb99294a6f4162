// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/code/function_ends.h"

#include <algorithm>

#include "symbolizer/code/code_walk.h"

namespace uscope::symbolizer {

Result<FunctionEnds> find_function_ends(const CodeRange& function, const CodeSource& source, std::uint64_t entry) {
  CodeWalk walk(source, function, entry);
  if (auto done = walk.run(); !done) return done.error();
  FunctionEnds ends = walk.take_ends();
  const auto by_address = [](const auto& a, const auto& b) { return a.address < b.address; };
  std::sort(ends.returns.begin(), ends.returns.end());
  std::sort(ends.jumps.begin(), ends.jumps.end(), by_address);
  std::sort(ends.indirect.begin(), ends.indirect.end(), by_address);
  return ends;
}

}  // namespace uscope::symbolizer
