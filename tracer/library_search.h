// Which files a program will map when it starts: itself, its interpreter, and its libraries as far as the usual folders
// have them.
#pragma once

#include <string>
#include <vector>

namespace uscope::tracer {

// Paths, the executable first; at most 64. A script stands for its interpreter. What cannot be found is left out: the
// answer is a guess that only saves time.
[[nodiscard]] std::vector<std::string> with_libraries(const std::string& executable);

}  // namespace uscope::tracer
