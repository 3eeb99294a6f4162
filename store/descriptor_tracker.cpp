#include "store/descriptor_tracker.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <sys/socket.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "store/descriptor_calls.h"
#include "store/syscall_table.h"

namespace uscope::store {
namespace {

constexpr std::size_t kAbis = 3;
constexpr int kLastDescriptor = std::numeric_limits<int>::max();
static_assert(O_CLOEXEC == SOCK_CLOEXEC);

int number_of(const usc_event& event, std::size_t arg) {
  return static_cast<int>(event.args[arg]);
}

const OrderedString* numbers_of(std::span<const OrderedString> strings, std::uint8_t kind) {
  for (const OrderedString& string : strings)
    if (string.kind == kind && string.string_id == 0) return &string;
  return nullptr;
}

bool returned(const usc_event& event) {
  return event.how == USC_HOW_RETURNED;
}

}  // namespace

DescriptorTracker::DescriptorTracker(const Definitions& definitions, StringTable& strings)
    : definitions_(definitions), strings_(strings) {
  learn_calls();
  for (const auto& [serial, process] : definitions.processes)
    if (process.parent_task != 0 && process.start_ns)
      plan({.kind = Update::Kind::kFork, .time = *process.start_ns, .process = serial, .other = process.parent_task});
  for (const auto& [serial, process] : definitions.processes)
    if (process.end_ns) plan({.kind = Update::Kind::kEnd, .time = *process.end_ns, .process = serial});
  for (std::size_t i = 0; i < definitions.descriptors.size(); i++)
    plan(
        {.kind = Update::Kind::kProc, .time = definitions.descriptors[i].time, .other = static_cast<std::uint32_t>(i)});
  for (const LossFacts& loss : definitions.losses) {
    if (loss.cause != USC_LOSS_RING_FULL_EVENT && loss.cause != USC_LOSS_TASK_MAP_BUSY &&
        loss.cause != USC_LOSS_RECURSION && loss.cause != USC_LOSS_RING_FULL_STRING)
      continue;
    plan({.kind = Update::Kind::kBlind, .time = loss.from_ns, .process = loss.process});
    plan({.kind = Update::Kind::kSee, .time = loss.until_ns, .process = loss.process});
  }
  if (const auto redact = definitions.meta.find("redact"); redact != definitions.meta.end()) {
    const auto patterns = nlohmann::json::parse(redact->second, nullptr, false);
    std::vector<std::string> texts;
    for (std::size_t i = 0; patterns.is_array() && i < patterns.size(); i++)
      if (patterns[i].is_string()) texts.push_back(patterns[i].get<std::string>());
    redactor_ = Redactor(std::move(texts));
  }
  const auto taken = definitions.meta.find("strings");
  if (taken != definitions.meta.end() && taken->second == "0") usable_ = false;  // none are wanted
  const auto calls = definitions.meta.find("calls");
  if (calls == definitions.meta.end()) return;
  const auto set = parse_syscall_set(calls->second);
  for (std::uint32_t nr = 0; set && nr < kSyscallNumbers; nr++)
    if (is_needed_for_descriptors(syscall_name(USC_ABI_X86_64, nr)) && !set->contains(USC_ABI_X86_64, nr))
      usable_ = false;
  usable_ = usable_ && set;
}

void DescriptorTracker::learn_calls() {
  facts_.resize(kAbis * kSyscallNumbers);
  for (std::size_t abi = 0; abi < kAbis; abi++) {
    for (std::uint32_t nr = 0; nr < kSyscallNumbers; nr++) {
      CallFacts& facts = facts_[abi * kSyscallNumbers + nr];
      const std::string name = syscall_name(static_cast<usc_abi>(abi), nr);
      const std::string_view letters = syscall_arguments(static_cast<usc_abi>(abi), nr).value_or("");
      facts.call = descriptor_call(name);
      facts.flags = close_on_exec_arg(name);
      for (std::size_t arg = 0; arg < letters.size(); arg++) {
        if (letters[arg] == 'd' || letters[arg] == 'D') facts.descriptors |= static_cast<std::uint8_t>(1U << arg);
        if (facts.path < 0 && letters[arg] == 's') facts.path = static_cast<int>(arg);
      }
    }
  }
}

void DescriptorTracker::plan(Update update) {
  update.order = planned_++;
  updates_.push(update);
}

bool DescriptorTracker::is_blind(std::uint32_t process) const {
  return !usable_ || process == 0 || blind_.count(0) != 0 || blind_.count(process) != 0;
}

Result<void> DescriptorTracker::apply_until(std::uint64_t time) {
  while (!updates_.empty() && updates_.top().time <= time) {
    const Update update = updates_.top();
    updates_.pop();
    if (auto done = apply(update); !done) return done;
  }
  return {};
}

Result<void> DescriptorTracker::apply(const Update& update) {
  switch (update.kind) {
    case Update::Kind::kSet:
      if (update.fd == USC_FD_CWD)
        folders_[update.process] = update.descriptor.string_id;
      else if (!is_blind(update.process))
        table_.set(update.process, update.fd, update.descriptor);
      break;
    case Update::Kind::kClose:
      table_.close(update.process, update.fd);
      break;
    case Update::Kind::kCloseFromProc:
      if (const Descriptor* now = table_.find(update.process, update.fd); now && now->from_proc)
        table_.close(update.process, update.fd);
      break;
    case Update::Kind::kFork:
      fork(update);
      break;
    case Update::Kind::kExec:
      table_.exec(update.process);
      break;
    case Update::Kind::kBlind:
      blind_.insert(update.process);
      update.process == 0 ? table_.forget_all() : table_.forget(update.process);
      break;
    case Update::Kind::kEnd:
      table_.forget(update.process);
      folders_.erase(update.process);
      break;
    case Update::Kind::kSee:
      if (const auto at = blind_.find(update.process); at != blind_.end()) blind_.erase(at);
      break;
    case Update::Kind::kProc: {
      const DescriptorFacts& fact = definitions_.descriptors[update.other];
      auto id = strings_.intern(fact.target);
      if (!id) return id.error();
      if (fact.fd == USC_FD_CWD)
        folders_[fact.process] = *id;
      else if (!is_blind(fact.process))
        table_.set(fact.process, fact.fd, {*id, (fact.flags & USC_FD_CLOEXEC) != 0, true});
      break;
    }
  }
  return {};
}

void DescriptorTracker::fork(const Update& update) {
  const std::uint32_t parent = definitions_.process_of_task(update.other);
  if (parent == 0 || parent == update.process) return;
  if (const auto folder = folders_.find(parent); folder != folders_.end()) folders_[update.process] = folder->second;
  const auto flags = clone_flags_.find(update.other);
  const bool shares = flags != clone_flags_.end() && (flags->second & CLONE_FILES) != 0;
  if (is_blind(parent)) return;
  shares ? table_.share(update.process, parent) : table_.fork(update.process, parent);
}

Result<std::span<const DescriptorTracker::Named>> DescriptorTracker::see(const usc_event& event, std::uint32_t process,
                                                                         std::span<const OrderedString> strings) {
  named_.clear();
  if (!usable_ || event.abi >= kAbis || event.nr >= kSyscallNumbers) return std::span<const Named>();
  if (auto done = apply_until(event.entry_ns); !done) return done.error();
  const CallFacts& facts = facts_[event.abi * kSyscallNumbers + event.nr];
  // Out of order: by then its descriptors may be other ones.
  const bool in_order = event.entry_ns >= last_entry_;
  last_entry_ = std::max<std::uint64_t>(last_entry_, event.entry_ns);
  if (facts.descriptors != 0 && in_order && !is_blind(process))
    if (auto done = name_arguments(event, process, facts); !done) return done.error();
  if (facts.call == DescriptorCall::kNone) return std::span<const Named>(named_);
  enter(event, process, facts);
  if (returned(event))
    if (auto done = leave(event, process, facts, strings); !done) return done.error();
  return std::span<const Named>(named_);
}

Result<void> DescriptorTracker::name_arguments(const usc_event& event, std::uint32_t process, const CallFacts& facts) {
  for (int arg = 0; arg < 6; arg++) {
    if ((facts.descriptors >> arg & 1) == 0) continue;
    const int fd = number_of(event, static_cast<std::size_t>(arg));
    if (fd < 0) continue;
    if (const Descriptor* found = table_.find(process, fd)) named_.push_back({arg, found->string_id});
  }
  return {};
}

// What holds as soon as a call is entered.
void DescriptorTracker::enter(const usc_event& event, std::uint32_t process, const CallFacts& facts) {
  switch (facts.call) {
    case DescriptorCall::kClose:
      table_.close(process, number_of(event, 0));
      break;
    case DescriptorCall::kCloseRange:
      if ((event.args[2] & CLOSE_RANGE_CLOEXEC) == 0)
        table_.close_range(process, number_of(event, 0),
                           static_cast<int>(std::min<std::uint64_t>(event.args[1] & 0xffffffffU, kLastDescriptor)));
      break;
    case DescriptorCall::kClone:
      clone_flags_[event.head.task] = event.args[0];
      break;
    case DescriptorCall::kFork:
    case DescriptorCall::kClone3:  // its flags are in memory: below
      clone_flags_[event.head.task] = 0;
      break;
    default:
      break;
  }
}

// What holds once it has returned: planned for that time.
Result<void> DescriptorTracker::leave(const usc_event& event, std::uint32_t process, const CallFacts& facts,
                                      std::span<const OrderedString> strings) {
  Update update{.kind = Update::Kind::kSet, .time = event.head.time, .process = process};
  const bool failed = event.result < 0;
  switch (facts.call) {
    case DescriptorCall::kClose:
      update.kind = Update::Kind::kCloseFromProc;
      update.fd = number_of(event, 0);
      plan(update);
      return {};
    case DescriptorCall::kExec:
      update.kind = Update::Kind::kExec;
      if (event.result == 0) plan(update);
      return {};
    case DescriptorCall::kUnshare:
      update.kind = Update::Kind::kBlind;
      if (!failed && (event.args[0] & CLONE_FILES) != 0) plan(update);
      return {};
    case DescriptorCall::kIoUring:
      update.kind = Update::Kind::kBlind;
      if (!failed) plan(update);
      return {};
    case DescriptorCall::kClone3:
      if (const OrderedString* words = numbers_of(strings, USC_STRING_WORDS))
        clone_flags_[event.head.task] = words->numbers[0];
      return {};
    case DescriptorCall::kCloseRange:
      if (!failed && (event.args[2] & CLOSE_RANGE_UNSHARE) != 0) {
        update.kind = Update::Kind::kBlind;
        plan(update);
      } else if (!failed && (event.args[2] & CLOSE_RANGE_CLOEXEC) != 0) {
        table_.set_close_on_exec(
            process, number_of(event, 0),
            static_cast<int>(std::min<std::uint64_t>(event.args[1] & 0xffffffffU, kLastDescriptor)), true);
      }
      return {};
    case DescriptorCall::kConnect:
      return leave_socket(event, process, facts, strings);
    default:
      break;
  }
  if (failed || is_blind(process)) return {};
  switch (facts.call) {
    case DescriptorCall::kPair:
      return leave_pair(event, process, facts, strings);
    case DescriptorCall::kDuplicate:
    case DescriptorCall::kDuplicateTo:
    case DescriptorCall::kFcntl:
    case DescriptorCall::kIoctl:
      leave_copy(event, process, facts);
      return {};
    case DescriptorCall::kChdir:
    case DescriptorCall::kFchdir:
      return leave_directory(event, process, facts, strings);
    case DescriptorCall::kBind:
    case DescriptorCall::kAccept:
    case DescriptorCall::kSocket:
      return leave_socket(event, process, facts, strings);
    default:
      return leave_opening(event, process, facts, strings);
  }
}

}  // namespace uscope::store
