// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The part of DescriptorTracker that applies calls to tables and folders: at their entry, what may change from then on;
// planned for their return, what has changed.
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "descriptors/descriptor_tracker.h"
#include "support/text.h"
#include "uscope/descriptor_calls.h"

#include "descriptors/descriptor_calls.h"

namespace uscope::descriptors {
namespace {

constexpr std::size_t kMostMoved = std::size_t{1} << 16;

// The last descriptor number of a close_range.
int last_of(const usc_event& event) {
  return static_cast<int>(std::min<std::uint64_t>(event.args[1] & 0xffffffffU, std::numeric_limits<int>::max()));
}

bool returned(const usc_event& event) {
  return event.how == USC_HOW_RETURNED;
}

// Whether the call failed, and so changed nothing.
bool failed(const usc_event& event) {
  return returned(event) && event.result < 0;
}

const trace::OrderedString* path_of(std::span<const trace::OrderedString> strings, int arg) {
  const auto at = std::find_if(strings.begin(), strings.end(),
                               [arg](const trace::OrderedString& s) { return s.arg == arg && s.string_id; });
  return at == strings.end() ? nullptr : &*at;
}

}  // namespace

DescriptorTracker::Return DescriptorTracker::at_return(Return::Kind kind, const usc_event& event,
                                                       const DescriptorOwner& owner) const {
  Return update{.kind = kind};
  update.time = event.head.time;
  update.begun = stamp_;
  update.task = trace::TaskId(event.head.task);
  update.table = owner.table;
  update.process = owner.process;
  update.image = trace::ImageId(event.image);
  return update;
}

void DescriptorTracker::plan(Return update) {
  update.order = planned_++;
  observed_.push_back(std::move(update));
}

void DescriptorTracker::queue_returns() {
  for (Return& update : observed_) returns_.push(std::move(update));
  observed_.clear();
}

Result<void> DescriptorTracker::follow(const usc_event& event, DescriptorOwner& owner, const CallFacts& facts,
                                       std::span<const trace::OrderedString> strings) {
  switch (facts.call) {
    case DescriptorCall::kClose:
      follow_close(event, owner);
      return {};
    case DescriptorCall::kCloseRange:
      follow_close_range(event, owner);
      return {};
    case DescriptorCall::kDuplicate:
    case DescriptorCall::kDuplicateTo:
    case DescriptorCall::kFcntl:
      follow_copy(event, owner, facts);
      return {};
    case DescriptorCall::kIoctl:
      follow_ioctl(event, owner);
      return {};
    case DescriptorCall::kChdir:
    case DescriptorCall::kFchdir:
    case DescriptorCall::kChroot:
    case DescriptorCall::kSetns:
      return failed(event) ? Result<void>() : follow_folder(event, owner, facts, strings);
    case DescriptorCall::kPivotRoot:
    case DescriptorCall::kRename:
    case DescriptorCall::kRenameAt:
    case DescriptorCall::kMount:
    case DescriptorCall::kMoveMount:
      return failed(event) ? Result<void>() : follow_move(event, facts, strings);
    case DescriptorCall::kExec:
    case DescriptorCall::kMake:
    case DescriptorCall::kUnshare:
    case DescriptorCall::kSeccomp:
    case DescriptorCall::kIoUring:
      follow_sharing(event, owner, facts);
      return {};
    case DescriptorCall::kSend:
      return follow_sending(event, owner, strings);
    case DescriptorCall::kReceive:
      follow_receiving(event, owner, facts, strings);
      return {};
    default:
      return returned(event) ? follow_opening(event, owner, facts, strings) : Result<void>();
  }
}

void DescriptorTracker::follow_sharing(const usc_event& event, DescriptorOwner& owner, const CallFacts& facts) {
  switch (facts.call) {
    case DescriptorCall::kExec:
      entered_[trace::TaskId(event.head.task)] = stamp_;
      // usc_exec gives the time; this is for one that was lost.
      if (returned(event) && event.result == 0) plan(at_return(Return::Kind::kExec, event, owner));
      break;
    case DescriptorCall::kMake:
      entered_[trace::TaskId(event.head.task)] = stamp_;
      break;
    case DescriptorCall::kUnshare:
      if (failed(event)) break;
      if ((event.args[0] & CLONE_FILES) != 0) plan(at_return(Return::Kind::kUnshareTable, event, owner));
      if ((event.args[0] & (CLONE_FS | CLONE_NEWNS | CLONE_NEWUSER)) != 0)
        plan(at_return(Return::Kind::kUnshareFolder, event, owner));
      break;
    case DescriptorCall::kSeccomp:
      if (!failed(event) && (event.args[1] & SECCOMP_FILTER_FLAG_NEW_LISTENER) != 0)
        (event.args[1] & SECCOMP_FILTER_FLAG_TSYNC) != 0
            ? owners_.each(owner.process, [this](DescriptorOwner& thread) { owners_.supervise(thread); })
            : owners_.supervise(owner);
      break;
    default:  // operations of the ring open and close descriptors unseen
      if (!failed(event)) DescriptorOwners::doubt(*owner.table);
      break;
  }
}

void DescriptorTracker::follow_close(const usc_event& event, DescriptorOwner& owner) {
  const int fd = descriptor_arg(event, 0);
  if (fd < 0) return;
  if (returned(event) && event.result == -EBADF) {
    owner.table->descriptors.close_range(fd, fd);  // it was not open
    return;
  }
  Return update = at_return(Return::Kind::kClose, event, owner);
  update.fd = fd;
  release(owner, fd, fd, event.entry_ns);
  update.stray = owner.table->descriptors.begin_close(fd);
  if (returned(event)) plan(std::move(update));
}

void DescriptorTracker::follow_close_range(const usc_event& event, DescriptorOwner& owner) {
  if (failed(event)) return;
  const bool marks = (event.args[2] & CLOSE_RANGE_CLOEXEC) != 0;
  const bool unshares = (event.args[2] & CLOSE_RANGE_UNSHARE) != 0;
  Return update = at_return(unshares ? Return::Kind::kUnshareAndClose : Return::Kind::kCloseRange, event, owner);
  update.fd = descriptor_arg(event, 0);
  update.last = last_of(event);
  update.marks = marks;
  if (!marks) release(owner, update.fd, update.last, event.entry_ns);
  if (!unshares && marks) owner.table->descriptors.set_close_on_exec(update.fd, update.last, true);
  if (!unshares && !marks) owner.table->descriptors.close_range(update.fd, update.last);
  if (returned(event) && (unshares || !marks)) plan(std::move(update));
}

// A copy refers to what the descriptor is when the call is entered, provided that it still is at its return.
void DescriptorTracker::follow_copy(const usc_event& event, DescriptorOwner& owner, const CallFacts& facts) {
  if (failed(event)) return;
  const auto command = static_cast<std::uint32_t>(event.args[1]);
  const bool fcntl = facts.call == DescriptorCall::kFcntl;
  if (fcntl && command == F_SETFD) return follow_on_exec(event, owner, (event.args[2] & FD_CLOEXEC) != 0);
  if (fcntl && command != F_DUPFD && command != F_DUPFD_CLOEXEC) return;
  const bool replaces = facts.call == DescriptorCall::kDuplicateTo;
  const int from = descriptor_arg(event, 0);
  const int to = replaces ? descriptor_arg(event, 1) : static_cast<int>(event.result);
  if (to < 0 || from == to || (!replaces && !returned(event))) return;
  Return update = at_return(replaces ? Return::Kind::kReplace : Return::Kind::kOpen, event, owner);
  update.fd = to;
  update.source = from;
  if (const Descriptor* found = known(*owner.table, from)) {
    update.descriptor.name = found->name;
    update.descriptor.socket = found->socket;
    update.descriptor.process = found->process;
    update.descriptor.is_folder = found->is_folder;
    update.descriptor.space = found->space;
    update.descriptor.open_file = found->open_file;
    update.source_stamp = found->stamp;
  }
  update.descriptor.close_on_exec = fcntl ? command == F_DUPFD_CLOEXEC : facts.close_on_exec.holds(event);
  if (replaces) release(owner, to, to, event.entry_ns);
  replaces ? owner.table->descriptors.begin_replace(to) : owner.table->descriptors.begin_open(to);
  if (returned(event)) plan(std::move(update));
}

void DescriptorTracker::follow_ioctl(const usc_event& event, DescriptorOwner& owner) {
  if (failed(event)) return;
  const auto request = static_cast<std::uint32_t>(event.args[1]);
  if (request == FIOCLEX) follow_on_exec(event, owner, true);
  if (request == FIONCLEX) follow_on_exec(event, owner, false);
  if (usc_ioctl_moves_descriptors(request) == 0) return;
  doubt_all();
  untraced_calls_++;
  if (returned(event)) plan(at_return(Return::Kind::kStranger, event, owner));
}

// An exec may close the descriptor as soon as it may be marked. That it is unmarked is known only if no other task can
// have marked it again.
void DescriptorTracker::follow_on_exec(const usc_event& event, DescriptorOwner& owner, bool closes) {
  const int fd = descriptor_arg(event, 0);
  if (closes)
    owner.table->descriptors.set_close_on_exec(fd, fd, true);
  else if (returned(event) && owner.table->users == 1)
    owner.table->descriptors.set_close_on_exec(fd, fd, false);
}

Result<void> DescriptorTracker::name_of_folder(const usc_event& event, const DescriptorOwner& owner,
                                               const CallFacts& facts, std::span<const trace::OrderedString> strings,
                                               Return& update) {
  std::string name;
  const trace::OrderedString* path = path_of(strings, 0);
  if (facts.call == DescriptorCall::kSetns) {
    if ((event.args[1] & CLONE_NEWNS) != 0) name = "/";  // a mount namespace sets its root for both
  } else if (facts.call == DescriptorCall::kFchdir) {
    auto found = absolute(".", owner, descriptor_arg(event, 0), update);
    if (!found) return found.error();
    name = *found;
  } else if (path && (path->flags & (USC_STRING_REDACTED | USC_STRING_TRUNCATED)) == 0) {
    auto text = texts_.text(path->string_id);
    if (!text) return text.error();
    auto found = absolute(text->value_or(""), owner, AT_FDCWD, update);
    if (!found) return found.error();
    // A child has the folder, too, for whom such a path leads elsewhere.
    if (!is_own_path(*found)) name = *found;
  }
  update.plain = name == "/";
  if (name.empty()) return {};
  auto id = intern(name);
  if (!id) return id.error();
  update.descriptor.name = *id;
  return {};
}

Result<void> DescriptorTracker::follow_folder(const usc_event& event, DescriptorOwner& owner, const CallFacts& facts,
                                              std::span<const trace::OrderedString> strings) {
  const bool is_root = facts.call == DescriptorCall::kChroot;
  const bool is_namespace = facts.call == DescriptorCall::kSetns;
  const auto kinds = static_cast<std::uint32_t>(event.args[1]);  // 0: a namespace of any kind
  if (is_namespace && kinds != 0 && (kinds & CLONE_NEWNS) == 0) return {};
  Return update = at_return(is_namespace ? Return::Kind::kNamespace
                            : is_root    ? Return::Kind::kRoot
                                         : Return::Kind::kWorking,
                            event, owner);
  if (auto done = name_of_folder(event, owner, facts, strings, update); !done) return done;
  SharedFolder& folder = *owner.folder;
  if (folder.under_way++ != 0) folder.unclear = true;
  folder.stamp = ++stamp_;
  if (!is_root) folder.working = {};
  if (is_root || is_namespace) folder.root_is_plain = false;
  update.folder = owner.folder;
  update.folder_stamp = folder.stamp;
  if (returned(event)) plan(std::move(update));
  return {};
}

// Returns "" if unknown.
Result<std::string> DescriptorTracker::last_component(const trace::OrderedString* path) {
  if (!path || (path->flags & (USC_STRING_REDACTED | USC_STRING_TRUNCATED)) != 0) return std::string();
  auto text = texts_.text(path->string_id);
  if (!text) return text.error();
  std::string_view name = *text ? std::string_view(**text) : std::string_view();
  while (name.ends_with('/')) name.remove_suffix(1);
  return std::string(base_name(name));
}

void DescriptorTracker::move(const std::string& component) {
  moved_any_ = ++stamp_;
  if (component.empty() || (moved_.size() >= kMostMoved && moved_.count(component) == 0))
    moved_all_ = stamp_;
  else
    moved_[component] = stamp_;
}

// A renamed folder changes all paths that lead through it; a moved mount changes all below it.
Result<void> DescriptorTracker::follow_move(const usc_event& event, const CallFacts& facts,
                                            std::span<const trace::OrderedString> strings) {
  if (facts.call == DescriptorCall::kMount && (event.args[3] & MS_MOVE) == 0) return {};
  Return update{.kind = Return::Kind::kMove};
  update.time = event.head.time;
  if (facts.call == DescriptorCall::kRename || facts.call == DescriptorCall::kRenameAt) {
    // The second path too: two may have been exchanged.
    const bool at = facts.call == DescriptorCall::kRenameAt;
    for (const int arg : {at ? 1 : 0, at ? 3 : 1}) {
      auto name = last_component(path_of(strings, arg));
      if (!name) return name.error();
      update.moved.push_back(std::move(*name));
    }
  } else {
    update.moved.emplace_back();
  }
  for (const std::string& component : update.moved) move(component);
  if (returned(event)) plan(std::move(update));
  return {};
}

// Whether the parts that a name was composed of are still as they were at the entry.
bool DescriptorTracker::holds(const Return& update) const {
  if (update.begun < forgotten_) return false;
  if (update.composed && std::max(moved_any_, moved_all_) > update.begun) return false;
  if (update.folder_stamp != 0 && update.folder->stamp != update.folder_stamp) return false;
  if (update.source < 0) return true;
  const Descriptor* found = known(update.source_table ? *update.source_table : *update.table, update.source);
  return found && found->stamp == update.source_stamp;
}

void DescriptorTracker::apply(Return& update) {
  switch (update.kind) {
    case Return::Kind::kClose:
      update.table->descriptors.end_close(update.fd, update.stray);
      break;
    case Return::Kind::kCloseRange:
      update.table->descriptors.close_range(update.fd, update.last);
      break;
    case Return::Kind::kOpen:
    case Return::Kind::kReplace:
      apply_opened(update);
      break;
    case Return::Kind::kLabel:
      if (Socket& socket = sockets_[update.descriptor.socket - 1]; socket.stamp == update.source_stamp)
        socket.label = update.descriptor.name;
      break;
    case Return::Kind::kWorking:
    case Return::Kind::kRoot:
    case Return::Kind::kNamespace:
      apply_to_folder(update);
      break;
    case Return::Kind::kExec:
    case Return::Kind::kUnshareTable:
    case Return::Kind::kUnshareFolder:
    case Return::Kind::kUnshareAndClose:
      apply_to_owner(update);
      break;
    case Return::Kind::kMove:
      for (const std::string& component : update.moved) move(component);
      break;
    case Return::Kind::kStranger:
      doubt_all();
      untraced_calls_--;
      break;
  }
}

void DescriptorTracker::apply_opened(const Return& update) {
  DescriptorTable& table = update.table->descriptors;
  const bool clear = update.kind == Return::Kind::kOpen ? table.end_open(update.fd) : table.end_replace(update.fd);
  Descriptor descriptor = update.passed ? received(*update.passed) : update.descriptor;
  descriptor.close_on_exec = update.descriptor.close_on_exec;
  const bool known = descriptor.name || descriptor.socket != 0;
  if (!clear || !known || !holds(update) || !may_learn(*update.table, update.time)) {
    table.close_range(update.fd, update.fd);
    return;
  }
  if (!descriptor.open_file.id && descriptor.socket == 0)
    descriptor.open_file = new_open_file(false, descriptor.open_file.file);
  descriptor.stamp = ++stamp_;
  descriptor.opened = update.event;
  descriptor.opener = update.process;
  table.set(update.fd, descriptor);
}

void DescriptorTracker::apply_to_folder(const Return& update) {
  SharedFolder& folder = *update.folder;
  folder.under_way--;
  const bool clear = !folder.unclear && !folder.unsure && update.descriptor.name && holds(update);
  if (folder.under_way == 0) folder.unclear = false;
  folder.stamp = ++stamp_;
  if (!clear) return;
  if (update.kind != Return::Kind::kRoot) {
    folder.working = update.descriptor.name;
    folder.working_stamp = stamp_;
  }
  if (update.kind != Return::Kind::kWorking) {
    folder.root_is_plain = update.plain;
    folder.root_stamp = stamp_;
  }
}

void DescriptorTracker::apply_to_owner(const Return& update) {
  DescriptorOwner* owner = owners_.find(update.task);
  if (!owner) return;
  switch (update.kind) {
    case Return::Kind::kExec:
      exec(update.task, update.begun, update.time);
      break;
    case Return::Kind::kUnshareFolder:
      owners_.unshare_folder(*owner, update.begun);
      break;
    default:
      owners_.unshare_table(*owner, update.begun);
      break;
  }
  if (update.kind != Return::Kind::kUnshareAndClose) return;
  update.marks ? owner->table->descriptors.set_close_on_exec(update.fd, update.last, true)
               : owner->table->descriptors.close_range(update.fd, update.last);
}

}  // namespace uscope::descriptors
