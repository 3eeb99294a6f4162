// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Follows what descriptors stand for through the events of a trace, which come in the order of entry. A descriptor is
// closed when its close is entered, and opened when its opening call returned; tasks start, exec and end in between at
// their own times. A name that could be wrong is not given:
// - what a task shares (descriptor_owners.h) is followed through clone, unshare, exec, setns, chroot and chdir;
// - if calls of several tasks overlap, their effect on a number is known only if their order does not matter
//   (descriptor_table.h);
// - nothing is said of a table that may be changed unseen: by io_uring, by a supervisor, from outside of the trace, or
//   by a call that is not recorded; nor while events are missing; nor at all in a damaged trace.
//
// A file's name is the path by which it was opened, made absolute if the working directory is known; links in it are
// not followed, but for /proc/self/fd/N, which is what descriptor N refers to, and the like. It stays when the file is
// renamed or removed, and after a folder is renamed, paths below it are not given. An object without a name is named as
// in /proc, or by its kind and address: "socket:[to inet:127.0.0.1:80]".
//
// Beside its name a descriptor has an identity, the open file that it is of (OpenFile, descriptor_table.h).
//
// A thread may be inside a call when its process comes into the trace. The descriptors of that call are what /proc said
// of them soon after, if the thread was still inside by then and nothing but a thread of its process could have changed
// them. Of several threads, another one may have closed the number of a descriptor that this one is using, and have got
// it again: such names are marked as late. A thread alone cannot.
//
// Limits: another thread may change a path after the tracer has read it and before the kernel reads it; folders may be
// renamed by untraced processes, or through links. A message names a file, and not which of its open files it carries:
// the receiver's descriptor is taken for the one that traced processes sent, if that is one, though an untraced process
// may have sent another one of the same file.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "descriptors/descriptor_calls.h"
#include "descriptors/descriptor_owners.h"
#include "descriptors/held_descriptors.h"
#include "descriptors/mount_spaces.h"
#include "store/model/definitions.h"
#include "support/redactor.h"
#include "syscalls/call_traits.h"
#include "trace/event_order.h"
#include "trace/texts.h"

namespace uscope::descriptors {

class DescriptorTracker {
 public:
  // A descriptor argument, and what it stood for when the call was entered.
  struct Named {
    int arg = -1;
    trace::TextId string_id = {};
    bool late = false;  // found after the call had begun, while other threads could have changed it
    bool is_folder = false;
    std::uint32_t space = 0;  // as Descriptor::space
    OpenFile open_file = {};
  };

  // A descriptor that a message carries, or has brought.
  struct Passed {
    int arg;
    int fd;
    trace::TextId string_id;  // none: not known
    bool late = false;        // looked up after the call
    bool is_pidfd = false;    // the kernel has put it into the message (SCM_PIDFD)
  };

  // Both must outlive this object.
  DescriptorTracker(const store::Definitions& definitions, trace::Texts& texts);

  // Whether the call changes what descriptors or folders stand for, or tells what they do.
  [[nodiscard]] static bool has_effect(const usc_event& event);

  // Processes the next event. The result is valid until the next call.
  Result<std::span<const Named>> observe(const usc_event& event, std::span<const trace::OrderedString> strings);
  // Gives the number of the call observed last, before the next one is observed. Not for calls that are no events.
  void set_event(EventId id) {
    for (Return& update : observed_) update.event = id;
  }

  // After the last event: returns who had what open. Valid as long as this object.
  Result<std::span<const HeldDescriptor>> finish();

  // The descriptors in the messages of the last observed call.
  [[nodiscard]] std::span<const Passed> passed() const { return passed_; }

  // The folder that the relative path of the last observed call begins at; none: unknown, or the path is not relative.
  [[nodiscard]] trace::TextId folder() const { return folder_; }
  // The file that its path leads to through a descriptor, the working directory or the program ("/proc/self/fd/3",
  // "/dev/stdin", "/proc/self/exe"); none: it does not, or what that is is not known.
  [[nodiscard]] trace::TextId special() const { return special_; }
  // MountSpaces::tag_of() of its path.
  [[nodiscard]] std::uint32_t space() const { return space_; }
  // The same for its second path, ObjectArgs::target.
  [[nodiscard]] trace::TextId target_folder() const { return target_folder_; }

 private:
  struct CallFacts {
    DescriptorCall call{};
    std::uint8_t descriptors = 0;  // bit mask of the arguments that are descriptors
    int path = -1;                 // index of the argument with the path to open
    CloseOnExec close_on_exec{};
    bool has_paths = false;
    syscalls::ObjectArgs object{};
    std::string_view letters{};  // of all arguments
  };

  // Events of the trace other than calls, by time.
  struct Happening {
    enum class Kind : std::uint8_t { kBegin, kEnd, kExec, kLoss, kRing, kProcBegins, kProcEnds } kind;
    std::uint64_t time = 0;
    std::size_t place = 0;          // in the definitions' list of such events
    trace::TaskId task = {};        // kExec
    trace::ProcessId process = {};  // kRing
  };

  // An open file in a message. The name that the kernel has for it belongs to the key: a number of an inode comes
  // again.
  struct PassedKey {
    std::uint64_t dev = 0;
    std::uint64_t ino = 0;
    trace::TextId name = {};
    bool is_socket = false;
    bool operator==(const PassedKey&) const = default;
  };
  struct PassedHash {
    std::size_t operator()(const PassedKey& key) const noexcept;
  };

  // The effect of a call at its return.
  struct Return {
    enum class Kind : std::uint8_t {
      kClose,
      kCloseRange,
      kOpen,
      kReplace,
      kLabel,
      kWorking,
      kRoot,
      kNamespace,
      kExec,
      kUnshareTable,
      kUnshareFolder,
      kUnshareAndClose,
      kMove,
      kStranger,
    } kind;
    bool stray = false;     // kClose
    bool marks = false;     // kUnshareAndClose: close on exec only
    bool plain = false;     // kRoot, kNamespace: the namespace's root
    bool composed = false;  // the name was composed with a folder's
    std::uint64_t time = 0;
    std::uint64_t order = 0;  // of two at the same time, the one met first comes first
    std::uint64_t begun = 0;  // the last stamp at the entry
    trace::TaskId task = {};
    int fd = 0;
    int last = 0;
    Descriptor descriptor{};
    EventId event = {};
    trace::ProcessId process = {};  // whose call it was
    trace::ImageId image = {};
    std::shared_ptr<SharedTable> table = {};
    std::shared_ptr<SharedFolder> folder = {};       // is changed, or the name depends on it
    std::uint64_t folder_stamp = 0;                  // 0: the name does not depend on it
    int source = -1;                                 // the name depends on this descriptor,
    std::shared_ptr<SharedTable> source_table = {};  // of this table; none: of `table`
    std::uint64_t source_stamp = 0;
    std::vector<std::string> moved = {};   // kMove: last components
    std::optional<PassedKey> passed = {};  // kOpen: it came in a message
    bool operator>(const Return& later) const { return time != later.time ? time > later.time : order > later.order; }
  };

  // Data from /proc on one process, in definitions_.descriptors.
  struct ProcFacts {
    std::size_t first = 0;
    std::size_t count = 0;
    trace::ProcessId process = {};
    std::uint64_t until = 0;                  // all of it was read before
    std::shared_ptr<SharedTable> table = {};  // while the data is processed
    std::shared_ptr<SharedFolder> folder = {};
    std::uint64_t folder_stamp = 0;
    // For calls that were under way when the process came into the trace.
    std::uint32_t threads = 0;                                        // of the process, until then
    bool others_may_change = false;                                   // something else than these threads
    std::optional<std::unordered_map<int, std::size_t>> places = {};  // by number, in definitions_.descriptors; once
                                                                      // such a call is met
  };

  struct Socket {
    trace::TextId label = {};        // none: unknown
    trace::TextId unconnected = {};  // its label without a peer: of socket() or bind()
    std::uint64_t stamp = 0;
    bool has_address = false;  // of its own: it was bound
    OpenFile open_file = {};
  };

  static std::vector<CallFacts> learn_calls();
  static const std::vector<CallFacts>& facts_of_calls();  // the same for all traces
  void learn_what_is_recorded();
  void plan_happenings();
  void plan_proc();
  void find_who_may_change();
  Result<void> apply_until(std::uint64_t time);
  Result<void> happen(const Happening& happening);
  void begin_proc(ProcFacts& proc);
  Result<void> end_proc(ProcFacts& proc, std::uint64_t time);
  void lose(const store::LossFacts& loss);
  void end_task(const store::TaskEnd& end);
  void exec(trace::TaskId task, std::optional<std::uint64_t> stamp, std::uint64_t time);
  [[nodiscard]] trace::TextId name_of(const Descriptor& descriptor) const;
  [[nodiscard]] OpenFile open_file_of(const Descriptor& descriptor) const;
  OpenFile new_open_file(bool unsure, const FoundFile& file = {});
  void learn_file(const Descriptor& descriptor, const FoundFile& file);
  [[nodiscard]] bool may_have_more(const DescriptorOwner& owner) const;
  [[nodiscard]] bool has_address(const Descriptor& descriptor) const;
  void hold(const DescriptorOwner& owner, int fd, const Descriptor& descriptor, std::uint64_t time, HeldUntil until);
  void release(const DescriptorOwner& owner, int first, int last, std::uint64_t time);

  [[nodiscard]] bool is_said(const DescriptorOwner& owner, std::uint64_t time) const;
  [[nodiscard]] bool may_learn(const SharedTable& table, std::uint64_t time) const;
  [[nodiscard]] const Descriptor* known(const SharedTable& table, int fd) const;
  [[nodiscard]] bool was_moved(std::string_view folder, std::uint64_t since) const;
  Result<std::span<const Named>> observe_attached_only(const usc_event& event, const CallFacts& facts);
  void name_arguments(const usc_event& event, const DescriptorOwner& owner, const CallFacts& facts);
  Result<void> name_attached(const usc_event& event, trace::ProcessId process, const CallFacts& facts);
  void find_places(ProcFacts& proc) const;
  Result<void> name_folders(const usc_event& event, const DescriptorOwner& owner, const CallFacts& facts,
                            std::span<const trace::OrderedString> strings);
  Result<trace::TextId> through_descriptor(const usc_event& event, const DescriptorOwner& owner,
                                           const trace::OrderedString& path);
  void note_found_files();
  Result<void> find_space(const usc_event& event, const DescriptorOwner& owner, const CallFacts& facts,
                          std::span<const trace::OrderedString> strings);
  [[nodiscard]] std::uint32_t space_of(trace::ProcessId process) const;
  Result<trace::TextId> working_folder(const DescriptorOwner& owner);
  Result<trace::TextId> opened_folder(const DescriptorOwner& owner, int fd, std::uint64_t time,
                                      const trace::OrderedString& path);
  Result<bool> is_hidden(trace::TextId folder, const trace::OrderedString& path);
  void observe_untraced(const usc_event& event, DescriptorCall call);

  // descriptor_changes.cpp: applies calls to tables and folders.
  Result<void> follow(const usc_event& event, DescriptorOwner& owner, const CallFacts& facts,
                      std::span<const trace::OrderedString> strings);
  void follow_sharing(const usc_event& event, DescriptorOwner& owner, const CallFacts& facts);
  void follow_close(const usc_event& event, DescriptorOwner& owner);
  void follow_close_range(const usc_event& event, DescriptorOwner& owner);
  void follow_copy(const usc_event& event, DescriptorOwner& owner, const CallFacts& facts);
  void follow_ioctl(const usc_event& event, DescriptorOwner& owner);
  void follow_on_exec(const usc_event& event, DescriptorOwner& owner, bool closes);
  Result<void> follow_folder(const usc_event& event, DescriptorOwner& owner, const CallFacts& facts,
                             std::span<const trace::OrderedString> strings);
  Result<void> follow_move(const usc_event& event, const CallFacts& facts,
                           std::span<const trace::OrderedString> strings);
  Result<void> name_of_folder(const usc_event& event, const DescriptorOwner& owner, const CallFacts& facts,
                              std::span<const trace::OrderedString> strings, Return& update);
  Result<std::string> last_component(const trace::OrderedString* path);
  void move(const std::string& component);
  [[nodiscard]] Return at_return(Return::Kind kind, const usc_event& event, const DescriptorOwner& owner) const;
  void plan(Return update);
  void queue_returns();
  void apply(Return& update);
  void apply_opened(const Return& update);
  void apply_to_folder(const Return& update);
  void apply_to_owner(const Return& update);
  [[nodiscard]] bool holds(const Return& update) const;
  void doubt_all();

  // descriptor_openings.cpp: names what calls open.
  Result<void> follow_opening(const usc_event& event, DescriptorOwner& owner, const CallFacts& facts,
                              std::span<const trace::OrderedString> strings);
  Result<void> open_path(const usc_event& event, DescriptorOwner& owner, const CallFacts& facts,
                         std::span<const trace::OrderedString> strings);
  Result<void> follow_socket(const usc_event& event, DescriptorOwner& owner, const CallFacts& facts,
                             std::span<const trace::OrderedString> strings);
  Result<void> label_socket(const usc_event& event, DescriptorOwner& owner, const CallFacts& facts,
                            const std::string& peer);
  Result<void> learn_address(const usc_event& event, DescriptorOwner& owner, const CallFacts& facts,
                             const std::string& address);
  [[nodiscard]] std::string executable(trace::ImageId id) const;
  const DescriptorOwner* owner_of(std::uint32_t pid, const DescriptorOwner& caller, std::uint64_t time);
  void take_over(const usc_event& event, DescriptorOwner& owner);
  [[nodiscard]] trace::ProcessId process_of(std::uint32_t pid, trace::ProcessId caller, std::uint64_t time) const;
  [[nodiscard]] std::uint32_t new_socket(trace::TextId label, const OpenFile& open_file);
  [[nodiscard]] std::uint32_t found_socket(const std::string& target, trace::TextId label, const FoundFile& file);
  [[nodiscard]] static std::string found_name(const std::string& target);
  Result<void> follow_pair(const usc_event& event, DescriptorOwner& owner, const CallFacts& facts,
                           std::span<const trace::OrderedString> strings);
  Result<void> follow_sending(const usc_event& event, DescriptorOwner& owner,
                              std::span<const trace::OrderedString> strings);
  void follow_receiving(const usc_event& event, DescriptorOwner& owner, const CallFacts& facts,
                        std::span<const trace::OrderedString> strings);
  [[nodiscard]] trace::TextId name_of_received(const PassedKey& key) const;
  [[nodiscard]] Descriptor received(const PassedKey& key);
  Result<void> open_as(Return update, std::string_view name, bool closes_on_exec);
  [[nodiscard]] static bool is_own_path(std::string_view path);
  Result<std::string> absolute(const std::string& path, const DescriptorOwner& owner, int folder, Return& update);
  Result<trace::TextId> intern(std::string_view name);

  const store::Definitions& definitions_;
  trace::Texts& texts_;
  const std::vector<CallFacts>* facts_ = nullptr;  // by ABI and number
  bool usable_ = true;
  bool sees_tables_ = true;   // if false, tables change unseen: only calls that were attached to are named
  bool sees_roots_ = true;    // if false, absolute paths may not be what they look like
  bool sees_folders_ = true;  // if false, relative ones

  DescriptorOwners owners_;
  HeldDescriptors held_;
  std::vector<Happening> happenings_;  // by time
  std::size_t next_happening_ = 0;
  std::vector<ProcFacts> proc_;
  std::unordered_map<trace::ProcessId, std::size_t> proc_of_;  // in proc_
  std::priority_queue<Return, std::vector<Return>, std::greater<>> returns_;
  std::vector<Return> observed_;  // of the call observed last: its number may not be known yet
  std::uint64_t planned_ = 0;
  std::unordered_map<trace::TaskId, std::uint64_t> entered_;  // stamp at the entry of each task's last clone or exec
  std::vector<Socket> sockets_;
  std::unordered_map<std::string, std::uint32_t> found_sockets_;  // by what /proc calls them; numbers, from 1
  std::unordered_map<std::string, std::uint64_t> moved_;          // last components of paths that were renamed: stamps
  std::uint64_t moved_any_ = 0;                                   // stamp of the last renaming
  std::uint64_t moved_all_ = 0;  // stamp of the last time at which any folder may have been
                                 // renamed
  std::uint64_t stamp_ = 1;
  std::uint64_t forgotten_ = 0;        // data with this stamp, or a smaller one, may be wrong
  std::uint64_t roots_forgotten_ = 0;  // the same for root directories
  std::uint64_t unknown_until_ = 0;
  std::uint32_t untraced_calls_ = 0;  // calls of tasks unknown to the trace, which may change any table
  std::uint64_t last_entry_ = 0;
  Redactor redactor_;  // for names that are composed here
  std::vector<Named> named_;
  std::vector<Passed> passed_;
  std::unordered_map<PassedKey, Descriptor, PassedHash> sent_;  // what the sender knows of it
  std::uint64_t open_files_ = 0;                                // met
  std::unordered_map<OpenFileId, FoundFile> learned_files_;     // of open files that messages carried
  MountSpaces spaces_;
  bool notes_found_files_ = false;  // once it is known that there are several namespaces
  trace::TextId folder_;
  trace::TextId special_;
  std::uint32_t space_ = 0;
  trace::TextId target_folder_;
  // The last working directory that working_folder() has looked at.
  struct {
    trace::TextId folder{};
    std::uint64_t set = 0;
    std::uint64_t moved = 0;  // stamp of the last renaming then
    bool leads_there = false;
  } checked_;
};

}  // namespace uscope::descriptors
