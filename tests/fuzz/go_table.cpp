// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Go's function table and what is made of it: any table, any code.
#include "fuzz.h"
#include "symbolizer/go/go_unwind.h"

using namespace uscope::symbolizer;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 65536) return 0;
  const Segment text{0x1000, 0x4000, 0x401000};
  auto table = GoPclntab::parse(std::vector<std::uint8_t>(data, data + size), std::span(&text, 1), 0x401000);
  if (!table) return 0;
  const auto bytes = std::as_bytes(std::span(data, size));
  std::uint64_t steps = table->most_steps();
  std::uint64_t before = 0;
  for (const GoFunction& function : table->functions()) {
    uscope::fuzz::require(function.start >= before && function.limit >= function.start, "functions ascend");
    before = function.start;
    std::vector<GoStretch> stretches;
    if (table->stretches(function, stretches, steps)) {
      uscope::fuzz::require(!stretches.empty() && stretches.back().end <= function.limit,
                            "stretches end with their code");
      for (std::size_t i = 1; i < stretches.size(); i++)
        uscope::fuzz::require(stretches[i].end > stretches[i - 1].end, "stretches ascend");
    }
    const GoFunction* found = table->containing(function.start);
    uscope::fuzz::require(found == nullptr || found->start == function.start || found->start == function.start + 1,
                          "the function that contains an address starts there");
    const GoFunctionRows rows = go_function_rows(*table, function, bytes.last(std::min<std::size_t>(size, 256)), steps);
    for (std::size_t i = 0; i < rows.rows.size(); i++) {
      if (i > 0) uscope::fuzz::require(rows.rows[i].start > rows.rows[i - 1].start, "rows ascend");
      if (rows.rows[i].rule != GoRule::kSignal) (void)go_cfi_state(rows.rows[i]);
    }
  }
  for (std::uint64_t at = text.address; at < text.address + text.size; at += 61) (void)table->containing(at);
  (void)go_untrue_cfi(*table, [&](std::uint64_t address, std::size_t count) {
    const std::size_t at = std::min<std::size_t>(address % 4096, size);
    return bytes.subspan(at, std::min(count, size - at));
  });
  return 0;
}
