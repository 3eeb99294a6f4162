// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/process/process_setting.h"

#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iterator>

#include "support/glob.h"
#include "tracer/process/process_list.h"

namespace uscope::tracer {
namespace {

constexpr std::size_t kMostEnvironBytes = 65'536;

struct NamedLimit {
  const char* name;
  __rlimit_resource resource;
};

constexpr std::array kLimits{NamedLimit{"AS", RLIMIT_AS},
                             NamedLimit{"CORE", RLIMIT_CORE},
                             NamedLimit{"CPU", RLIMIT_CPU},
                             NamedLimit{"DATA", RLIMIT_DATA},
                             NamedLimit{"FSIZE", RLIMIT_FSIZE},
                             NamedLimit{"MEMLOCK", RLIMIT_MEMLOCK},
                             NamedLimit{"MSGQUEUE", RLIMIT_MSGQUEUE},
                             NamedLimit{"NICE", RLIMIT_NICE},
                             NamedLimit{"NOFILE", RLIMIT_NOFILE},
                             NamedLimit{"NPROC", RLIMIT_NPROC},
                             NamedLimit{"RSS", RLIMIT_RSS},
                             NamedLimit{"RTPRIO", RLIMIT_RTPRIO},
                             NamedLimit{"RTTIME", RLIMIT_RTTIME},
                             NamedLimit{"SIGPENDING", RLIMIT_SIGPENDING},
                             NamedLimit{"STACK", RLIMIT_STACK}};

void read_limits(pid_t pid, trace::ProcessSetting& setting) {
  for (const NamedLimit& limit : kLimits) {
    rlimit value{};
    if (prlimit(pid, limit.resource, nullptr, &value) != 0) continue;
    const auto number = [](rlim_t one) { return one == RLIM_INFINITY ? trace::ProcessSetting::kUnlimited : one; };
    setting.limits[limit.name] = {number(value.rlim_cur), number(value.rlim_max)};
  }
}

bool is_name(std::string_view text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && is_letter(text[0]) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

bool is_any_of(const std::vector<std::string>& patterns, std::string_view name) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return glob_matches(pattern, name); });
}

// A value, and each part of a list of folders, without what is to be hidden.
std::string shown(std::string_view value, const Redactor& redactor) {
  if (redactor.hides(value)) return std::string(kRedacted);
  std::string text;
  for (std::string_view rest = value;;) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    text += redactor.hides(rest.substr(0, end)) ? kRedacted : rest.substr(0, end);
    if (end == rest.size()) return text;
    text += ':';
    rest.remove_prefix(end + 1);
  }
}

std::string kept_text(std::string_view value, const SettingChoice& choice) {
  const Redactor redactor(choice.redact);
  std::string text =
      value.size() > kMostSettingBytes && !redactor.empty() ? std::string(kRedacted) : shown(value, redactor);
  if (text.size() > kMostSettingBytes) text.resize(kMostSettingBytes);
  return text;
}

// The number behind "Uid:" and its like; `column` from 0.
std::optional<std::uint32_t> status_number(const std::string& status, std::string_view key, int column) {
  std::size_t at = status.find("\n" + std::string(key) + ":");
  if (at == std::string::npos) return std::nullopt;
  at += key.size() + 2;
  for (int i = 0;; i++) {
    at = status.find_first_not_of(" \t", at);
    if (at == std::string::npos) return std::nullopt;
    if (i == column) break;
    at = status.find_first_of(" \t\n", at);
    if (at == std::string::npos) return std::nullopt;
  }
  std::uint32_t number = 0;
  const auto [end, problem] = std::from_chars(status.data() + at, status.data() + status.size(), number);
  return problem == std::errc() ? std::optional(number) : std::nullopt;
}

std::string status_of(std::uint32_t pid) {
  std::ifstream file(fmt::format("/proc/{}/status", pid));
  return {std::istreambuf_iterator<char>(file), {}};
}

constexpr int kEffective = 1;  // column of Uid and Gid

}  // namespace

void add_environment(std::string_view entries, const SettingChoice& choice, trace::ProcessSetting& setting) {
  if (!choice.texts) return;
  const Redactor redactor(choice.redact);
  std::vector<std::string> names;
  std::size_t left_for_names = kMostSettingBytes;
  std::size_t left_for_values = kMostSettingBytes;
  while (!entries.empty()) {
    const std::size_t end = std::min(entries.find('\0'), entries.size());
    const std::string_view entry = entries.substr(0, end);
    entries.remove_prefix(std::min(end + 1, entries.size()));
    const std::size_t equal = entry.find('=');
    if (equal == std::string_view::npos || !is_name(entry.substr(0, equal))) continue;
    const std::string name(entry.substr(0, equal));
    if (redactor.hides(name) || name.size() > left_for_names) continue;
    left_for_names -= name.size();
    names.push_back(name);
    if (name != "PATH" && !is_any_of(choice.values, name)) continue;
    std::string value = kept_text(entry.substr(equal + 1), choice);
    if (value.size() > left_for_values) continue;
    left_for_values -= value.size();
    setting.values[name] = std::move(value);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  setting.environment = std::move(names);
}

trace::ProcessSetting setting_for_command(const SettingChoice& choice, char* const* environment) {
  trace::ProcessSetting setting;
  setting.uid = geteuid();
  setting.gid = getegid();
  read_limits(0, setting);
  if (!choice.texts) return setting;
  setting.cwd = kept_text(link_target("/proc/self/cwd"), choice);
  std::string entries;
  for (char* const* entry = environment; *entry != nullptr; entry++) entries.append(*entry).push_back('\0');
  add_environment(entries, choice, setting);
  return setting;
}

std::optional<trace::ProcessSetting> setting_of(std::uint32_t pid, const SettingChoice& choice) {
  const std::string status = status_of(pid);
  if (status.empty()) return std::nullopt;
  trace::ProcessSetting setting;
  setting.pid = pid;
  setting.uid = status_number(status, "Uid", kEffective);
  setting.gid = status_number(status, "Gid", kEffective);
  read_limits(static_cast<pid_t>(pid), setting);
  if (choice.texts)
    if (const std::string cwd = link_target(fmt::format("/proc/{}/cwd", pid)); !cwd.empty())
      setting.cwd = kept_text(cwd, choice);
  return setting;
}

std::string environment_bytes_of(std::uint32_t pid) {
  std::ifstream file(fmt::format("/proc/{}/environ", pid));
  std::string bytes(kMostEnvironBytes, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

std::vector<std::uint32_t> roots_of(const std::vector<std::uint32_t>& pids) {
  std::vector<std::uint32_t> roots;
  for (const std::uint32_t pid : pids) {
    const auto parent = status_number(status_of(pid), "PPid", 0);
    if (!parent || std::find(pids.begin(), pids.end(), *parent) == pids.end()) roots.push_back(pid);
  }
  return roots;
}

}  // namespace uscope::tracer
