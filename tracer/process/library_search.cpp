// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The loader's search, roughly: DT_RUNPATH with $ORIGIN, then the folders that Debian and others compile in.
// ld.so.cache is not read; LD_LIBRARY_PATH is not followed. A library is an ELF file: a text of its name (libc.so) is
// for the linker. musl's loader is the C library, under all of its names; it searches folders of its own
// (ldso/dynlink.c of musl 1.2, and those that Debian names in /etc/ld-musl-x86_64.path, which is not read).
#include "tracer/process/library_search.h"

#include <elf.h>
#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <span>
#include <string_view>
#include <utility>

#include "support/regular_file.h"

namespace uscope::tracer {
namespace {

constexpr std::array<const char*, 7> kFolders = {
    "/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib"};

constexpr std::array<const char*, 5> kMuslFolders = {"/lib/x86_64-linux-musl", "/usr/lib/x86_64-linux-musl", "/lib",
                                                     "/usr/local/lib", "/usr/lib"};
constexpr std::array<std::string_view, 7> kMuslNames = {"libc.",  "libpthread.", "librt.",  "libm.",
                                                        "libdl.", "libutil.",    "libxnet."};

// Far above the needs of real programs; a file may request anything, and the search takes the collector's time.
constexpr std::size_t kMostRunpaths = 16;
constexpr std::size_t kMostLooks = 768;

bool is_library(const std::string& path) {
  const auto fd = open_regular(path, "", Leases::kBroken);  // the loader opens it, too
  std::array<char, SELFMAG> magic{};
  return fd && pread(fd->get(), magic.data(), magic.size(), 0) == SELFMAG &&
         std::memcmp(magic.data(), ELFMAG, magic.size()) == 0;
}

bool is_musl(const symbolizer::ElfFacts& facts) {
  return std::filesystem::path(facts.interpreter).filename().string().compare(0, 8, "ld-musl-") == 0;
}

bool is_musl_itself(const std::string& name) {
  return std::any_of(kMuslNames.begin(), kMuslNames.end(),
                     [&](std::string_view own) { return name.compare(0, own.size(), own) == 0; });
}

std::string expand_origin(std::string folder, const std::string& user) {
  for (const std::string token : {"$ORIGIN", "${ORIGIN}"}) {
    const std::size_t at = folder.find(token);
    if (at != std::string::npos) folder.replace(at, token.size(), std::filesystem::path(user).parent_path().string());
  }
  return folder;
}

std::vector<std::string> folders_of(const symbolizer::ElfFacts& facts, const std::string& user) {
  std::vector<std::string> folders;
  const std::size_t own = std::min(facts.runpath.size(), kMostRunpaths);
  for (std::size_t i = 0; i < own; i++) folders.push_back(expand_origin(facts.runpath[i], user));
  const auto usual = is_musl(facts) ? std::span<const char* const>(kMuslFolders) : kFolders;
  folders.insert(folders.end(), usual.begin(), usual.end());
  return folders;
}

// `looks`: how many files may still be tried.
std::string find_library(const std::string& name, const std::vector<std::string>& folders, std::size_t& looks) {
  if (name.size() > PATH_MAX || looks == 0) return "";
  if (name.find('/') != std::string::npos) {
    looks--;
    return is_library(name) ? name : "";
  }
  for (const std::string& folder : folders) {
    if (looks == 0) break;
    looks--;
    std::string path = folder;
    path.append("/").append(name);
    if (is_library(path)) return path;
  }
  return "";
}

}  // namespace

std::string find_library(const std::string& name) {
  std::size_t looks = kFolders.size();
  return find_library(name, {kFolders.begin(), kFolders.end()}, looks);
}

std::string script_interpreter(int fd) {
  std::array<char, 256> line{};
  const ssize_t got = pread(fd, line.data(), line.size() - 1, 0);
  std::string text(line.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  if (text.compare(0, 2, "#!") != 0) return "";
  text = text.substr(2, text.find('\n') == std::string::npos ? std::string::npos : text.find('\n') - 2);
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_first_of(" \t", begin) - begin);
}

std::vector<std::string> asked_for(const symbolizer::ElfFacts& facts, const std::string& path) {
  std::vector<std::string> files;
  if (!facts.interpreter.empty()) files.push_back(facts.interpreter);
  const std::vector<std::string> folders = folders_of(facts, path);
  std::size_t looks = kMostLooks;
  for (const std::string& name : facts.needed) {
    if (files.size() >= kMostFiles || looks == 0) break;
    if (is_musl(facts) && is_musl_itself(name)) continue;
    if (std::string found = find_library(name, folders, looks); !found.empty()) files.push_back(std::move(found));
  }
  return files;
}

}  // namespace uscope::tracer
