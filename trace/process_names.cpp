// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/process_names.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "support/text.h"
#include "uscope/interpreter.h"

namespace uscope::trace {
namespace {

std::uint32_t language_of(const std::string& executable) {
  std::uint64_t word = 0;
  std::memcpy(&word, executable.data(), std::min(executable.size(), sizeof(word)));
  return usc_language_of(word);
}

// "redis-server" of "/usr/bin/redis-server *:6379", "nginx" of "nginx: worker process".
std::string_view first_word_of(std::string_view title) {
  std::string_view word = title.substr(0, title.find(' '));
  if (word.ends_with(':')) word.remove_suffix(1);
  return word;
}

}  // namespace

bool names_nothing(std::string_view path) {
  const std::string_view base = base_name(path);
  const std::string_view folder = path.substr(0, path.size() - base.size());
  const bool is_proc = folder.starts_with("/proc/");
  if (is_proc && base == "exe") return true;
  return (folder == "/dev/fd/" || (is_proc && folder.ends_with("/fd/"))) &&
         base.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string ProcessNames::name() const {
  if (!path.empty() && !names_nothing(path)) return std::string(base_name(path));
  if (const std::string_view word = first_word_of(title); !word.empty() && !names_nothing(word))
    return std::string(base_name(word));
  // The kernel makes the name of the first thread from that path.
  const bool says_something = comm != "exe" && comm.find_first_not_of("0123456789") != std::string::npos;
  if (says_something) return comm;
  return executable.empty() ? std::string(base_name(path)) : executable;
}

std::vector<std::string> ProcessNames::all() const {
  std::vector<std::string> names;
  const std::string shown = name();
  for (const std::string_view one : {std::string_view(shown), base_name(first_word_of(title)), std::string_view(comm),
                                     base_name(title), std::string_view(executable), std::string_view(script)})
    if (!one.empty() && std::find(names.begin(), names.end(), one) == names.end()) names.emplace_back(one);
  return names;
}

bool ProcessNames::has(std::string_view name) const {
  const std::vector<std::string> names = all();
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string script_of(const std::string& executable, std::string_view arguments) {
  usc_argument_scan scan{};
  scan.language = language_of(executable);
  if (scan.language == USC_NO_LANGUAGE) return "";
  std::array<char, USC_ARGUMENT_BYTES> text{};
  const std::size_t bytes = arguments.copy(text.data(), text.size() - 1);
  for (std::uint32_t i = 0; i <= bytes && usc_scan_argument(&scan, text.data(), i) == 0; i++) {
  }
  return scan.found != 0 ? std::string(text.data() + scan.base) : "";
}

}  // namespace uscope::trace
