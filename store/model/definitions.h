// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a raw trace defines, gathered in the loader's first pass: who is who. Records may come in any order; nothing
// here asks that a definition precede its use. Memory grows with what is defined, not with the events.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "store/model/logged_stacks.h"
#include "store/model/looks.h"
#include "store/model/stack_table.h"
#include "trace/hit.h"
#include "trace/ids.h"
#include "trace/process_names.h"
#include "trace/raw_record.h"

namespace uscope::store {

struct ProcessFacts {
  std::uint32_t pid = 0;
  std::uint32_t ns_pid = 0;
  trace::TaskId parent_task;
  std::uint32_t parent_pid = 0;  // where the task is not known
  trace::ImageId image;          // inherited
  trace::ImageId first_exec;     // the image of its first exec in the trace
  std::uint64_t first_exec_ns = 0;
  std::optional<std::uint64_t> start_ns;
  std::optional<std::uint64_t> end_ns;
  std::uint32_t exit_code = 0;     // as wait(2) has it; where end_ns is set
  bool started = false;            // its first thread's start is in the trace
  std::uint32_t number_flags = 0;  // USC_TASK_EXECUTED, USC_TASK_OWN_TID, of the first thread's start and of execs
  bool uses_io_uring = false;
  bool may_use_io_uring = false;  // it does, or nothing tells
  std::uint64_t io_uring_ns = 0;  // since when that is known
  trace::MmId space;              // its address space, the last one that is recorded
  std::uint64_t space_ns = 0;     // when that was
  std::uint64_t cgroup = 0;       // its control group when it began, or at its last exec; 0: not known
  std::uint64_t cgroup_ns = 0;    // when that was
};

struct ThreadFacts {
  trace::ProcessId process;
  std::uint32_t tid = 0;
  std::uint32_t ns_tid = 0;
  std::string name;  // the last one
  std::uint64_t name_time = 0;
  std::map<std::uint64_t, std::string> names;  // by the time since which it had them; of one name none. See add_name()
  std::map<std::uint64_t, std::uint32_t> users;  // by the time since which it had them; the first one as it came
  std::optional<std::uint64_t> start_ns;
  std::optional<std::uint64_t> end_ns;
  bool defined = false;                  // its usc_task is in the trace
  std::optional<std::uint64_t> came_ns;  // when it came into the trace
  std::optional<std::uint64_t> left_ns;  // when it left the trace, and went on
  bool made_here = false;                // it began while tracing; otherwise it ran before it came into the trace
};

struct ImageFacts {
  trace::ProcessId process;
  trace::TaskId task;  // that called exec, 0 = it was running when tracing began
  trace::FileId exe_file;
  std::uint64_t time = 0;
  std::string path;           // trace's text
  std::string comm;           // of its first thread, then
  std::string arguments;      // NUL-separated, as the kernel side read them
  bool cut = false;           // there were more
  std::string arguments_end;  // the last ones of a list that is cut

  // The arguments as a JSON array of texts. Where arguments of a list that was cut are missing stands null; an
  // argument before that which is cut ends with "…".
  [[nodiscard]] std::string argv_json() const;
  // How a process with this image is called; `executable`: the path of its file, a trace's text.
  [[nodiscard]] trace::ProcessNames names(std::string_view executable) const;
};

struct FileFacts {
  std::string path;
  std::string build_id;  // raw bytes
  std::optional<usc_file_key> key;
  std::uint32_t classes = 0;
  std::vector<usc_segment> segments;
  bool executed = false;   // as an image
  bool described = false;  // its usc_file_info is in the trace; what follows is from there
  std::uint32_t rows = 0;
  std::uint32_t rules = 0;
  std::uint32_t row_bytes = 0;
  std::uint8_t state = USC_FILE_PENDING;
  std::string trouble;  // why there are no rows
};

// What a perf map said of an address without a file.
struct JitName {
  std::string name;
  std::uint64_t start = 0;
};

// What /proc said of a descriptor when its process came into the trace.
struct DescriptorFacts {
  trace::ProcessId process;
  std::uint64_t time = 0;
  int fd = 0;  // USC_FD_CWD: the working directory; USC_FD_END: the list of the process is complete
  std::uint32_t flags = 0;
  std::string target;
  usc_fd_file file{};  // space 0: not known
};

// A task comes into the trace, and leaves it: each time.
struct TaskStart {
  std::uint64_t time = 0;
  trace::TaskId task;
  trace::ProcessId process;
  trace::TaskId parent_task;
  std::uint32_t flags = 0;  // USC_TASK_*
};

struct TaskEnd {
  std::uint64_t time = 0;
  trace::TaskId task;
  bool goes_on = false;  // untraced
};

struct LossFacts {
  std::uint64_t from_ns = 0;
  std::uint64_t until_ns = 0;
  std::uint64_t count = 0;
  std::uint32_t cause = 0;
  trace::ProcessId process;
};

// What a usc_exec says of an image.
[[nodiscard]] ImageFacts image_facts(const trace::RawRecord& record);

// How a handler of signals is known: in files by its frame alone.
[[nodiscard]] std::pair<std::uint64_t, trace::MmId> handler_key(std::uint64_t frame, trace::MmId mm);

class Definitions {
 public:
  // Takes what a record defines; of events hits and what was logged, for their kernel frames, and signals, for their
  // handlers.
  void add(const trace::RawRecord& record);

  // Once all records have been added.
  void finish();

  // The file's, empty ones for a file that the trace does not describe.
  [[nodiscard]] const FileFacts& file(trace::FileId serial) const;

  // The process that the task belongs to; none if the trace has no such task.
  [[nodiscard]] trace::ProcessId process_of_task(trace::TaskId task) const;
  // The process that made this one, if it is in the trace. After finish().
  [[nodiscard]] trace::ProcessId parent_of(const ProcessFacts& process) const;

  std::map<trace::ProcessId, ProcessFacts> processes;
  std::map<trace::TaskId, ThreadFacts> threads;
  std::map<trace::ImageId, ImageFacts> images;
  std::map<trace::FileId, FileFacts> files;
  std::map<std::uint64_t, std::string> cgroups;  // paths, traces' texts, by number
  std::map<std::string, std::string> meta;
  std::vector<LossFacts> losses;
  bool records_missing = false;  // though no loss says so: set by the loader
  std::vector<DescriptorFacts> descriptors;
  std::vector<TaskStart> task_starts;
  std::vector<TaskEnd> task_ends;
  // By address space and by the address of an instruction: a return address less 1.
  std::map<std::pair<trace::MmId, std::uint64_t>, JitName> jit_names;
  // The handlers of signals: the frame of each and, if it has no file, the address space.
  std::set<std::pair<std::uint64_t, trace::MmId>> handlers;
  StackTable stacks;
  LoggedStacks logged_stacks;
  Looks looks;
  std::map<std::pair<std::uint8_t, std::uint32_t>, std::string> kind_names;  // of usc_log_kind, by source and kind
  trace::KindTable kinds;                                                    // of usc_kind

 private:
  void add_task(const usc_task& task);
  void add_exec(const trace::RawRecord& record);
  void add_io_uring(const usc_io_uring& user);
  void add_space(trace::ProcessId process, trace::MmId space, std::uint64_t time);
  static void add_cgroup(ProcessFacts& process, std::uint64_t cgroup, std::uint64_t time);
  void add_exit(const usc_task_exit& exit);
  void add_name(trace::TaskId task, std::uint64_t time, std::string_view name);
  void add_user(trace::TaskId task, std::uint64_t time, std::uint32_t uid);
  void add_file_info(const trace::RawRecord& record);
  void add_jit_name(const trace::RawRecord& record);
  void add_loss(const usc_loss& loss);
  void add_descriptor(const trace::RawRecord& record);

  std::vector<std::uint64_t> frames_;
  std::size_t thread_names_ = 0;  // beyond the first one of each thread
  std::size_t user_changes_ = 0;
  FileFacts unknown_;
  std::size_t descriptor_bytes_ = 0;
  std::multimap<std::uint32_t, trace::ProcessId> by_pid_;
};

}  // namespace uscope::store
