// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/own_libraries.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <utility>

#include "support/text.h"

namespace uscope::trace {
namespace {

template <std::size_t N>
bool is_one_of(std::string_view text, const std::array<std::string_view, N>& list) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

// "/usr/lib" for "/usr/lib/libz.so", "" for "/x" and for what is no path.
std::string_view folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? "" : path.substr(0, slash);
}

// The part of a folder's name behind the system's prefix: "/lib" for "/usr/local/lib".
std::string_view without_prefix(std::string_view folder) {
  for (const std::string_view prefix : {"/usr/local", "/usr"})
    if (folder.starts_with(prefix) && (folder.size() == prefix.size() || folder[prefix.size()] == '/'))
      return folder.substr(prefix.size());
  return folder;
}

bool is_program_folder(std::string_view name) {
  constexpr std::array<std::string_view, 4> kNames{"bin", "sbin", "games", "libexec"};
  return is_one_of(name, kNames);
}

// "/lib", "/lib64", "/lib/x86_64-linux-gnu", "/libexec", "/share", without the system's prefix.
bool is_library_folder(std::string_view folder) {
  constexpr std::array<std::string_view, 6> kNames{"/lib", "/lib32", "/lib64", "/libx32", "/libexec", "/share"};
  if (is_one_of(folder, kNames)) return true;
  const std::string_view last = base_name(folder);
  return is_one_of(folder_of(folder), kNames) && last.find("-linux-") != std::string_view::npos;
}

bool is_shared_folder(std::string_view folder) {
  const std::string_view rest = without_prefix(folder);
  return rest.empty() || is_library_folder(rest) || (rest.starts_with('/') && is_program_folder(rest.substr(1)));
}

// The name without the version at its end: "python" for "python3.11", "ruby" for "ruby-3.1".
std::string_view without_version(std::string_view name) {
  const std::size_t end = name.find_last_not_of("0123456789.");
  if (end == std::string_view::npos) return name;
  name = name.substr(0, end + 1);
  if (name.size() > 1 && (name.back() == '-' || name.back() == '_')) name.remove_suffix(1);
  return name;
}

// The first word of the name: "perl" for "perl-base", "gcc" for "gcc-cross".
std::string_view first_word(std::string_view name) {
  return name.substr(0, name.find_first_of("-_.0123456789"));
}

// The first part of the path behind the system's library folder that the path is in, "jvm" for "/usr/lib/jvm/x/bin/y",
// and whether the path goes on behind it. Empty: it is in no such folder.
std::pair<std::string_view, bool> place_in_library_folder(std::string_view path) {
  for (std::string_view folder = folder_of(path); !folder.empty(); folder = folder_of(folder)) {
    if (!is_library_folder(without_prefix(folder))) continue;
    const std::string_view rest = path.substr(folder.size() + 1);
    const std::size_t slash = rest.find('/');
    return {rest.substr(0, slash), slash != std::string_view::npos};
  }
  return {};
}

}  // namespace

bool module_matches(const std::string& glob, const std::string& path) {
  const std::string base(base_name(path));
  return fnmatch(glob.c_str(), path.c_str(), 0) == 0 || fnmatch(glob.c_str(), base.c_str(), 0) == 0;
}

void OwnLibraries::add_executable(std::string_view path) {
  if (!path.starts_with('/')) return;
  const std::string_view folder = folder_of(path);
  const auto add_name = [&](std::string_view name) {
    if (name.size() < 2) return;
    names_.emplace(name);
    names_.emplace(without_version(name));
  };
  if (is_shared_folder(folder)) {
    add_name(base_name(path));
    return;
  }
  if (const auto [name, goes_on] = place_in_library_folder(path); goes_on) add_name(name);
  folders_.emplace(folder);
  const std::string_view parent = folder_of(folder);
  if (!is_program_folder(base_name(folder)) || parent.empty()) return;
  for (const std::string_view name : {"/lib", "/lib64", "/libexec"}) folders_.insert(std::string(parent).append(name));
}

bool OwnLibraries::owns(std::string_view path) const {
  for (std::string_view folder = folder_of(path); !folder.empty(); folder = folder_of(folder))
    if (folders_.contains(folder)) return true;
  auto [name, goes_on] = place_in_library_folder(path);
  if (name.empty()) return false;
  const auto known = [&](std::string_view text) { return names_.contains(text); };
  if (goes_on) return known(name) || known(without_version(name)) || known(first_word(name));
  const std::size_t end = name.find(".so");
  if (!name.starts_with("lib") || end == std::string_view::npos) return false;
  name = name.substr(3, end - 3);
  return known(name) || known(without_version(name));
}

}  // namespace uscope::trace
