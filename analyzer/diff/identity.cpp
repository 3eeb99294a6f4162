// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/diff/identity.h"

#include <algorithm>
#include <array>
#include <optional>

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

std::string argument_identity(std::string_view value) {
  const auto numbered = [&](std::string_view start, std::string_view end) {
    return value.size() > start.size() + end.size() && value.starts_with(start) && value.ends_with(end) &&
           all_of_class(value.substr(start.size(), value.size() - start.size() - end.size()), kDigits);
  };
  for (const std::string_view start : {"socket:[", "pipe:["})
    if (numbered(start, "]")) return std::string(start) + "*]";
  constexpr std::string_view kProcess = "/proc/";
  if (value.starts_with(kProcess)) {
    const std::size_t end = std::min(value.find('/', kProcess.size()), value.size());
    if (all_of_class(value.substr(kProcess.size(), end - kProcess.size()), kDigits))
      return std::string(kProcess) + "*" + std::string(value.substr(end));
  }
  const std::size_t colon = value.rfind(':');
  if (!value.starts_with("inet") || colon == std::string_view::npos) return std::string(value);
  const std::string_view port = value.substr(colon + 1);
  constexpr std::string_view kFirstOfClients = "32768";
  const bool of_client =
      all_of_class(port, kDigits) && port.size() == kFirstOfClients.size() && port >= kFirstOfClients;
  return of_client ? std::string(value.substr(0, colon + 1)) + "*" : std::string(value);
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
