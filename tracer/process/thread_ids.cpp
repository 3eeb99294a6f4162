// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/process/thread_ids.h"

#include <fmt/core.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

namespace uscope::tracer {

std::map<std::uint32_t, std::uint32_t> thread_ids_of(std::uint32_t pid) {
  std::map<std::uint32_t, std::uint32_t> ids;
  std::error_code error;
  std::filesystem::directory_iterator at(fmt::format("/proc/{}/task", pid), error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    const std::string name = at->path().filename();
    std::uint32_t tid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), tid).ec != std::errc()) continue;
    std::ifstream status(at->path() / "status");
    for (std::string line; std::getline(status, line);) {
      if (!line.starts_with("NSpid:")) continue;
      std::istringstream numbers(line.substr(line.find(':') + 1));
      std::uint32_t own = tid;  // the last number is of the innermost namespace
      for (std::uint32_t number = 0; numbers >> number;) own = number;
      ids[own] = tid;
    }
  }
  return ids;
}

}  // namespace uscope::tracer
