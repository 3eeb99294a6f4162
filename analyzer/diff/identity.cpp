// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/diff/identity.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "analyzer/read/catalog.h"
#include "support/text.h"

namespace uscope::analyzer {
namespace {

constexpr std::string_view kDeleted = " (deleted)";

bool all_of_class(std::string_view text, std::string_view characters) {
  return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
}

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kHexDigits = "0123456789abcdef";

// The name without its last part if a compiler added that: ".cold", or ".part.7".
std::optional<std::string_view> without_compiler_suffix(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return std::nullopt;
  const std::string_view last = name.substr(dot + 1);
  if (last == "cold") return name.substr(0, dot);
  if (!all_of_class(last, kDigits)) return std::nullopt;
  constexpr std::array<std::string_view, 6> kKinds{".constprop", ".isra", ".part", ".cold", ".lto_priv", ".llvm"};
  const std::string_view rest = name.substr(0, dot);
  for (const std::string_view kind : kKinds)
    if (rest.size() > kind.size() && rest.ends_with(kind)) return rest.substr(0, rest.size() - kind.size());
  return std::nullopt;
}

std::string without_client_port(std::string_view address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string_view::npos) return std::string(address);
  const std::string_view port = address.substr(colon + 1);
  constexpr std::string_view kFirstOfClients = "32768";
  const bool of_client =
      all_of_class(port, kDigits) && port.size() == kFirstOfClients.size() && port >= kFirstOfClients;
  return of_client ? std::string(address.substr(0, colon + 1)) + "*" : std::string(address);
}

// "/proc/*/task/*/stat" for "/proc/12/task/13/stat".
std::string without_process(std::string path) {
  for (const std::string_view start : {"/proc/", "/proc/*/task/", "/proc/self/task/"}) {
    if (!path.starts_with(start)) continue;
    const std::size_t end = std::min(path.find('/', start.size()), path.size());
    if (all_of_class(std::string_view(path).substr(start.size(), end - start.size()), kDigits))
      path.replace(start.size(), end - start.size(), "*");
  }
  return path;
}

bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_alphanumeric(char c) {
  return is_lower(c) || is_upper(c) || is_digit(c);
}

// Whether letters and digits without a gap are what mkstemp() and its like make, rather than words and a number behind
// them: "Xo4MEJ", "a3f81c09e2", "kQvBnx"; but not "session12", "README", "FileName" and "20260131".
bool looks_random(std::string_view run) {
  constexpr std::size_t kLeast = 6;  // mkstemp()
  if (run.size() < kLeast) return false;
  while (!run.empty() && is_digit(run.back())) run.remove_suffix(1);
  const bool capitals = std::all_of(run.begin(), run.end(), is_upper);
  if (run.empty() || capitals) return false;
  // Words: of a capital and small letters, the first of which may have no capital.
  std::size_t at = 0;
  while (at < run.size()) {
    const std::size_t start = at;
    if (is_upper(run[at])) at++;
    const std::size_t small = at;
    while (at < run.size() && is_lower(run[at])) at++;
    if (at == small || (start != 0 && at - start < 3)) return true;
  }
  return false;
}

// In folders for temporary files: the random parts of names.
std::string without_random_names(std::string path) {
  std::size_t at = path.starts_with("unix:") ? path.find('/') : 0;
  if (at == std::string::npos) return path;
  const std::string_view rest = std::string_view(path).substr(at);
  constexpr std::array<std::string_view, 3> kFolders{"/tmp/", "/var/tmp/", "/dev/shm/"};
  const auto* const folder =
      std::find_if(kFolders.begin(), kFolders.end(), [&](std::string_view name) { return rest.starts_with(name); });
  if (folder == kFolders.end()) return path;
  at += folder->size();
  std::string text = path.substr(0, at);
  constexpr std::size_t kPython = 11;  // its tempfile: "tmp" and eight of a-z, 0-9 and _
  while (at < path.size()) {
    std::size_t end = at;
    if (path[at - 1] == '/' && path.compare(at, 3, "tmp") == 0) {
      while (end < path.size() && (is_lower(path[end]) || is_digit(path[end]) || path[end] == '_')) end++;
      if (end - at == kPython) {
        text += "tmp*";
        at = end;
        continue;
      }
      end = at;
    }
    while (end < path.size() && is_alphanumeric(path[end])) end++;
    if (end == at) {
      text += path[at++];
      continue;
    }
    const std::string run = path.substr(at, end - at);
    text += looks_random(run) ? "*" : run;
    at = end;
  }
  return text;
}

std::string without_task_numbers(const std::string& text, const TaskNumbers& tasks) {
  constexpr std::size_t kLeast = 3;
  constexpr std::size_t kMost = 10;
  if (tasks.empty()) return text;
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_digit(text[end])) end++;
    if (end == at) {
      out += text[at++];
      continue;
    }
    const std::string number = text.substr(at, end - at);
    const bool ends = end == text.size() || !is_alphanumeric(text[end]);
    const bool own = ends && number.size() >= kLeast && number.size() <= kMost && number[0] != '0' &&
                     tasks.contains(std::stoll(number));
    out += own ? "*" : number;
    at = end;
  }
  return out;
}

}  // namespace

std::string module_identity(std::string_view path) {
  // For memory (memfd) only: a file's path ends so only if the file is named so.
  if (path.starts_with("/memfd:") && path.ends_with(kDeleted)) path.remove_suffix(kDeleted.size());
  if (path.starts_with("[file ")) return "[file]";
  return std::string(base_name(path));
}

std::string function_identity(std::string_view function) {
  while (const auto shorter = without_compiler_suffix(function)) function = *shorter;
  constexpr std::size_t kRustHash = 19;  // "::h" and sixteen digits
  if (function.size() > kRustHash && function.substr(function.size() - kRustHash).starts_with("::h") &&
      all_of_class(function.substr(function.size() - 16), kHexDigits))
    function.remove_suffix(kRustHash);
  return std::string(function);
}

bool is_nameless(std::string_view function) {
  const std::size_t plus = function.rfind("+0x");
  return plus != std::string_view::npos && all_of_class(function.substr(plus + 3), kHexDigits);
}

std::string argument_identity(std::string_view value, const TaskNumbers& tasks) {
  for (const std::string_view start : {"socket:[", "pipe:["}) {
    if (!value.starts_with(start) || !value.ends_with("]")) continue;
    const std::string_view inner = value.substr(start.size(), value.size() - start.size() - 1);
    if (all_of_class(inner, kDigits)) return std::string(start) + "*]";
    const std::size_t space = inner.find(' ');  // "socket:[to inet:10.0.0.1:80]"
    if (space == std::string_view::npos) return std::string(value);
    return std::string(start) + std::string(inner.substr(0, space + 1)) +
           argument_identity(inner.substr(space + 1), tasks) + "]";
  }
  if (value.starts_with("inet")) return without_client_port(value);
  return without_task_numbers(without_random_names(without_process(std::string(value))), tasks);
}

OffsetTrust::OffsetTrust(const std::vector<std::vector<ModuleBuild>>& runs) {
  std::map<std::string, std::set<std::string>> first;  // build-ids of a module in the first run that has it
  for (const auto& modules : runs) {
    std::map<std::string, std::set<std::string>> builds;
    for (const ModuleBuild& module : modules) builds[module.module].insert(module.build_id);
    for (const auto& [module, ids] : builds) {
      const auto [known, is_new] = first.try_emplace(module, ids);
      // Two builds of one base name in one run could each have a function at the same offset.
      if (ids.size() != 1 || ids.count("") != 0 || known->second != ids) untrusted_.insert(module);
    }
  }
}

}  // namespace uscope::analyzer
