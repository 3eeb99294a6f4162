// The part of DescriptorTracker that says what a call that has succeeded gave: names of what was opened.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>

#include "store/descriptor_calls.h"
#include "store/descriptor_tracker.h"
#include "store/syscall_table.h"

namespace uscope::store {
namespace {

int number_of(const usc_event& event, std::size_t arg) {
  return static_cast<int>(event.args[arg]);
}

const OrderedString* find_string(std::span<const OrderedString> strings, int arg) {
  for (const OrderedString& string : strings)
    if (string.arg == arg) return &string;
  return nullptr;
}

std::string_view family_name(int family) {
  switch (family) {
    case AF_UNIX:
      return "unix";
    case AF_INET:
      return "inet";
    case AF_INET6:
      return "inet6";
    case AF_NETLINK:
      return "netlink";
    default:
      return "";
  }
}

}  // namespace

// Sets a descriptor when the call has returned; `name` empty: it is there, and what it is is not known.
Result<void> DescriptorTracker::open_as(const usc_event& event, std::uint32_t process, int fd, std::string_view name,
                                        bool cloexec) {
  if (name.empty() || fd < 0) return {};
  auto id = strings_.intern(redactor_.hides(name) ? kRedacted : name);
  if (!id) return id.error();
  plan({.kind = Update::Kind::kSet,
        .time = event.head.time,
        .process = process,
        .fd = fd,
        .descriptor = {*id, cloexec, false}});
  return {};
}

// "" where the folder is not known.
Result<std::string> DescriptorTracker::absolute(const std::string& path, std::uint32_t process, int folder) {
  if (path.starts_with('/')) return path;
  std::int64_t base = 0;
  if (folder == AT_FDCWD) {
    if (const auto at = folders_.find(process); at != folders_.end()) base = at->second;
  } else if (const Descriptor* found = table_.find(process, folder)) {
    base = found->string_id;
  }
  if (base == 0 || path.empty()) return std::string();
  auto text = strings_.text(base);
  if (!text) return text.error();
  if (!*text || !(*text)->starts_with('/')) return std::string();
  std::string_view rest = path;
  while (rest.starts_with("./")) rest.remove_prefix(2);
  if (rest == ".") return **text;
  return **text + ((*text)->ends_with('/') ? "" : "/") + std::string(rest);
}

Result<void> DescriptorTracker::leave_opening(const usc_event& event, std::uint32_t process, const CallFacts& facts,
                                              std::span<const OrderedString> strings) {
  const int fd = static_cast<int>(event.result);
  std::uint64_t flags = facts.flags >= 0 ? event.args[static_cast<std::size_t>(facts.flags)] : 0;
  const std::string call = syscall_name(static_cast<usc_abi>(event.abi), event.nr);
  if (facts.call == DescriptorCall::kLabel)
    return open_as(event, process, fd, descriptor_label(call), (flags & O_CLOEXEC) != 0);
  const OrderedString* path = facts.path >= 0 ? find_string(strings, facts.path) : nullptr;
  if (!path || path->string_id == 0) return {};
  auto text = strings_.text(path->string_id);
  if (!text) return text.error();
  if (!*text) return {};
  if (facts.call == DescriptorCall::kMemfd)
    return open_as(event, process, fd, "/memfd:" + **text + " (deleted)", (event.args[1] & 1) != 0);
  if (facts.call != DescriptorCall::kOpen) return {};
  if (call == "openat2") {
    const OrderedString* how = find_string(strings, 2);
    if (!how || how->string_id != 0) return {};  // whether an exec closes it is not known
    flags = how->numbers[0];
  }
  if ((flags & O_TMPFILE) == O_TMPFILE) return {};  // a file without a name
  const bool redacted = (path->flags & USC_STRING_REDACTED) != 0;
  auto name = redacted ? Result<std::string>(**text)
                       : absolute(**text, process, facts.path == 0 ? AT_FDCWD : number_of(event, 0));
  if (!name) return name.error();
  return open_as(event, process, fd, *name, (flags & O_CLOEXEC) != 0);
}

Result<void> DescriptorTracker::leave_socket(const usc_event& event, std::uint32_t process, const CallFacts& facts,
                                             std::span<const OrderedString> strings) {
  if (facts.call == DescriptorCall::kSocket) {
    const std::string name = "socket:[" + std::string(family_name(number_of(event, 0))) + "]";
    return open_as(event, process, static_cast<int>(event.result), name, (event.args[1] & SOCK_CLOEXEC) != 0);
  }
  const OrderedString* address = find_string(strings, 1);
  std::string peer;
  if (address && address->string_id != 0) {
    auto text = strings_.text(address->string_id);
    if (!text) return text.error();
    peer = text->value_or("");
  }
  if (facts.call == DescriptorCall::kAccept) {
    const bool cloexec = facts.flags >= 0 && (event.args[3] & SOCK_CLOEXEC) != 0;
    return open_as(event, process, static_cast<int>(event.result),
                   peer.empty() ? "socket:[accepted]" : "socket:[from " + peer + "]", cloexec);
  }
  const bool works = event.result >= 0 || (facts.call == DescriptorCall::kConnect && event.result == -EINPROGRESS);
  const Descriptor* socket = table_.find(process, number_of(event, 0));
  if (!works || !socket || peer.empty()) return {};
  const char* relation = facts.call == DescriptorCall::kConnect ? "to " : "at ";
  return open_as(event, process, number_of(event, 0), "socket:[" + std::string(relation) + peer + "]",
                 socket->close_on_exec);
}

Result<void> DescriptorTracker::leave_pair(const usc_event& event, std::uint32_t process, const CallFacts& facts,
                                           std::span<const OrderedString> strings) {
  const std::uint64_t flags = facts.flags >= 0 ? event.args[static_cast<std::size_t>(facts.flags)] : 0;
  const std::string_view label = descriptor_label(syscall_name(static_cast<usc_abi>(event.abi), event.nr));
  for (const OrderedString& string : strings) {
    if (string.kind != USC_STRING_PAIR) continue;
    for (const int fd : {static_cast<int>(string.numbers[0] & 0xffffffffU), static_cast<int>(string.numbers[0] >> 32)})
      if (auto done = open_as(event, process, fd, label, (flags & O_CLOEXEC) != 0); !done) return done;
  }
  return {};
}

// Copies are of what the descriptor is now, when the call is entered.
void DescriptorTracker::leave_copy(const usc_event& event, std::uint32_t process, const CallFacts& facts) {
  const int from = number_of(event, 0);
  const auto copy_to = [&](int fd, bool cloexec) {
    Update update{.kind = Update::Kind::kSet, .time = event.head.time, .process = process, .fd = fd};
    if (const Descriptor* found = table_.find(process, from)) {
      update.descriptor = {found->string_id, cloexec, false};
    } else {
      update.kind = Update::Kind::kClose;
    }
    if (fd != from) plan(update);
  };
  const auto mark = [&](bool cloexec) { table_.set_close_on_exec(process, from, from, cloexec); };
  switch (facts.call) {
    case DescriptorCall::kDuplicate:
      copy_to(static_cast<int>(event.result), false);
      break;
    case DescriptorCall::kDuplicateTo:
      copy_to(number_of(event, 1), facts.flags >= 0 && (event.args[2] & O_CLOEXEC) != 0);
      break;
    case DescriptorCall::kFcntl:
      if (event.args[1] == F_DUPFD || event.args[1] == F_DUPFD_CLOEXEC)
        copy_to(static_cast<int>(event.result), event.args[1] == F_DUPFD_CLOEXEC);
      if (event.args[1] == F_SETFD) mark((event.args[2] & FD_CLOEXEC) != 0);
      break;
    default:
      if (static_cast<std::uint32_t>(event.args[1]) == FIOCLEX) mark(true);
      if (static_cast<std::uint32_t>(event.args[1]) == FIONCLEX) mark(false);
      break;
  }
}

Result<void> DescriptorTracker::leave_directory(const usc_event& event, std::uint32_t process, const CallFacts& facts,
                                                std::span<const OrderedString> strings) {
  std::int64_t folder = 0;
  if (facts.call == DescriptorCall::kFchdir) {
    if (const Descriptor* found = table_.find(process, number_of(event, 0))) folder = found->string_id;
  } else if (const OrderedString* path = find_string(strings, 0)) {
    auto text = strings_.text(path->string_id);
    if (!text) return text.error();
    const bool redacted = (path->flags & USC_STRING_REDACTED) != 0;
    auto name = redacted ? Result<std::string>(std::string()) : absolute(text->value_or(""), process, AT_FDCWD);
    if (!name) return name.error();
    if (!name->empty()) {
      auto id = strings_.intern(redactor_.hides(*name) ? kRedacted : *name);
      if (!id) return id.error();
      folder = *id;
    }
  }
  plan({.kind = Update::Kind::kSet,
        .time = event.head.time,
        .process = process,
        .fd = USC_FD_CWD,
        .descriptor = {folder, false, false}});
  return {};
}

}  // namespace uscope::store
