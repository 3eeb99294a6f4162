// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "live/window/kept_definitions.h"

#include <algorithm>
#include <string_view>

#include "trace/record_type.h"

namespace uscope::live {
namespace {

template <std::size_t N>
void set_name(char (&name)[N], std::string_view text) {
  const std::size_t bytes = text.copy(std::begin(name), N);
  std::fill(std::begin(name) + bytes, std::end(name), '\0');
}

}  // namespace

bool KeptDefinitions::take(const usc_record& record) {
  const trace::TaskId task(record.task);
  switch (record.type) {
    case USC_RECORD_META: {
      std::string_view key;
      std::string_view value;
      if (trace::split_meta(trace::tail_of(trace::record_as<usc_meta>(record)), key, value))
        meta_[std::string(key)] = keep(record);
      return true;
    }
    case USC_RECORD_TASK: {
      const auto& start = trace::record_as<usc_task>(record);
      Task& known = tasks_[task];  // its name or end may have come first, from another processor's ring
      known.start = keep(record);
      known.process = trace::ProcessId(start.process);
      known.inherited = trace::ImageId(start.image);
      known.mm = trace::MmId(start.mm);
      known.maker = trace::TaskId(start.parent_task);
      known.start_ns = record.time;
      known.shares = (start.flags & USC_TASK_SAME_FILES) != 0;
      return true;
    }
    case USC_RECORD_TASK_NAME:
      take_change(tasks_[task].names, record);
      return true;
    case USC_RECORD_TASK_USER:
      take_change(tasks_[task].users, record);
      return true;
    case USC_RECORD_GUISE:
      guises_.take(trace::record_as<usc_guise>(record));
      return true;
    case USC_RECORD_TASK_EXIT:
      tasks_[task].end = keep(record);
      tasks_[task].end_ns = record.time;
      return true;
    case USC_RECORD_EXEC: {
      const auto& exec = trace::record_as<usc_exec>(record);
      images_[trace::ImageId(exec.image)] = {keep(record), trace::ProcessId(exec.process), record.time,
                                             trace::MmId(exec.mm)};
      return true;
    }
    case USC_RECORD_FILE:
      files_[trace::FileId(trace::record_as<usc_file>(record).file)].announced = keep(record);
      return true;
    case USC_RECORD_CGROUP:
      cgroups_.try_emplace(trace::record_as<usc_cgroup>(record).cgroup, keep(record));
      return true;
    case USC_RECORD_FILE_INFO:
      files_[trace::FileId(trace::record_as<usc_file_info>(record).file)].described = keep(record);
      return true;
    case USC_RECORD_STACK:
      stacks_[trace::StackId(trace::record_as<usc_stack>(record).stack)] = keep(record);
      return true;
    case USC_RECORD_JIT_NAME:
      take_jit_name(trace::record_as<usc_jit_name>(record));
      return true;
    case USC_RECORD_LOG_KIND: {
      const auto& kind = trace::record_as<usc_log_kind>(record);
      kinds_.try_emplace({kind.source, kind.kind}, keep(record));
      return true;
    }
    case USC_RECORD_KIND: {
      const auto& kind = trace::record_as<usc_kind>(record);
      if (!kinds_.try_emplace({kind.source, kind.kind}, keep(record)).second)
        result_types_.try_emplace({kind.source, kind.kind}, keep(record));
      return true;
    }
    case USC_RECORD_KERNEL_PLACE:
      places_.try_emplace(trace::PlaceId(trace::record_as<usc_kernel_place>(record).place), keep(record));
      return true;
    default:
      return false;
  }
}

// Of more names or users than the bound, the last one of a task takes the place of the one before. The name before all
// of these becomes kNoName.
void KeptDefinitions::take_change(Changes& changes, const usc_record& record) {
  constexpr std::size_t kMostChanges = 4096;  // of one task, from one interval's end to the next
  if (changes.size() >= kMostChanges) {
    names_beyond_++;
    KeptRecord& last = std::prev(changes.end())->second;
    if (changes.size() > kMostChanges)
      changes.erase(std::prev(changes.end()));
    else if (record.type == USC_RECORD_TASK_NAME)
      set_name(reinterpret_cast<usc_task_name*>(last.data())->name, kNoName);
  }
  changes[record.time] = keep(record);
}

std::optional<usc_task> KeptDefinitions::task_as(trace::TaskId task, trace::ImageId serial) const {
  const auto known = tasks_.find(task);
  if (known == tasks_.end() || known->second.start.empty()) return std::nullopt;
  usc_task as_it_was = as<usc_task>(known->second.start);
  as_it_was.flags &= USC_TASK_USER;  // no process begins with it
  as_it_was.image = guises_.image_of(trace::ImageId(as_it_was.image)).value();
  const Guises::Guise* guise = guises_.find(serial);
  if (guise != nullptr && guise->task == task) {
    set_name(as_it_was.name, guise->name);
    as_it_was.uid = guise->uid;
  } else if (const auto image = images_.find(serial); image != images_.end()) {
    const auto& exec = as<usc_exec>(image->second.exec);
    // As the loader has it: another thread than the first one goes on as another task.
    if (exec.head.task == task.value() && (exec.old_tid == 0 || exec.old_tid == exec.tid)) {
      std::copy(std::begin(exec.name), std::end(exec.name), std::begin(as_it_was.name));
      const auto after = known->second.users.upper_bound(image->second.time);
      if (after != known->second.users.begin()) {
        as_it_was.uid = as<usc_task_user>(std::prev(after)->second).uid;
      }
    }
  }
  return as_it_was;
}

void KeptDefinitions::take_jit_name(const usc_jit_name& name) {
  constexpr std::size_t kMostNames = 100'000;  // compilers that make code for days
  if (jit_names_.size() >= kMostNames) jit_names_.clear();
  jit_names_.try_emplace({trace::MmId(name.mm), name.address}, keep(name.head));
}

Result<void> KeptDefinitions::write(WindowTrace& to) const {
  std::set<trace::StackId> all;
  for (const auto& [serial, bytes] : stacks_) all.insert(serial);
  return write(to, all);
}

Result<void> KeptDefinitions::write(WindowTrace& to, const std::set<trace::StackId>& stacks) const {
  const auto all = [&to](const auto& list) -> Result<void> {
    for (const auto& [key, bytes] : list)
      if (auto done = write_kept(to, bytes); !done) return done;
    return {};
  };
  if (auto done = all(meta_); !done) return done;
  if (auto done = all(cgroups_); !done) return done;
  for (const auto& [serial, image] : images_)
    if (auto done = write_kept(to, image.exec); !done) return done;
  for (const auto& [serial, task] : tasks_) {
    if (auto done = write_kept(to, task.start); !done) return done;
    if (auto done = all(task.names); !done) return done;
    if (auto done = all(task.users); !done) return done;
    if (auto done = write_kept(to, task.end); !done) return done;
  }
  for (const auto& [serial, file] : files_)
    for (const KeptRecord* part : {&file.announced, &file.described})
      if (auto done = write_kept(to, *part); !done) return done;
  // In their order, so that a trace that is taken again numbers them alike.
  for (const trace::StackId stack : stacks) {
    const auto known = stacks_.find(stack);
    if (known == stacks_.end()) continue;
    if (auto done = write_kept(to, known->second); !done) return done;
  }
  if (auto done = all(jit_names_); !done) return done;
  if (auto done = all(kinds_); !done) return done;
  if (auto done = all(result_types_); !done) return done;
  return all(places_);
}

void KeptDefinitions::forget_stacks(trace::StackId first, const std::unordered_set<trace::StackId>& in_use) {
  std::erase_if(stacks_, [&](const auto& entry) { return entry.first < first && in_use.count(entry.first) == 0; });
}

std::unordered_set<trace::TaskId> KeptDefinitions::living(std::uint64_t before_ns,
                                                          const std::unordered_set<trace::TaskId>& also) const {
  std::unordered_set<trace::TaskId> found;
  for (const auto& [serial, task] : tasks_) {
    if (task.start.empty() || (task.end_ns != 0 && task.end_ns < before_ns && also.count(serial) == 0)) continue;
    for (auto at = tasks_.find(serial); at != tasks_.end() && found.insert(at->first).second;)
      at = tasks_.find(at->second.maker);
  }
  return found;
}

trace::ProcessId KeptDefinitions::process_of(trace::TaskId task) const {
  const auto at = tasks_.find(task);
  return at == tasks_.end() ? trace::ProcessId() : at->second.process;
}

std::multimap<trace::ProcessId, std::uint64_t> KeptDefinitions::descriptor_copies(std::uint64_t shared) const {
  std::multimap<trace::ProcessId, std::uint64_t> copies;
  for (const auto& [serial, task] : tasks_) {
    const trace::ProcessId maker = process_of(task.maker);
    if (!maker || maker == task.process) continue;
    copies.emplace(maker, task.shares ? shared : task.start_ns);
    if (task.shares) copies.emplace(task.process, shared);
  }
  return copies;
}

void KeptDefinitions::forget_guises(std::uint64_t before_ns, std::set<trace::ImageId> in_use) {
  for (const auto& [serial, task] : tasks_) in_use.insert(task.inherited);
  guises_.forget(before_ns, in_use, [](trace::TaskId) { return true; });
  guises_.allow_more();
}

void KeptDefinitions::forget_ended(std::uint64_t before_ns, const std::set<trace::ImageId>& guises_in_use,
                                   const std::unordered_set<trace::TaskId>& needed) {
  std::erase_if(tasks_, [&](const auto& entry) {
    const Task& task = entry.second;
    // The start of one that only its name is known of was lost.
    return task.start.empty() || (task.end_ns != 0 && task.end_ns < before_ns && needed.count(entry.first) == 0);
  });
  for (auto& [serial, task] : tasks_)
    for (Changes* changes : {&task.names, &task.users}) {
      auto first = changes->lower_bound(before_ns);
      for (std::size_t kept = 0; kept < kFormerNames && first != changes->begin(); kept++) --first;
      changes->erase(changes->begin(), first);
    }
  std::set<trace::ProcessId> alive;
  std::set<trace::ImageId> inherited;
  std::set<trace::MmId> spaces;
  for (const auto& [serial, task] : tasks_) {
    alive.insert(task.process);
    inherited.insert(task.inherited);
    inherited.insert(image_of(task.inherited));
    spaces.insert(task.mm);
  }
  // Of each process, the last image that it had then, and those that came later.
  std::map<trace::ProcessId, std::uint64_t> last;
  for (const auto& [serial, image] : images_)
    if (image.time < before_ns) last[image.process] = std::max(last[image.process], image.time);
  std::erase_if(images_, [&](const auto& entry) {
    const auto& [serial, image] = entry;
    if (inherited.count(serial) != 0) return false;
    if (alive.count(image.process) == 0) return image.time < before_ns;
    if (!needed.empty()) return false;  // an exec closed descriptors
    return image.time < last[image.process];
  });
  inherited.insert(guises_in_use.begin(), guises_in_use.end());
  guises_.forget(before_ns, inherited, [this](trace::TaskId task) { return knows(task); });
  for (const auto& [serial, image] : images_) spaces.insert(image.mm);
  std::set<std::uint64_t> cgroups;
  for (const auto& [serial, task] : tasks_) cgroups.insert(as<usc_task>(task.start).cgroup);
  for (const auto& [serial, image] : images_) cgroups.insert(as<usc_exec>(image.exec).cgroup);
  std::erase_if(cgroups_, [&](const auto& entry) { return cgroups.count(entry.first) == 0; });
  std::erase_if(jit_names_, [&](const auto& entry) { return spaces.count(entry.first.first) == 0; });
}

}  // namespace uscope::live
