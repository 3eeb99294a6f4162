// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `uscope raw`: the records of a raw trace as they lie in the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/command_line.h"

namespace uscope::cli {

struct RawOptions {
  std::filesystem::path file;         // "-": standard input
  std::vector<std::string> types;     // empty: all
  std::optional<std::uint64_t> most;  // records to print
  bool json = false;                  // a JSON object a line
};

void add_raw(CommandLine& line);
[[nodiscard]] Result<int> run_raw(const RawOptions& options);

}  // namespace uscope::cli
