// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/passed_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

namespace uscope::trace {
namespace {

// linux/magic.h, and fs/pidfs.c's
constexpr std::uint32_t kAnonymousInodes = 0x09041934;
constexpr std::uint32_t kPipes = 0x50495045;
constexpr std::uint32_t kPidfds = 0x50494446;
constexpr std::uint64_t kSocketBit = std::uint64_t{1} << 32U;
constexpr std::uint64_t kAnonymousBit = std::uint64_t{1} << 33U;
constexpr std::uint64_t kPidfdBit = std::uint64_t{1} << 34U;
constexpr std::uint32_t kMessagePidfd = 4;  // SCM_PIDFD of linux/socket.h
constexpr std::string_view kDeleted = " (deleted)";
constexpr std::string_view kAnonymous = "anon_inode:";
constexpr std::string_view kMemory = "memfd:";

std::string with_inode(std::string_view kind, std::uint64_t ino) {
  return std::string(kind) + ":[" + std::to_string(ino) + "]";
}

// The components, outermost first.
std::vector<std::string_view> components_of(std::string_view path) {
  std::vector<std::string_view> components;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('\0'), path.size());
    if (end != 0) components.push_back(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  std::reverse(components.begin(), components.end());
  return components;
}

std::string path_of(const usc_passed& passed, const std::vector<std::string_view>& components) {
  std::string path = passed.truncated != 0 ? "…" : "";
  for (const std::string_view component : components) path.append("/").append(component);
  if (passed.links == 0 && !path.empty() && !path.ends_with(kDeleted)) path += kDeleted;
  return path.empty() && passed.links != 0 && S_ISDIR(passed.mode) ? "/" : path;
}

// The backends differ in what they take of the name of a file that is in no folder: the kernel's own notation, or the
// name with the mark of deleted memory.
std::string name_of(const usc_passed& passed, std::string_view path) {
  if (S_ISSOCK(passed.mode)) return with_inode("socket", passed.ino);
  if (passed.filesystem == kPipes) return with_inode("pipe", passed.ino);
  if (passed.filesystem == kPidfds) return std::string(kAnonymous) + "[pidfd]";
  const std::vector<std::string_view> components = components_of(path);
  if (passed.filesystem != kAnonymousInodes) {
    const bool has_place = components.size() != 1 || passed.links != 0 || components.front().starts_with(kMemory);
    return has_place || components.front() != kDeleted ? path_of(passed, components) : std::string();
  }
  std::string_view name = components.empty() ? std::string_view() : components.back();
  if (name.starts_with(kAnonymous)) name.remove_prefix(kAnonymous.size());
  if (name.ends_with(kDeleted)) name.remove_suffix(kDeleted.size());
  return name.empty() ? std::string() : std::string(kAnonymous).append(name);
}

}  // namespace

PassedFile passed_file(std::string_view bytes) {
  PassedFile out;
  if (bytes.size() < sizeof(usc_passed)) return out;
  usc_passed passed{};
  std::memcpy(&passed, bytes.data(), sizeof(passed));
  out.fd = passed.fd;
  out.dev = passed.dev;
  out.ino = passed.ino;
  out.space = passed.space;
  out.is_socket = S_ISSOCK(passed.mode);
  out.is_anonymous = passed.filesystem == kAnonymousInodes;
  out.is_pidfd = passed.type == kMessagePidfd;
  out.name = name_of(passed, bytes.substr(sizeof(usc_passed), passed.path_bytes));
  return out;
}

std::array<std::uint64_t, 3> passed_numbers(const PassedFile& file) {
  return {file.dev, file.ino,
          static_cast<std::uint32_t>(file.fd) | (file.is_socket ? kSocketBit : 0) |
              (file.is_anonymous ? kAnonymousBit : 0) | (file.is_pidfd ? kPidfdBit : 0)};
}

PassedFile passed_file(const std::array<std::uint64_t, 3>& numbers) {
  return {.fd = static_cast<int>(static_cast<std::uint32_t>(numbers[2])),
          .dev = numbers[0],
          .ino = numbers[1],
          .space = 0,
          .is_socket = (numbers[2] & kSocketBit) != 0,
          .is_anonymous = (numbers[2] & kAnonymousBit) != 0,
          .is_pidfd = (numbers[2] & kPidfdBit) != 0,
          .name = {}};
}

std::string without_path(std::string_view bytes) {
  std::string out(bytes.substr(0, sizeof(usc_passed)));
  if (out.size() < sizeof(usc_passed)) return out;
  const decltype(usc_passed::path_bytes) none = 0;
  std::memcpy(out.data() + offsetof(usc_passed, path_bytes), &none, sizeof(none));
  return out;
}

}  // namespace uscope::trace
