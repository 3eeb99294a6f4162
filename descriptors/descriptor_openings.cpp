// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The part of DescriptorTracker that names what a successful call opened.
#include <fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <iterator>
#include <limits>
#include <optional>
#include <system_error>

#include "descriptors/descriptor_tracker.h"
#include "support/socket_address.h"
#include "support/text.h"
#include "syscalls/syscall_table.h"

#include "descriptors/descriptor_calls.h"

namespace uscope::descriptors {
namespace {

constexpr std::size_t kMostSockets = std::size_t{1} << 20;
constexpr std::string_view kAutobind = "unix:";  // the kernel chooses the name
constexpr std::string_view kAccepted = "socket:[accepted]";
constexpr std::string_view kWith = "socket:[with ";  // of one that was connected before the trace

const trace::OrderedString* find_string(std::span<const trace::OrderedString> strings, int arg) {
  for (const trace::OrderedString& string : strings)
    if (string.arg == arg) return &string;
  return nullptr;
}

// What /proc says of whoever looks: a path through it leads elsewhere in another process.
constexpr std::string_view kOwn[] = {"/proc/self", "/proc/thread-self", "/dev/fd",
                                     "/dev/stdin", "/dev/stdout",       "/dev/stderr"};

constexpr std::string_view kOwnExecutable[] = {"/proc/self/exe", "/proc/thread-self/exe"};

bool is_own_executable(std::string_view path) {
  return std::find(std::begin(kOwnExecutable), std::end(kOwnExecutable), path) != std::end(kOwnExecutable);
}

// A path through a descriptor or the working directory: "/proc/self/fd/3/sub", "/proc/4711/fd/3", "/dev/stdin",
// "/proc/self/cwd/sub".
struct PathThroughDescriptor {
  std::uint32_t pid = 0;  // whose, as the path says; 0: the caller's
  int fd = 0;             // AT_FDCWD: the working directory
  std::string rest;       // "." if nothing follows
};

// Reads a number at the beginning, and takes it off; nothing if there is none.
std::optional<std::uint32_t> take_number(std::string_view& text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

// What is left behind this beginning, if the text has it.
bool take_beginning(std::string_view& text, std::string_view beginning) {
  if (!text.starts_with(beginning)) return false;
  text.remove_prefix(beginning.size());
  return true;
}

std::optional<PathThroughDescriptor> path_through_descriptor(std::string_view path) {
  PathThroughDescriptor found;
  constexpr std::string_view kStandard[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr"};
  for (int fd = 0; fd < 3; fd++)
    if (path == kStandard[fd]) return PathThroughDescriptor{0, fd, "."};
  if (!take_beginning(path, "/dev/")) {
    if (!take_beginning(path, "/proc/self/") && !take_beginning(path, "/proc/thread-self/")) {
      const auto pid = take_beginning(path, "/proc/") ? take_number(path) : std::nullopt;
      if (!pid || !take_beginning(path, "/")) return std::nullopt;
      found.pid = *pid;
    }
    if (take_beginning(path, "cwd")) found.fd = AT_FDCWD;
  }
  if (found.fd != AT_FDCWD) {
    const auto fd = take_beginning(path, "fd/") ? take_number(path) : std::nullopt;
    if (!fd || *fd > static_cast<std::uint32_t>(std::numeric_limits<int>::max())) return std::nullopt;
    found.fd = static_cast<int>(*fd);
  }
  if (!path.empty() && path.front() != '/') return std::nullopt;
  path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
  found.rest = path.empty() ? "." : path;
  return found;
}

}  // namespace

Result<trace::TextId> DescriptorTracker::intern(std::string_view name) {
  return texts_.intern(redactor_.hides(bytes_of(name)) ? kRedacted : name);
}

// Takes effect at the call's return; an empty `name` means an open descriptor of unknown kind.
Result<void> DescriptorTracker::open_as(Return update, std::string_view name, bool closes_on_exec) {
  if (update.fd < 0) return {};
  if (!name.empty()) {
    auto id = intern(name);
    if (!id) return id.error();
    update.descriptor.name = *id;
  }
  update.descriptor.close_on_exec = closes_on_exec;
  update.table->descriptors.begin_open(update.fd);
  plan(std::move(update));
  return {};
}

// Whether a component of a folder's path may have been renamed in the meantime.
bool DescriptorTracker::was_moved(std::string_view folder, std::uint64_t since) const {
  if (since < moved_all_) return true;
  if (since > moved_any_) return false;
  while (!folder.empty()) {
    const std::size_t end = std::min(folder.find('/'), folder.size());
    const auto at = moved_.find(std::string(folder.substr(0, end)));
    if (at != moved_.end() && at->second > since) return true;
    folder.remove_prefix(std::min(end + 1, folder.size()));
  }
  return false;
}

// Returns "" if unknown; `update` receives what the result depends on. If the task has a root of its own, a path is not
// what it looks like, but the folder itself is still known.
Result<std::string> DescriptorTracker::absolute(const std::string& path, const DescriptorOwner& owner, int folder,
                                                Return& update) {
  const SharedFolder& own = *owner.folder;
  const bool has_root = sees_roots_ && !own.unsure && own.root_is_plain && own.root_stamp > roots_forgotten_;
  const bool is_itself = path == ".";
  if (path.empty() || (!is_itself && !has_root)) return std::string();
  if (!is_itself || folder == AT_FDCWD) {
    update.folder = owner.folder;
    update.folder_stamp = own.stamp;
  }
  if (is_own_executable(path)) {
    const std::string file = executable(update.image);
    return file.empty() ? path : file;
  }
  if (const auto through = path_through_descriptor(path)) {
    const Return before = update;
    if (const DescriptorOwner* whose = owner_of(through->pid, owner, update.time)) {
      auto found = absolute(through->rest, *whose, through->fd, update);
      if (!found) return found;
      if (whose != &owner && update.source >= 0) update.source_table = whose->table;
      if (!found->empty()) return found;
    }
    update = before;
  }
  if (path.starts_with('/')) return path;
  if (!sees_folders_) return std::string();
  trace::TextId base = own.unsure ? trace::TextId() : own.working;
  std::uint64_t stamp = own.working_stamp;
  if (folder != AT_FDCWD) {
    const Descriptor* found = is_said(owner, update.time) ? known(*owner.table, folder) : nullptr;
    if (!found || !found->name) return std::string();
    base = found->name;
    stamp = update.source_stamp = found->stamp;
    update.source = folder;
  }
  if (!base) return std::string();
  auto text = texts_.text(base);
  if (!text) return text.error();
  if (!*text || was_moved(**text, stamp)) return std::string();
  const bool is_base = (*text)->starts_with('/') && !(*text)->ends_with("…") && !is_own_path(**text);
  if (!is_base && !(is_itself && folder != AT_FDCWD)) return std::string();
  update.composed = true;
  return joined_path(**text, path);
}

// The program's file; empty: unknown.
std::string DescriptorTracker::executable(trace::ImageId id) const {
  const auto image = definitions_.images.find(id);
  const auto file =
      image == definitions_.images.end() ? definitions_.files.end() : definitions_.files.find(image->second.exe_file);
  return file != definitions_.files.end() && file->second.path.starts_with('/') ? file->second.path : "";
}

// Who has the number of a process, as a path of the caller's /proc says it; 0: the caller.
const DescriptorOwner* DescriptorTracker::owner_of(std::uint32_t pid, const DescriptorOwner& caller,
                                                   std::uint64_t time) {
  const auto own = definitions_.processes.find(caller.process);
  if (pid == 0 || (own != definitions_.processes.end() && own->second.ns_pid == pid)) return &caller;
  const trace::ProcessId process = process_of(pid, caller.process, time);
  return process ? owners_.first_of(process) : nullptr;
}

Result<trace::TextId> DescriptorTracker::through_descriptor(const usc_event& event, const DescriptorOwner& owner,
                                                            const trace::OrderedString& path) {
  if ((path.flags & (USC_STRING_REDACTED | USC_STRING_TRUNCATED)) != 0) return trace::TextId();
  auto text = texts_.text(path.string_id);
  if (!text) return text.error();
  if (!*text) return trace::TextId();
  if (is_own_executable(**text)) {
    // Programs ask for it to find where they are: then the link is meant.
    const std::string call = syscalls::syscall_name(static_cast<usc_abi>(event.abi), event.kind);
    if (call.starts_with("readlink") || call.starts_with("lstat")) return trace::TextId();
  } else if (!path_through_descriptor(**text)) {
    return trace::TextId();
  }
  Return now = at_return(Return::Kind::kOpen, event, owner);
  now.time = event.entry_ns;
  auto name = absolute(**text, owner, AT_FDCWD, now);
  if (!name) return name.error();
  return name->empty() || *name == **text ? Result(trace::TextId()) : intern(*name);
}

bool DescriptorTracker::is_own_path(std::string_view path) {
  return std::any_of(std::begin(kOwn), std::end(kOwn), [&](std::string_view own) {
    return path.starts_with(own) && (path.size() == own.size() || path[own.size()] == '/');
  });
}

Result<void> DescriptorTracker::open_path(const usc_event& event, DescriptorOwner& owner, const CallFacts& facts,
                                          std::span<const trace::OrderedString> strings) {
  Return update = at_return(Return::Kind::kOpen, event, owner);
  update.fd = static_cast<int>(event.result);
  std::uint64_t flags = facts.close_on_exec.arg >= 0 ? event.args[facts.close_on_exec.arg] : 0;
  bool is_known = true;
  const std::string call = syscalls::syscall_name(static_cast<usc_abi>(event.abi), event.kind);
  const bool is_tree = call == "open_tree" || call == "open_tree_attr";
  if (is_tree) is_known = (flags & OPEN_TREE_CLONE) == 0;  // a copy of mounts, which has no path
  if (call == "openat2") {
    const trace::OrderedString* how = find_string(strings, 2);
    // Unknown: whether an exec closes it, or whether an absolute path begins at the folder.
    is_known = how && !how->string_id && (how->numbers[2] & RESOLVE_IN_ROOT) == 0;
    if (is_known) flags = how->numbers[0];
  }
  const trace::OrderedString* path = find_string(strings, facts.path);
  is_known = is_known && path && path->string_id;
  if (!is_known) return open_as(std::move(update), "", false);
  auto text = texts_.text(path->string_id);
  if (!text) return text.error();
  const bool redacted = (path->flags & USC_STRING_REDACTED) != 0;
  auto name = redacted
                  ? Result<std::string>(text->value_or(""))
                  : absolute(text->value_or(""), owner, facts.path == 0 ? AT_FDCWD : descriptor_arg(event, 0), update);
  if (!name) return name.error();
  const auto opened = std::find_if(strings.begin(), strings.end(),
                                   [](const trace::OrderedString& one) { return one.kind == USC_STRING_OPENED; });
  if (opened != strings.end()) update.descriptor.open_file.file = {opened->numbers[0], opened->numbers[1]};
  update.descriptor.is_folder = !is_tree && (flags & O_TMPFILE) == O_DIRECTORY;
  update.descriptor.space = space_;
  const bool has_no_name = !is_tree && (flags & O_TMPFILE) == O_TMPFILE && !name->empty() && !redacted;
  return open_as(std::move(update), has_no_name ? joined_path(*name, "(O_TMPFILE)") : *name, (flags & O_CLOEXEC) != 0);
}

// Call it after the call has returned.
Result<void> DescriptorTracker::follow_opening(const usc_event& event, DescriptorOwner& owner, const CallFacts& facts,
                                               std::span<const trace::OrderedString> strings) {
  const bool connects = facts.call == DescriptorCall::kConnect;
  if (event.result < 0 && !connects) return {};
  Return update = at_return(Return::Kind::kOpen, event, owner);
  update.fd = static_cast<int>(event.result);
  const bool closes_on_exec = facts.close_on_exec.holds(event);
  switch (facts.call) {
    case DescriptorCall::kOpen:
      return open_path(event, owner, facts, strings);
    case DescriptorCall::kPair:
      return follow_pair(event, owner, facts, strings);
    case DescriptorCall::kTakeOver:
      take_over(event, owner);
      return {};
    case DescriptorCall::kPidfd:
      update.descriptor.process = process_of(static_cast<std::uint32_t>(event.args[0]), owner.process, event.head.time);
      [[fallthrough]];
    case DescriptorCall::kLabel:
      // signalfd() of a descriptor that is there changes which signals it reads.
      if (facts.letters.starts_with('d') && descriptor_arg(event, 0) == update.fd) return {};
      return open_as(std::move(update),
                     descriptor_label(syscalls::syscall_name(static_cast<usc_abi>(event.abi), event.kind)),
                     closes_on_exec);
    case DescriptorCall::kMemfd:
      break;
    default:
      return follow_socket(event, owner, facts, strings);
  }
  const trace::OrderedString* name = find_string(strings, 0);
  std::optional<std::string> text;
  if (name && name->string_id) {
    auto found = texts_.text(name->string_id);
    if (!found) return found.error();
    text = *found;
  }
  return open_as(std::move(update), text ? "/memfd:" + *text + " (deleted)" : "", closes_on_exec);
}

// The traced process that has this number for the caller, if that is in the initial pid namespace.
trace::ProcessId DescriptorTracker::process_of(std::uint32_t pid, trace::ProcessId caller, std::uint64_t time) const {
  const auto asks = definitions_.processes.find(caller);
  if (asks == definitions_.processes.end() || asks->second.pid != asks->second.ns_pid) return {};
  for (const auto& [serial, process] : definitions_.processes)
    if (process.pid == pid && process.start_ns.value_or(0) <= time && process.end_ns.value_or(time) >= time)
      return serial;
  return {};
}

// What the other process's descriptor is at the entry, provided that it still is at the return.
void DescriptorTracker::take_over(const usc_event& event, DescriptorOwner& owner) {
  Return update = at_return(Return::Kind::kOpen, event, owner);
  update.fd = static_cast<int>(event.result);
  update.source = descriptor_arg(event, 1);
  const Descriptor* pidfd = is_said(owner, event.entry_ns) ? known(*owner.table, descriptor_arg(event, 0)) : nullptr;
  const DescriptorOwner* other = pidfd && pidfd->process ? owners_.first_of(pidfd->process) : nullptr;
  if (other) {
    update.source_table = other->table;
    if (const Descriptor* found = known(*other->table, update.source)) {
      update.descriptor = *found;
      update.source_stamp = found->stamp;
    }
  }
  update.descriptor.close_on_exec = true;
  owner.table->descriptors.begin_open(update.fd);
  plan(std::move(update));
}

// 0: there are too many.
std::uint32_t DescriptorTracker::new_socket(trace::TextId label, const OpenFile& open_file) {
  if (sockets_.size() >= kMostSockets) return 0;
  sockets_.push_back({.label = label, .unconnected = label, .open_file = open_file});
  return static_cast<std::uint32_t>(sockets_.size());
}

Result<void> DescriptorTracker::follow_socket(const usc_event& event, DescriptorOwner& owner, const CallFacts& facts,
                                              std::span<const trace::OrderedString> strings) {
  std::string peer;
  if (const trace::OrderedString* address = find_string(strings, 1); address && address->string_id) {
    auto text = texts_.text(address->string_id);
    if (!text) return text.error();
    peer = text->value_or("");
  }
  if (facts.call == DescriptorCall::kOwnName || facts.call == DescriptorCall::kPeerName)
    return learn_address(event, owner, facts, peer);
  if (facts.call == DescriptorCall::kBind || facts.call == DescriptorCall::kConnect)
    return label_socket(event, owner, facts, peer);
  Return update = at_return(Return::Kind::kOpen, event, owner);
  update.fd = static_cast<int>(event.result);
  const bool accepts = facts.call == DescriptorCall::kAccept;
  auto label = intern(!accepts       ? "socket:[" + socket_family_name(descriptor_arg(event, 0)) + "]"
                      : peer.empty() ? std::string(kAccepted)
                                     : "socket:[from " + peer + "]");
  if (!label) return label.error();
  update.descriptor.socket = new_socket(*label, new_open_file(false));
  if (update.descriptor.socket == 0) update.descriptor.name = *label;
  update.descriptor.close_on_exec = facts.close_on_exec.holds(event);
  owner.table->descriptors.begin_open(update.fd);
  plan(std::move(update));
  return {};
}

// What getsockname and getpeername tell changes nothing, but the label may be less than that.
Result<void> DescriptorTracker::learn_address(const usc_event& event, DescriptorOwner& owner, const CallFacts& facts,
                                              const std::string& address) {
  const Descriptor* found = is_said(owner, event.entry_ns) ? known(*owner.table, descriptor_arg(event, 0)) : nullptr;
  if (!found || found->socket == 0 || is_no_address(address)) return {};
  Socket& socket = sockets_[found->socket - 1];
  if (!socket.label) return {};
  auto text = texts_.text(socket.label);
  if (!text) return text.error();
  const std::string before = text->value_or("");
  const auto has = [&](std::string_view relation) { return before.starts_with(relation); };
  const bool has_peer = has("socket:[to ") || has("socket:[from ") || has(kWith);
  const bool is_own = facts.call == DescriptorCall::kOwnName;
  if (has_peer || (is_own && before == kAccepted)) return {};
  auto label = intern("socket:[" + std::string(is_own ? "at " : before == kAccepted ? "from " : "to ") + address + "]");
  if (!label) return label.error();
  if (is_own) socket.unconnected = *label;
  if (is_own) socket.has_address = true;
  Return update = at_return(Return::Kind::kLabel, event, owner);
  update.descriptor.socket = found->socket;
  update.descriptor.name = *label;
  update.source_stamp = socket.stamp;
  plan(std::move(update));
  return {};
}

// The label belongs to the socket, whatever numbers it has in any table. Until the return it is unknown.
Result<void> DescriptorTracker::label_socket(const usc_event& event, DescriptorOwner& owner, const CallFacts& facts,
                                             const std::string& peer) {
  const bool connects = facts.call == DescriptorCall::kConnect;
  if (event.result < 0 && !(connects && event.result == -EINPROGRESS)) return {};
  const Descriptor* found = is_said(owner, event.entry_ns) ? known(*owner.table, descriptor_arg(event, 0)) : nullptr;
  if (!found || found->socket == 0) return {};
  Return update = at_return(Return::Kind::kLabel, event, owner);
  update.descriptor.socket = found->socket;
  Socket& socket = sockets_[found->socket - 1];
  socket.has_address = !connects;
  const trace::TextId before = socket.label;
  socket.label = {};
  socket.stamp = ++stamp_;
  update.source_stamp = socket.stamp;
  update.descriptor.name = before;
  if (connects && is_unspecified_address(peer)) {
    update.descriptor.name = socket.unconnected;
  } else if (!peer.empty() && peer != kAutobind) {
    auto label = intern("socket:[" + std::string(connects ? "to " : "at ") + peer + "]");
    if (!label) return label.error();
    update.descriptor.name = *label;
    if (!connects) socket.unconnected = *label;
  }
  plan(std::move(update));
  return {};
}

Result<void> DescriptorTracker::follow_pair(const usc_event& event, DescriptorOwner& owner, const CallFacts& facts,
                                            std::span<const trace::OrderedString> strings) {
  const std::string_view label = descriptor_label(syscalls::syscall_name(static_cast<usc_abi>(event.abi), event.kind));
  for (const trace::OrderedString& string : strings) {
    if (string.kind != USC_STRING_PAIR) continue;
    for (const int fd :
         {static_cast<int>(string.numbers[0] & 0xffffffffU), static_cast<int>(string.numbers[0] >> 32)}) {
      Return update = at_return(Return::Kind::kOpen, event, owner);
      update.fd = fd;
      if (auto done = open_as(std::move(update), label, facts.close_on_exec.holds(event)); !done) return done;
    }
  }
  return {};
}

}  // namespace uscope::descriptors
