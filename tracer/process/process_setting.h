// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Reads the setting in which a process runs (trace/process_setting.h): of the command before it starts, of a running
// process from /proc. Values of the environment's variables are kept only of those that are asked for, and PATH.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/redactor.h"
#include "trace/process_setting.h"

namespace uscope::tracer {

// What of it may be kept.
struct SettingChoice {
  bool texts = true;                  // false: neither the working directory nor anything of the environment
  std::vector<std::string> values{};  // patterns of the names of variables whose values are kept, beside PATH
  std::vector<std::string> redact{};  // patterns of texts to hide
};

// Room for the settings of one trace.
constexpr std::size_t kMostSettings = 8;
constexpr std::size_t kMostSettingBytes = 6000;  // of names, of values, and of a working directory, for each of them

// Takes "NAME=VALUE", each ended by a NUL, into `setting`. Only names that a shell could have are kept: a process may
// have written anything there (a title).
void add_environment(std::string_view entries, const SettingChoice& choice, trace::ProcessSetting& setting);

// Of a command that is about to be started by this process, from its own setting; `environment`: as for execve.
[[nodiscard]] trace::ProcessSetting setting_for_command(const SettingChoice& choice, char* const* environment);

// Of a running process, but for its environment, which lies in its own memory; nothing if it has ended. The kernel
// answers by itself.
[[nodiscard]] std::optional<trace::ProcessSetting> setting_of(std::uint32_t pid, const SettingChoice& choice);

// The bytes of its environment as they are in its memory, at most 64 KiB. The process may hold this up.
[[nodiscard]] std::string environment_bytes_of(std::uint32_t pid);

// Those of these processes whose parent is none of them.
[[nodiscard]] std::vector<std::uint32_t> roots_of(const std::vector<std::uint32_t>& pids);

}  // namespace uscope::tracer
