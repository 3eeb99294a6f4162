// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/object_name.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "support/text.h"

namespace uscope::trace {
namespace {

constexpr std::size_t kObjectKindCount = static_cast<std::size_t>(ObjectKind::kCount);

constexpr std::array<std::string_view, kObjectKindCount> kObjectKinds{
    "file",  "folder",  "pipe",  "inet",    "inet6",    "unix",    "netlink", "packet",     "vsock", "socket",
    "memfd", "eventfd", "epoll", "timerfd", "signalfd", "inotify", "pidfd",   "anon_inode", "other"};
static_assert(!kObjectKinds.back().empty());

// How names of descriptors begin, as /proc and the store have them.
constexpr std::pair<std::string_view, ObjectKind> kBeginnings[] = {
    {"pipe", ObjectKind::kPipe},
    {"/memfd:", ObjectKind::kMemfd},
    {"/secretmem", ObjectKind::kMemfd},
    {"anon_inode:[eventfd]", ObjectKind::kEventfd},
    {"anon_inode:[eventpoll]", ObjectKind::kEpoll},
    {"anon_inode:[timerfd]", ObjectKind::kTimerfd},
    {"anon_inode:[signalfd]", ObjectKind::kSignalfd},
    {"anon_inode:inotify", ObjectKind::kInotify},
    {"anon_inode:[pidfd]", ObjectKind::kPidfd},
    {"pidfd:", ObjectKind::kPidfd},  // since Linux 6.9, they have a file system of their own
    {"anon_inode:", ObjectKind::kAnonInode},
    {"/", ObjectKind::kFile},
};

constexpr std::pair<std::string_view, ObjectKind> kFamilies[] = {
    {"inet", ObjectKind::kInet},       {"inet6", ObjectKind::kInet6},    {"unix", ObjectKind::kUnix},
    {"netlink", ObjectKind::kNetlink}, {"packet", ObjectKind::kPacket},  {"vsock", ObjectKind::kVsock},
    {"pair", ObjectKind::kUnix},       {"family ", ObjectKind::kSocket}, {"address", ObjectKind::kSocket}};

// Of an address, "inet:127.0.0.1:80", or a family's name alone.
std::optional<ObjectKind> family_of(std::string_view text) {
  const std::string_view word = text.substr(0, text.find_first_of(":]"));
  for (const auto& [family, kind] : kFamilies)
    if (word == family || (family.ends_with(' ') && word.starts_with(family))) return kind;
  return std::nullopt;
}

bool is_address(std::string_view text) {
  return text.find(':') != std::string_view::npos && !text.starts_with("pair") && family_of(text);
}

}  // namespace

std::string_view address_relation(std::string_view call) {
  if (call == "connect" || call == "sendto" || call == "sendmsg") return "to";
  return call == "bind" ? "at" : "";
}

std::optional<std::string> object_name(std::string_view relation, const std::optional<std::string>& folder,
                                       const std::optional<std::string>& name) {
  if (!name) return folder;
  if (folder) return uscope::joined_path(*folder, *name);
  if (!relation.empty() && is_address(*name)) return "socket:[" + std::string(relation) + " " + *name + "]";
  return *name;
}

ObjectKind object_kind(std::string_view name, bool is_path) {
  if (is_path) return ObjectKind::kFile;
  constexpr std::string_view kSocket = "socket:[";
  if (name.starts_with(kSocket)) {
    name.remove_prefix(kSocket.size());
    // "to inet:127.0.0.1:80]", "family 42]", "4711]"
    const std::size_t space = name.find(' ');
    if (space != std::string_view::npos && !name.starts_with("family ")) name.remove_prefix(space + 1);
    return family_of(name).value_or(ObjectKind::kSocket);
  }
  if (is_address(name)) return *family_of(name);
  const auto* const at = std::find_if(std::begin(kBeginnings), std::end(kBeginnings),
                                      [&](const auto& one) { return name.starts_with(one.first); });
  return at == std::end(kBeginnings) ? ObjectKind::kOther : at->second;
}

std::string_view object_kind_name(ObjectKind kind) {
  return kObjectKinds.at(static_cast<std::size_t>(kind));
}

}  // namespace uscope::trace
