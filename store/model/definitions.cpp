// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "store/model/definitions.h"

#include <algorithm>
#include <cstring>

#include "support/text.h"
#include "trace/argument_list.h"

namespace uscope::store {
namespace {

constexpr std::uint32_t kMostFiles = USC_FRAME_FILES - 1;
constexpr std::size_t kMostNamedKinds = 4096;  // the module gives out fewer
constexpr std::size_t kMostThreadNames = std::size_t{1} << 18;
constexpr std::size_t kMostUserChanges = std::size_t{1} << 18;
constexpr std::size_t kMostHandlers = 65536;  // those beyond have no names

}  // namespace

std::pair<std::uint64_t, trace::MmId> handler_key(std::uint64_t frame, trace::MmId mm) {
  return {frame, trace::file_of(frame) == trace::kNoFile ? mm : trace::MmId()};
}

ImageFacts image_facts(const trace::RawRecord& record) {
  const auto exec = record.as<usc_exec>();
  ImageFacts image;
  image.process = trace::ProcessId(exec.process);
  image.task = exec.old_tid != 0 ? trace::TaskId(exec.head.task) : trace::TaskId();
  image.exe_file = trace::FileId(exec.exe_file);
  image.time = exec.head.time;
  image.path = trace_text(record.data<usc_exec>(0, exec.path_bytes));
  image.comm = trace::fixed_text(exec.name, sizeof(exec.name));
  const trace::ExecArguments arguments = trace::exec_arguments(exec, record.data<usc_exec>(0, std::string_view::npos));
  image.arguments = arguments.list;
  image.cut = arguments.is_cut;
  image.arguments_end = arguments.end;
  return image;
}

std::string ImageFacts::argv_json() const {
  return trace::argument_list_json(arguments, cut, arguments_end);
}

trace::ProcessNames ImageFacts::names(std::string_view executable) const {
  trace::ProcessNames names;
  names.executable = base_name(bytes_of(executable));
  names.comm = comm;
  names.title = arguments.substr(0, arguments.find('\0'));
  names.script = trace::script_of(names.executable, arguments);
  names.path = bytes_of(path);
  return names;
}

void Definitions::add(const trace::RawRecord& record) {
  switch (record.head.type) {
    case USC_RECORD_STACK: {
      const auto stack = record.as<usc_stack>();
      trace::frames_of(record, frames_);
      stacks.define(trace::StackId(stack.stack), stack.ended, trace::MmId(stack.mm), frames_);
      break;
    }
    case USC_RECORD_TASK:
      add_task(record.as<usc_task>());
      break;
    case USC_RECORD_EXEC:
      add_exec(record);
      break;
    case USC_RECORD_TASK_EXIT:
      add_exit(record.as<usc_task_exit>());
      break;
    case USC_RECORD_TASK_NAME: {
      const auto name = record.as<usc_task_name>();
      add_name(trace::TaskId(name.head.task), name.head.time, trace::fixed_text(name.name, sizeof(name.name)));
      break;
    }
    case USC_RECORD_TASK_USER: {
      const auto user = record.as<usc_task_user>();
      add_user(trace::TaskId(user.head.task), user.head.time, user.uid);
      break;
    }
    case USC_RECORD_FILE: {
      const auto file = record.as<usc_file>();
      if (file.file > kMostFiles) break;
      FileFacts& facts = files[trace::FileId(file.file)];
      facts.key = file.key;
      if (facts.path.empty()) facts.path = trace_text(trace::file_path_of(record));
      break;
    }
    case USC_RECORD_CGROUP:
      cgroups[record.as<usc_cgroup>().cgroup] = trace_text(trace::cgroup_path_of(record));
      break;
    case USC_RECORD_FILE_INFO:
      add_file_info(record);
      break;
    case USC_RECORD_JIT_NAME:
      add_jit_name(record);
      break;
    case USC_RECORD_LOGGED:
    case USC_RECORD_HIT:
      logged_stacks.add(record);
      break;
    case USC_RECORD_SIGNAL: {
      const auto signal = record.as<usc_signal>();
      if (signal.handler_frame != 0 && handlers.size() < kMostHandlers)
        handlers.insert(handler_key(signal.handler_frame, trace::MmId(signal.mm)));
      break;
    }
    case USC_RECORD_LOG_KIND: {
      const auto kind = record.as<usc_log_kind>();
      if (kind_names.size() < kMostNamedKinds)
        kind_names.try_emplace({trace::source_of(record), kind.kind},
                               trace_text(record.data<usc_log_kind>(0, kind.name_bytes)));
      break;
    }
    case USC_RECORD_KIND: {
      const auto kind = record.as<usc_kind>();
      kinds.add(kind, record.data<usc_kind>(0, kind.text_bytes));
      break;
    }
    case USC_RECORD_KERNEL_PLACE:
      logged_stacks.add_place(record);
      break;
    case USC_RECORD_FD:
      add_descriptor(record);
      break;
    case USC_RECORD_LOSS:
      add_loss(record.as<usc_loss>());
      break;
    case USC_RECORD_META: {
      std::string_view key;
      std::string_view value;
      if (trace::meta_of(record, key, value)) meta[to_utf8(key)] = to_utf8(value);
      break;
    }
    case USC_RECORD_IO_URING:
      add_io_uring(record.as<usc_io_uring>());
      break;
    case USC_RECORD_LOOK:
    case USC_RECORD_THREAD_LOOK:
    case USC_RECORD_WAITED:
    case USC_RECORD_RESOURCE:
    case USC_RECORD_HELD_LOCK:
    case USC_RECORD_MONITOR:
    case USC_RECORD_LOOK_TROUBLE:
      looks.add(record);
      break;
    default:
      break;
  }
}

void Definitions::add_io_uring(const usc_io_uring& user) {
  ProcessFacts& process = processes[trace::ProcessId(user.process)];
  if (!process.may_use_io_uring || user.head.time < process.io_uring_ns) process.io_uring_ns = user.head.time;
  process.may_use_io_uring = true;
  if (user.not_known == 0) process.uses_io_uring = true;
}

void Definitions::add_space(trace::ProcessId process, trace::MmId space, std::uint64_t time) {
  ProcessFacts& facts = processes[process];
  if (time < facts.space_ns) return;
  facts.space = space;
  facts.space_ns = time;
}

void Definitions::add_cgroup(ProcessFacts& process, std::uint64_t cgroup, std::uint64_t time) {
  if (cgroup == 0 || time < process.cgroup_ns) return;
  process.cgroup = cgroup;
  process.cgroup_ns = time;
}

void Definitions::add_task(const usc_task& task) {
  const trace::TaskId serial(task.head.task);
  const trace::ProcessId process_serial(task.process);
  const trace::TaskId parent(task.parent_task);
  task_starts.push_back({task.head.time, serial, process_serial, parent, task.flags});
  ThreadFacts& thread = threads[serial];
  thread.process = process_serial;
  thread.tid = task.tid;
  thread.ns_tid = task.ns_tid;
  thread.defined = true;
  thread.came_ns = task.head.time;
  thread.made_here = (task.flags & (USC_TASK_FORKED | USC_TASK_LAUNCHED | USC_TASK_EXEC_TID)) != 0;
  // The kernel's start time is the thread's; under the leader's tid it is there from the exec on, and the command that
  // uscope has launched from its first exec on: what was before is uscope's own.
  const bool begins_here = (task.flags & (USC_TASK_EXEC_TID | USC_TASK_LAUNCHED)) != 0;
  const std::uint64_t start_ns = begins_here ? task.head.time : task.start_ns;
  thread.start_ns = start_ns;
  add_name(serial, task.head.time, trace::fixed_text(task.name, sizeof(task.name)));
  if (task.flags & USC_TASK_USER) add_user(serial, task.head.time, task.uid);
  ProcessFacts& process = processes[process_serial];
  process.pid = task.pid;
  process.ns_pid = task.ns_pid;
  add_space(process_serial, trace::MmId(task.mm), task.head.time);
  if (task.flags & USC_TASK_EXEC_TID) {
    auto& before = threads[parent];
    if (!before.end_ns) before.end_ns = task.head.time;
    return;
  }
  if (task.flags & USC_TASK_PROCESS) {
    process.started = true;
    add_cgroup(process, task.cgroup, task.head.time);
    process.number_flags |= task.flags & (USC_TASK_EXECUTED | USC_TASK_OWN_TID);
    process.start_ns = start_ns;
    process.parent_task = parent;
    process.parent_pid = parent ? 0 : task.parent_pid;
    process.image = trace::ImageId(task.image);
  } else if (!process.started) {
    process.start_ns = std::min<std::uint64_t>(process.start_ns.value_or(task.start_ns), task.start_ns);
    if (!process.image) process.image = trace::ImageId(task.image);
  }
}

void Definitions::add_exec(const trace::RawRecord& record) {
  const auto exec = record.as<usc_exec>();
  const trace::ProcessId process_serial(exec.process);
  if (!process_serial) return;  // damaged
  images[trace::ImageId(exec.image)] = image_facts(record);
  // Another thread than the first one goes on under the first one's tid, as another task: that has the name.
  if (exec.old_tid == 0 || exec.old_tid == exec.tid)
    add_name(trace::TaskId(exec.head.task), exec.head.time, trace::fixed_text(exec.name, sizeof(exec.name)));
  if (exec.exe_file >= USC_FILE_FIRST && exec.exe_file <= kMostFiles)
    files[trace::FileId(exec.exe_file)].executed = true;
  ProcessFacts& process = processes[process_serial];
  if (exec.old_tid != 0) process.number_flags |= USC_TASK_EXECUTED;
  if (!process.first_exec || exec.head.time < process.first_exec_ns) {
    process.first_exec = trace::ImageId(exec.image);
    process.first_exec_ns = exec.head.time;
  }
  if (process.pid == 0) process.pid = exec.tid;
  add_cgroup(process, exec.cgroup, exec.head.time);
  add_space(process_serial, trace::MmId(exec.mm), exec.head.time);
}

void Definitions::add_exit(const usc_task_exit& exit) {
  const trace::TaskId task(exit.head.task);
  const trace::ProcessId process_serial(exit.process);
  ThreadFacts& thread = threads[task];
  if (!thread.process) thread.process = process_serial;
  task_ends.push_back({exit.head.time, task, (exit.flags & USC_EXIT_LEFT) != 0});
  if ((exit.flags & USC_EXIT_LEFT) != 0) {  // it goes on, untraced
    thread.left_ns = exit.head.time;
    return;
  }
  thread.end_ns = exit.head.time;
  if ((exit.flags & USC_EXIT_GROUP_DEAD) == 0) return;
  ProcessFacts& process = processes[process_serial];
  process.end_ns = exit.head.time;
  process.exit_code = exit.code;
}

// The latest name is the thread's; at one time, the one that came last. Each name holds from its time on. Of more names
// than the bound, only the last ones of the threads are known.
void Definitions::add_name(trace::TaskId task, std::uint64_t time, std::string_view name) {
  ThreadFacts& thread = threads[task];
  const std::string text = trace_text(name);
  if (!thread.name.empty() && thread.name != text && thread_names_ < kMostThreadNames) {
    if (thread.names.empty()) thread.names.emplace(thread.name_time, thread.name);
    thread_names_ += thread.names.insert_or_assign(time, text).second ? 1 : 0;
  } else if (!thread.names.empty() && thread_names_ < kMostThreadNames) {
    thread_names_ += thread.names.insert_or_assign(time, text).second ? 1 : 0;
  }
  if (!thread.name.empty() && time < thread.name_time) return;
  thread.name = text;
  thread.name_time = time;
}

// Each is another one than that before: the kernel side compares them.
void Definitions::add_user(trace::TaskId task, std::uint64_t time, std::uint32_t uid) {
  auto& users = threads[task].users;
  if (!users.empty() && user_changes_ >= kMostUserChanges) return;
  const bool is_change = !users.empty();
  if (users.insert_or_assign(time, uid).second && is_change) user_changes_++;
}

void Definitions::add_file_info(const trace::RawRecord& record) {
  const auto info = record.as<usc_file_info>();
  if (info.file > kMostFiles) return;
  FileFacts& facts = files[trace::FileId(info.file)];
  facts.classes = info.classes;
  trace::FileInfoTail tail = trace::file_info_tail(record);
  facts.segments = std::move(tail.segments);
  facts.build_id = tail.build_id;
  if (!tail.path.empty()) facts.path = trace_text(tail.path);
  facts.described = true;
  facts.rows = info.rows;
  facts.rules = info.rules;
  facts.row_bytes = info.row_bytes;
  facts.state = info.state;
  facts.trouble = trace_text(tail.trouble);
}

// The first name of an address stays: it was taken nearest to the time at which the address was seen.
void Definitions::add_jit_name(const trace::RawRecord& record) {
  const auto jit = record.as<usc_jit_name>();
  const std::string name = trace_text(record.data<usc_jit_name>(0, jit.name_bytes));
  if (name.empty() || jit.address < jit.start || jit.address - jit.start >= jit.size) return;
  jit_names.try_emplace({trace::MmId(jit.mm), jit.address}, JitName{name, jit.start});
}

void Definitions::add_loss(const usc_loss& loss) {
  if (loss.count == 0) return;
  losses.push_back({loss.from_ns, loss.head.time, loss.count, loss.cause, trace::ProcessId(loss.process)});
}

// Descriptors beyond the bound are left out: nothing is known of them.
void Definitions::add_descriptor(const trace::RawRecord& record) {
  constexpr std::size_t kMostBytes = std::size_t{16} << 20;
  const auto fd = record.as<usc_fd>();
  descriptor_bytes_ += sizeof(DescriptorFacts) + fd.target_bytes;
  const trace::ProcessId process(fd.process);
  if (!process || descriptor_bytes_ > kMostBytes) return;
  DescriptorFacts facts{process, fd.head.time, fd.fd, fd.flags, "", {}};
  const bool has_file = (fd.flags & USC_FD_FILE) != 0;
  if (has_file)
    std::memcpy(static_cast<void*>(&facts.file), record.data<usc_fd>(0, sizeof(usc_fd_file)).data(),
                sizeof(usc_fd_file));
  facts.target = trace_text(record.data<usc_fd>(has_file ? sizeof(usc_fd_file) : 0, fd.target_bytes));
  descriptors.push_back(std::move(facts));
}

void Definitions::finish() {
  logged_stacks.finish(stacks);
  for (const auto& [serial, thread] : threads)
    if (thread.process) processes[thread.process];
  for (const auto& [serial, image] : images) processes[image.process];
  processes.erase(trace::ProcessId());
  threads.erase(trace::TaskId());
  images.erase(trace::ImageId());
  for (const auto& [serial, process] : processes)
    if (process.pid != 0) by_pid_.emplace(process.pid, serial);
}

const FileFacts& Definitions::file(trace::FileId serial) const {
  const auto at = files.find(serial);
  return at == files.end() ? unknown_ : at->second;
}

trace::ProcessId Definitions::process_of_task(trace::TaskId task) const {
  const auto at = threads.find(task);
  return at == threads.end() ? trace::ProcessId() : at->second.process;
}

trace::ProcessId Definitions::parent_of(const ProcessFacts& process) const {
  if (process.parent_task) return process_of_task(process.parent_task);
  if (process.parent_pid == 0) return {};
  // The youngest of its pid that is older than the child: pids are given out again.
  trace::ProcessId found;
  std::uint64_t found_start = 0;
  const auto [first, last] = by_pid_.equal_range(process.parent_pid);
  for (auto at = first; at != last; ++at) {
    const ProcessFacts& candidate = processes.at(at->second);
    const std::uint64_t start = candidate.start_ns.value_or(0);
    if (&candidate == &process || start > process.start_ns.value_or(0) || (found && start < found_start)) continue;
    // Ended before there was a child to make.
    if (candidate.end_ns && *candidate.end_ns < process.start_ns.value_or(0)) continue;
    found = at->second;
    found_start = start;
  }
  return found;
}

}  // namespace uscope::store
