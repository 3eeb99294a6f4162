// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Predicts which files a program will map when it starts: its interpreter, and its libraries if they are in the usual
// folders.
#pragma once

#include <string>
#include <vector>

#include "symbolizer/elf/elf_facts.h"

namespace uscope::tracer {

constexpr std::size_t kMostFiles = 64;  // files that are looked up for one program

// Paths of the files that `path` itself needs loaded; at most kMostFiles. Files that are not found are left out: the
// result is a guess that only saves time.
[[nodiscard]] std::vector<std::string> asked_for(const symbolizer::ElfFacts& facts, const std::string& path);

// The path of a library of that name in the folders that need no DT_RUNPATH; "" if it is not there.
[[nodiscard]] std::string find_library(const std::string& name);

// The interpreter of a script; "" if the file is not a script.
[[nodiscard]] std::string script_interpreter(int fd);

}  // namespace uscope::tracer
