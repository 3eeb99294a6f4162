// Which files a program will map when it starts: its interpreter, and its libraries as far as the usual folders have
// them.
#pragma once

#include <string>
#include <vector>

#include "symbolizer/elf/elf_facts.h"

namespace uscope::tracer {

constexpr std::size_t kMostFiles = 64;  // that are looked up for one program

// Paths of what the file at `path` asks to be loaded itself; at most kMostFiles. What cannot be found is left out: the
// answer is a guess that only saves time.
[[nodiscard]] std::vector<std::string> asked_for(const symbolizer::ElfFacts& facts, const std::string& path);

// The interpreter of a script, "" where the file is none.
[[nodiscard]] std::string script_interpreter(int fd);

}  // namespace uscope::tracer
