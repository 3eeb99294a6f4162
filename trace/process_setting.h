// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// In which setting a process runs: its user, working directory, limits and environment. Both ends of the trace's fact
// `settings` (docs/schema.md).
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace uscope::trace {

struct ProcessSetting {
  static constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

  std::uint32_t pid = 0;  // 0: the command that was started
  std::optional<std::uint32_t> uid{};
  std::optional<std::uint32_t> gid{};
  std::optional<std::string> cwd{};
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> limits{};  // "NOFILE": soft and hard
  std::optional<std::vector<std::string>> environment{};                    // names of variables, sorted
  std::map<std::string, std::string> values{};                              // of some variables
};

// A JSON array. Texts are made such that they stand for all bytes (trace_text()).
[[nodiscard]] std::string settings_text(const std::vector<ProcessSetting>& settings);

// What of such a text can be understood.
[[nodiscard]] std::vector<ProcessSetting> settings_of(const std::string& text);

}  // namespace uscope::trace
