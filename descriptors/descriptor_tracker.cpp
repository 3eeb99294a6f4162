// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "descriptors/descriptor_tracker.h"

#include <fcntl.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>

#include "descriptors/descriptor_calls.h"
#include "support/text.h"
#include "syscalls/syscall_table.h"
#include "trace/how.h"

namespace uscope::descriptors {
namespace {

constexpr std::size_t kAbis = 3;
// A call may have taken effect this long before its event is lost.
constexpr std::uint64_t kBeforeLossNs = 100'000'000;

char letter_at(std::string_view letters, std::size_t arg) {
  return arg < letters.size() ? letters[arg] : '\0';
}

// While such a call waits, its number is free already, or stands for what it has become.
bool changes_its_number(DescriptorCall call) {
  return call == DescriptorCall::kClose || call == DescriptorCall::kCloseRange ||
         call == DescriptorCall::kDuplicateTo || call == DescriptorCall::kExec;
}

FoundFile file_of(const store::DescriptorFacts& fact) {
  return fact.file.space != 0 ? FoundFile{fact.file.dev, fact.file.ino} : FoundFile{};
}

bool goes_on(const usc_event& event) {
  return trace::is_unfinished(event.how);
}

// Whether a call that was under way when its process came into the trace changes nothing that /proc says of it: it
// never ended, or does no more than take a free number, of which nothing is known.
bool leaves_the_known(const usc_event& event, DescriptorCall call) {
  switch (call) {
    case DescriptorCall::kOpen:
    case DescriptorCall::kMemfd:
    case DescriptorCall::kSocket:
    case DescriptorCall::kAccept:
    case DescriptorCall::kBind:
    case DescriptorCall::kConnect:
    case DescriptorCall::kOwnName:
    case DescriptorCall::kPeerName:
    case DescriptorCall::kLabel:
    case DescriptorCall::kPidfd:
    case DescriptorCall::kTakeOver:
    case DescriptorCall::kPair:
    case DescriptorCall::kSend:
    case DescriptorCall::kReceive:
    case DescriptorCall::kDuplicate:
      return true;
    case DescriptorCall::kFcntl:
      return goes_on(event) || event.args[1] != F_SETFD;
    default:
      return goes_on(event);
  }
}

}  // namespace

DescriptorTracker::DescriptorTracker(const store::Definitions& definitions, trace::Texts& texts)
    : definitions_(definitions), texts_(texts) {
  learn_what_is_recorded();
  if (!usable_) return;
  if (const auto home = definitions.meta.find("mount_space"); home != definitions.meta.end())
    spaces_.set_home(static_cast<std::uint32_t>(std::strtoul(home->second.c_str(), nullptr, 10)));
  for (const auto& [serial, file] : definitions.files)
    if (file.key && !file.path.empty()) spaces_.know(file.path, {file.key->dev, file.key->ino});
  const auto is_elsewhere = [this](const store::DescriptorFacts& fact) {
    return fact.file.space != 0 && !spaces_.is_home(fact.file.space);
  };
  notes_found_files_ = !spaces_.is_home(0);
  if (notes_found_files_ && std::any_of(definitions.descriptors.begin(), definitions.descriptors.end(), is_elsewhere))
    note_found_files();
  facts_ = &facts_of_calls();
  plan_proc();
  find_who_may_change();
  plan_happenings();
  if (const auto redact = definitions.meta.find("redact"); redact != definitions.meta.end()) {
    const auto patterns = nlohmann::json::parse(redact->second, nullptr, false);
    std::vector<std::string> hidden;
    for (std::size_t i = 0; patterns.is_array() && i < patterns.size(); i++)
      if (patterns[i].is_string()) {
        hidden.push_back(patterns[i].get<std::string>());  // as older tracers wrote it
        hidden.push_back(bytes_of(hidden.back()));         // a trace's text
      }
    redactor_ = Redactor(std::move(hidden));
  }
}

void DescriptorTracker::learn_what_is_recorded() {
  if (definitions_.records_missing) usable_ = false;
  const auto taken = definitions_.meta.find("strings");
  if (taken != definitions_.meta.end() && taken->second == "0") usable_ = false;  // no strings were recorded
  const auto calls = definitions_.meta.find("calls");
  if (calls == definitions_.meta.end()) return;
  const auto set = syscalls::parse_syscall_set(calls->second);
  const auto named = definitions_.meta.find("followed");
  const bool follows = named != definitions_.meta.end() && !named->second.empty();
  const auto followed = syscalls::parse_syscall_set(follows ? named->second : "none");
  if (!set || !followed) {
    usable_ = false;
    return;
  }
  for (std::uint32_t nr = 0; nr < syscalls::kSyscallNumbers; nr++) {
    if (set->contains(USC_ABI_NATIVE, nr) || followed->contains(USC_ABI_NATIVE, nr)) continue;
    switch (descriptors_need(syscalls::syscall_name(USC_ABI_NATIVE, nr))) {
      case DescriptorNeed::kNone:
        break;
      case DescriptorNeed::kTables:
        sees_tables_ = false;
        break;
      case DescriptorNeed::kSharing:
        owners_.set_sees_unsharing(false);
        break;
      case DescriptorNeed::kRoots:
        sees_roots_ = false;
        break;
      case DescriptorNeed::kFolders:
        sees_folders_ = false;
        break;
    }
  }
}

std::vector<DescriptorTracker::CallFacts> DescriptorTracker::learn_calls() {
  std::vector<CallFacts> all(kAbis * syscalls::kSyscallNumbers);
  for (std::size_t abi = 0; abi < kAbis; abi++) {
    for (std::uint32_t nr = 0; nr < syscalls::kSyscallNumbers; nr++) {
      CallFacts& facts = all[abi * syscalls::kSyscallNumbers + nr];
      const std::string name = syscalls::syscall_name(static_cast<usc_abi>(abi), nr);
      const std::string_view letters = syscalls::syscall_arguments(static_cast<usc_abi>(abi), nr).value_or("");
      facts.call = descriptor_call(name);
      facts.close_on_exec = close_on_exec(name);
      facts.object = syscalls::object_args(static_cast<usc_abi>(abi), nr);
      facts.letters = letters;
      facts.has_paths = facts.object.path >= 0;
      for (std::size_t arg = 0; arg < letters.size(); arg++) {
        if (letters[arg] == 'd' || letters[arg] == 'D') facts.descriptors |= static_cast<std::uint8_t>(1U << arg);
        if (facts.path < 0 && letters[arg] == 's') facts.path = static_cast<int>(arg);
      }
    }
  }
  return all;
}

const std::vector<DescriptorTracker::CallFacts>& DescriptorTracker::facts_of_calls() {
  static const std::vector<CallFacts> facts = learn_calls();
  return facts;
}

// The tracer writes all descriptors of one process in sequence, and then the end.
void DescriptorTracker::plan_proc() {
  const auto& open = definitions_.descriptors;
  std::size_t first = 0;
  for (std::size_t i = 0; i < open.size(); i++) {
    if (open[i].process != open[first].process) first = i;
    if (open[i].fd != USC_FD_END) continue;
    if (i > first && open[i].time >= open[first].time) {
      happenings_.push_back({Happening::Kind::kProcBegins, open[first].time, proc_.size()});
      happenings_.push_back({Happening::Kind::kProcEnds, open[i].time, proc_.size()});
      proc_of_.emplace(open[first].process, proc_.size());
      proc_.push_back({.first = first, .count = i - first, .process = open[first].process, .until = open[i].time});
    }
    first = i + 1 < open.size() ? i + 1 : i;
  }
}

// Other processes, supervisors and rings may change a table, and what is lost may tell of such.
void DescriptorTracker::find_who_may_change() {
  for (const store::TaskStart& start : definitions_.task_starts) {
    const auto at = proc_of_.find(start.process);
    if (at == proc_of_.end() || start.time > proc_[at->second].until) continue;
    ProcFacts& proc = proc_[at->second];
    proc.threads++;
    if ((start.flags & USC_TASK_SUPERVISED) != 0 || (start.flags & USC_TASK_SAME_FILES) == 0)
      proc.others_may_change = true;
  }
  std::uint64_t lost_from = std::numeric_limits<std::uint64_t>::max();
  for (const store::LossFacts& loss : definitions_.losses) {
    if (loss.cause != USC_LOSS_RING_FULL_EVENT && loss.cause != USC_LOSS_RING_FULL_FOLLOWED &&
        loss.cause != USC_LOSS_RING_FULL_RECORD && loss.cause != USC_LOSS_TASK_MAP_FULL)
      continue;
    const std::uint64_t from = loss.from_ns > kBeforeLossNs ? loss.from_ns - kBeforeLossNs : 0;
    if (!loss.process) lost_from = std::min(lost_from, from);
    const auto at = proc_of_.find(loss.process);
    if (at != proc_of_.end() && from <= proc_[at->second].until) proc_[at->second].others_may_change = true;
  }
  for (ProcFacts& proc : proc_) {
    const auto process = definitions_.processes.find(proc.process);
    if (process == definitions_.processes.end() || process->second.may_use_io_uring || lost_from <= proc.until)
      proc.others_may_change = true;
  }
}

void DescriptorTracker::plan_happenings() {
  std::vector<Happening> tasks;
  for (std::size_t i = 0; i < definitions_.task_starts.size(); i++)
    tasks.push_back({Happening::Kind::kBegin, definitions_.task_starts[i].time, i});
  for (std::size_t i = 0; i < definitions_.task_ends.size(); i++)
    tasks.push_back({Happening::Kind::kEnd, definitions_.task_ends[i].time, i});
  for (const auto& [serial, image] : definitions_.images)
    if (image.task) tasks.push_back({.kind = Happening::Kind::kExec, .time = image.time, .task = image.task});
  for (const auto& [serial, process] : definitions_.processes)
    if (process.may_use_io_uring)
      tasks.push_back({.kind = Happening::Kind::kRing,
                       .time = std::max(process.io_uring_ns, process.start_ns.value_or(0)),
                       .process = serial});
  for (std::size_t i = 0; i < definitions_.losses.size(); i++) {
    const std::uint64_t from = definitions_.losses[i].from_ns;
    tasks.push_back({Happening::Kind::kLoss, from > kBeforeLossNs ? from - kBeforeLossNs : 0, i});
  }
  // At equal times, tasks come before the data from /proc on them.
  happenings_.insert(happenings_.begin(), tasks.begin(), tasks.end());
  std::stable_sort(happenings_.begin(), happenings_.end(),
                   [](const Happening& a, const Happening& b) { return a.time < b.time; });
}

Result<void> DescriptorTracker::apply_until(std::uint64_t time) {
  for (;;) {
    const bool happens = next_happening_ < happenings_.size() && happenings_[next_happening_].time <= time;
    const bool returns = !returns_.empty() && returns_.top().time <= time;
    if (!happens && !returns) return {};
    if (!happens || (returns && returns_.top().time < happenings_[next_happening_].time)) {
      Return update = returns_.top();
      returns_.pop();
      apply(update);
    } else if (auto done = happen(happenings_[next_happening_++]); !done) {
      return done;
    }
  }
}

Result<void> DescriptorTracker::happen(const Happening& happening) {
  const auto entered = [this](trace::TaskId task) {
    const auto at = entered_.find(task);
    return at == entered_.end() ? std::nullopt : std::optional(at->second);
  };
  switch (happening.kind) {
    case Happening::Kind::kBegin: {
      const store::TaskStart& start = definitions_.task_starts[happening.place];
      owners_.begin(start, entered(start.parent_task));
      break;
    }
    case Happening::Kind::kEnd:
      end_task(definitions_.task_ends[happening.place]);
      break;
    case Happening::Kind::kExec:
      exec(happening.task, entered(happening.task), happening.time);
      break;
    case Happening::Kind::kLoss:
      lose(definitions_.losses[happening.place]);
      break;
    case Happening::Kind::kRing:
      if (const auto* owner = owners_.first_of(happening.process)) DescriptorOwners::doubt(*owner->table);
      break;
    case Happening::Kind::kProcBegins:
      begin_proc(proc_[happening.place]);
      break;
    case Happening::Kind::kProcEnds:
      return end_proc(proc_[happening.place], happening.time);
  }
  return {};
}

void DescriptorTracker::begin_proc(ProcFacts& proc) {
  const DescriptorOwner* owner = owners_.first_of(proc.process);
  if (!owner) return;
  proc.table = owner->table;
  proc.folder = owner->folder;
  proc.folder_stamp = owner->folder->stamp;
  proc.table->descriptors.watch();
}

// Descriptors that changed while /proc was read may have been read before or after the change.
Result<void> DescriptorTracker::end_proc(ProcFacts& proc, std::uint64_t time) {
  if (!proc.table) return {};
  const auto table = std::exchange(proc.table, nullptr);
  const auto folder = std::exchange(proc.folder, nullptr);
  const bool learns = may_learn(*table, time);
  for (std::size_t i = proc.first; i < proc.first + proc.count; i++) {
    const store::DescriptorFacts& fact = definitions_.descriptors[i];
    auto id = texts_.intern(found_name(fact.target));
    if (!id) return id.error();
    if (fact.fd == USC_FD_CWD) {
      if (folder->unsure || folder->under_way != 0 || folder->stamp != proc.folder_stamp) continue;
      folder->working = *id;
      folder->working_stamp = ++stamp_;
      folder->root_is_plain = true;
      folder->root_stamp = stamp_;
    } else if (fact.target == "anon_inode:[io_uring]") {
      DescriptorOwners::doubt(*table);
    } else if (learns && !table->unsure && !table->descriptors.was_changed(fact.fd) &&
               !table->descriptors.find(fact.fd)) {
      const bool is_socket = fact.target.starts_with("socket:[");
      const std::uint32_t socket = is_socket ? found_socket(fact.target, *id, file_of(fact)) : 0;
      table->descriptors.set(fact.fd, {.name = *id,
                                       .stamp = ++stamp_,
                                       .close_on_exec = (fact.flags & USC_FD_CLOEXEC) != 0,
                                       .socket = socket,
                                       .space = spaces_.tag_of(fact.target, fact.file.space),
                                       .open_file = socket != 0 ? OpenFile{} : new_open_file(true, file_of(fact))});
    }
  }
  table->descriptors.end_watch();
  return {};
}

// "socket:[at inet:[::]:80]" of "socket:[4711] at inet:[::]:80"; else what /proc says.
std::string DescriptorTracker::found_name(const std::string& target) {
  const std::size_t space = target.starts_with("socket:[") ? target.find("] ") : std::string::npos;
  return space == std::string::npos ? target : "socket:[" + target.substr(space + 2) + "]";
}

// A socket that was there before, by what /proc calls it: several descriptors may be of one.
std::uint32_t DescriptorTracker::found_socket(const std::string& target, trace::TextId label, const FoundFile& file) {
  std::uint32_t& number = found_sockets_[target.substr(0, target.find(' '))];
  if (number != 0) return number;
  number = new_socket(label, new_open_file(true, file));
  const bool has_peer = target.find("] with ") != std::string::npos;
  if (number != 0 && has_peer) sockets_[number - 1].unconnected = {};
  if (number != 0) sockets_[number - 1].has_address = target.find("] at ") != std::string::npos;
  return number;
}

void DescriptorTracker::lose(const store::LossFacts& loss) {
  switch (loss.cause) {
    case USC_LOSS_RING_FULL_EVENT:
    case USC_LOSS_RING_FULL_FOLLOWED:
      owners_.silence(loss.process, loss.until_ns);
      moved_all_ = ++stamp_;
      if (loss.process) break;
      unknown_until_ = std::max(unknown_until_, loss.until_ns);
      doubt_all();
      break;
    case USC_LOSS_RING_FULL_RECORD:  // possibly of a new task, which is then unknown to the trace, or of an exec
      if (loss.process) owners_.silence(loss.process, loss.until_ns);
      if (loss.process) owners_.doubt_shared_between_processes(loss.process);
      break;
    case USC_LOSS_TASK_MAP_FULL:  // that task may share anything with the existing ones
      owners_.each(loss.process, [](const DescriptorOwner& owner) {
        DescriptorOwners::doubt(*owner.table);
        DescriptorOwners::doubt(*owner.folder);
      });
      break;
    case USC_LOSS_RING_FULL_SHARING:
    case USC_LOSS_RECURSION:
      usable_ = false;
      break;
    default:
      break;
  }
}

bool DescriptorTracker::may_learn(const SharedTable& table, std::uint64_t time) const {
  return !table.unsure && time >= table.unknown_until && time >= unknown_until_ && untraced_calls_ == 0;
}

bool DescriptorTracker::is_said(const DescriptorOwner& owner, std::uint64_t time) const {
  return may_learn(*owner.table, time);
}

const Descriptor* DescriptorTracker::known(const SharedTable& table, int fd) const {
  const Descriptor* found = table.descriptors.find(fd);
  return found && found->stamp > forgotten_ ? found : nullptr;
}

bool DescriptorTracker::has_effect(const usc_event& event) {
  const bool is_call =
      event.source == USC_SOURCE_SYSCALL && event.abi < kAbis && event.kind < syscalls::kSyscallNumbers;
  return is_call && facts_of_calls()[event.abi * syscalls::kSyscallNumbers + event.kind].call != DescriptorCall::kNone;
}

Result<std::span<const DescriptorTracker::Named>> DescriptorTracker::observe(
    const usc_event& event, std::span<const trace::OrderedString> strings) {
  queue_returns();
  named_.clear();
  passed_.clear();
  folder_ = {};
  special_ = {};
  space_ = 0;
  target_folder_ = {};
  if (!usable_ || event.abi >= kAbis || event.kind >= syscalls::kSyscallNumbers) return std::span<const Named>();
  const CallFacts& facts = (*facts_)[event.abi * syscalls::kSyscallNumbers + event.kind];
  if (!sees_tables_) return observe_attached_only(event, facts);
  if (auto done = apply_until(event.entry_ns); !done) return done.error();
  const bool in_order = event.entry_ns >= last_entry_;
  last_entry_ = std::max<std::uint64_t>(last_entry_, event.entry_ns);
  const bool concerns = facts.call != DescriptorCall::kNone || facts.descriptors != 0 || facts.has_paths;
  if (event.how == USC_HOW_NO_ENTRY || !concerns)
    return std::span<const Named>();  // the kernel did not execute it, or it is of no interest here
  if (!in_order) {
    // By now its descriptors may be others, and its changes took effect some time ago.
    if (facts.call != DescriptorCall::kNone) doubt_all();
    return std::span<const Named>();
  }
  DescriptorOwner* owner = owners_.find(trace::TaskId(event.head.task));
  if (!owner) {
    // A call that was under way is entered, so to speak, just before its task comes into the trace.
    const trace::ProcessId process = definitions_.process_of_task(trace::TaskId(event.head.task));
    const bool attached = (event.flags & USC_EVENT_ATTACHED) != 0 && process;
    if (!attached || !leaves_the_known(event, facts.call)) observe_untraced(event, facts.call);
    if (attached)
      if (auto done = name_attached(event, process, facts); !done) return done.error();
    return std::span<const Named>(named_);
  }
  if (facts.descriptors != 0 && is_said(*owner, event.entry_ns)) name_arguments(event, *owner, facts);
  if (facts.has_paths) {
    if (auto done = name_folders(event, *owner, facts, strings); !done) return done.error();
    if (auto done = find_space(event, *owner, facts, strings); !done) return done.error();
  }
  if (facts.call != DescriptorCall::kNone)
    if (auto done = follow(event, *owner, facts, strings); !done) return done.error();
  return std::span<const Named>(named_);
}

// Where calls that change tables are not recorded, nothing is known but what /proc said of calls that were under way.
Result<std::span<const DescriptorTracker::Named>> DescriptorTracker::observe_attached_only(const usc_event& event,
                                                                                           const CallFacts& facts) {
  const trace::ProcessId process = definitions_.process_of_task(trace::TaskId(event.head.task));
  if ((event.flags & USC_EVENT_ATTACHED) != 0 && event.how != USC_HOW_NO_ENTRY && process && facts.descriptors != 0)
    if (auto done = name_attached(event, process, facts); !done) return done.error();
  return std::span<const Named>(named_);
}

void DescriptorTracker::name_arguments(const usc_event& event, const DescriptorOwner& owner, const CallFacts& facts) {
  for (int arg = 0; arg < 6; arg++) {
    if ((facts.descriptors >> arg & 1) == 0) continue;
    const Descriptor* found = known(*owner.table, static_cast<int>(event.args[arg]));
    if (!found) continue;
    if (const trace::TextId name = name_of(*found))
      named_.push_back({.arg = arg,
                        .string_id = name,
                        .is_folder = found->is_folder,
                        .space = found->space,
                        .open_file = open_file_of(*found)});
  }
}

void DescriptorTracker::find_places(ProcFacts& proc) const {
  proc.places.emplace();
  for (std::size_t i = proc.first; i < proc.first + proc.count; i++) {
    const store::DescriptorFacts& fact = definitions_.descriptors[i];
    if (fact.fd >= 0) proc.places->emplace(fact.fd, i);
    if (fact.target == "anon_inode:[io_uring]") proc.others_may_change = true;
  }
}

// The thread was inside this call before its process's descriptors were read from /proc, and must still have been
// there by then: afterwards it may have closed them itself.
Result<void> DescriptorTracker::name_attached(const usc_event& event, trace::ProcessId process,
                                              const CallFacts& facts) {
  const auto at = proc_of_.find(process);
  if (at == proc_of_.end() || changes_its_number(facts.call)) return {};
  ProcFacts& proc = proc_[at->second];
  if (event.entry_ns > proc.until || (!goes_on(event) && event.head.time < proc.until)) return {};
  if (!proc.places) find_places(proc);
  if (proc.others_may_change) return {};
  for (int arg = 0; arg < 6; arg++) {
    const bool is_named =
        std::any_of(named_.begin(), named_.end(), [arg](const Named& named) { return named.arg == arg; });
    if ((facts.descriptors >> arg & 1) == 0 || is_named) continue;
    const auto place = proc.places->find(descriptor_arg(event, static_cast<std::size_t>(arg)));
    if (place == proc.places->end()) continue;
    const store::DescriptorFacts& fact = definitions_.descriptors[place->second];
    auto name = texts_.intern(found_name(fact.target));
    if (!name) return name.error();
    named_.push_back({.arg = arg,
                      .string_id = *name,
                      .late = proc.threads != 1,
                      .open_file = {.id = {}, .unsure = true, .file = file_of(fact)}});
  }
  return {};
}

// The working directory stands where AT_FDCWD is given for the folder of a relative path, and before a relative path of
// a call that takes no folder. For a path that is taken from a descriptor's folder, that descriptor has its name
// already.
Result<void> DescriptorTracker::name_folders(const usc_event& event, const DescriptorOwner& owner,
                                             const CallFacts& facts, std::span<const trace::OrderedString> strings) {
  for (const trace::OrderedString& path : strings) {
    const int arg = path.arg;
    const bool is_object = arg == facts.object.path || arg == facts.object.target;
    const bool takes_folder = arg > 0 && letter_at(facts.letters, static_cast<std::size_t>(arg) - 1) == 'D';
    if (arg == facts.object.path && path.is_special && path.string_id) {
      auto found = through_descriptor(event, owner, path);
      if (!found) return found.error();
      special_ = *found;
    }
    const bool is_relative = path.string_id && path.first != '/' && (path.flags & USC_STRING_REDACTED) == 0;
    if ((!is_object && !takes_folder) || !is_relative) continue;
    const int number = takes_folder ? descriptor_arg(event, static_cast<std::size_t>(arg) - 1) : AT_FDCWD;
    auto folder = number == AT_FDCWD ? working_folder(owner) : opened_folder(owner, number, event.entry_ns, path);
    if (!folder) return folder.error();
    if (!*folder || (number == AT_FDCWD && path.first == 0)) continue;
    auto hidden = is_hidden(*folder, path);
    if (!hidden) return hidden.error();
    if (*hidden) continue;
    if (takes_folder && number == AT_FDCWD) named_.push_back({.arg = arg - 1, .string_id = *folder, .is_folder = true});
    if (is_object) (arg == facts.object.target ? target_folder_ : folder_) = *folder;
  }
  return {};
}

// None if it is not known, or if its path need not lead there any more.
Result<trace::TextId> DescriptorTracker::working_folder(const DescriptorOwner& owner) {
  const SharedFolder& own = *owner.folder;
  const bool has_root = sees_roots_ && !own.unsure && own.root_is_plain && own.root_stamp > roots_forgotten_;
  if (!has_root || !sees_folders_ || own.under_way != 0 || !own.working) return trace::TextId();
  const std::uint64_t moved = std::max(moved_any_, moved_all_);
  if (own.working != checked_.folder || own.working_stamp != checked_.set || moved != checked_.moved) {
    auto text = texts_.text(own.working);
    if (!text) return text.error();
    const bool is_whole = *text && (*text)->starts_with('/') && !(*text)->ends_with("…");
    checked_ = {own.working, own.working_stamp, moved, is_whole && !was_moved(**text, own.working_stamp)};
  }
  return checked_.leads_there ? own.working : trace::TextId();
}

// The same for a descriptor. An empty path is the descriptor itself, which keeps the name by which it was opened.
Result<trace::TextId> DescriptorTracker::opened_folder(const DescriptorOwner& owner, int fd, std::uint64_t time,
                                                       const trace::OrderedString& path) {
  const Descriptor* found = is_said(owner, time) ? known(*owner.table, fd) : nullptr;
  if (!found) return trace::TextId();
  const trace::TextId name = name_of(*found);
  if (!name || path.first == 0 || found->stamp > std::max(moved_any_, moved_all_)) return name;
  auto text = texts_.text(name);
  if (!text) return text.error();
  return *text && !was_moved(**text, found->stamp) ? name : trace::TextId();
}

// Whether `--redact` hides what the two are together: then the folder is not said.
Result<bool> DescriptorTracker::is_hidden(trace::TextId folder, const trace::OrderedString& path) {
  if (redactor_.empty()) return false;
  auto base = texts_.text(folder);
  if (!base) return base.error();
  auto rest = texts_.text(path.string_id);
  if (!rest) return rest.error();
  return redactor_.hides(bytes_of(joined_path(base->value_or(""), rest->value_or(""))),
                         (path.flags & USC_STRING_TRUNCATED) != 0);
}

// A task whose start is not in the trace may share any table and any folder.
void DescriptorTracker::observe_untraced(const usc_event& event, DescriptorCall call) {
  const bool failed = event.how == USC_HOW_RETURNED && event.result < 0 && call != DescriptorCall::kClose;
  if (call == DescriptorCall::kNone || failed) return;
  doubt_all();
  if (call == DescriptorCall::kChroot || call == DescriptorCall::kSetns) roots_forgotten_ = stamp_;
  untraced_calls_++;
  if (event.how != USC_HOW_RETURNED) return;
  Return update{.kind = Return::Kind::kStranger};
  update.time = event.head.time;
  plan(std::move(update));
}

void DescriptorTracker::doubt_all() {
  forgotten_ = moved_all_ = ++stamp_;
}

}  // namespace uscope::descriptors
