// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/process/arrivals.h"

#include <algorithm>
#include <cstring>

#include "support/clock.h"
#include "trace/argument_list.h"

namespace uscope::tracer {
namespace {

// The image of a process that ran before, with path and arguments; too long ones are cut, as the kernel side cuts them.
// If the process has gone, has become something else by now, or does not answer, its name is all there is.
trace::RecordBuilder<usc_exec> completed(const usc_exec& exec, const ProcessPortrait& portrait, std::size_t most) {
  const std::string name(exec.name, strnlen(exec.name, sizeof(exec.name)));
  const bool is_same = !portrait.path.empty() && portrait.name == name;
  std::string path = is_same ? portrait.path : name;
  std::string arguments = is_same ? portrait.arguments : "";
  usc_exec whole{};
  std::memcpy(static_cast<void*>(&whole), &exec, sizeof(whole));
  path.resize(std::min<std::size_t>(path.size(), USC_PATH_BYTES));
  whole.path_bytes = static_cast<__u32>(path.size());
  whole.argv_total = static_cast<__u32>(arguments.size());
  std::string_view end;
  if (arguments.size() > most) end = std::string_view(arguments).substr(arguments.size() - USC_ARGV_END_BYTES);
  const std::size_t kept = end.empty() ? arguments.size() : most - USC_ARGV_END_BYTES;
  whole.argv_bytes = static_cast<__u32>(kept);
  std::string tail = path + arguments.substr(0, kept);
  if (const std::size_t whole_ones = end.find('\0'); whole_ones != std::string_view::npos)
    trace::add_argument_end(tail, end.substr(whole_ones + 1));
  return std::move(trace::RecordBuilder<usc_exec>(whole).add(tail));
}

}  // namespace

void Arrivals::set_command(std::uint32_t pid) {
  if (strings_.takes_strings()) of_command_ = portraits_.descriptors_of(pid);
}

Result<void> Arrivals::start(const usc_task& task) {
  if ((task.flags & USC_TASK_LAUNCHED) != 0)
    return write_descriptors(trace::ProcessId(task.process), task.head.time, task.head.time,
                             std::exchange(of_command_, {}));
  if ((task.flags & (USC_TASK_FORKED | USC_TASK_PROCESS)) == USC_TASK_PROCESS)
    unread_.insert(trace::ProcessId(task.process));
  return {};
}

Result<void> Arrivals::write_image(const usc_exec& exec, std::uint32_t pid, const ImageWritten& written) {
  const bool unread = unread_.erase(trace::ProcessId(exec.process)) != 0 && strings_.takes_strings();
  if (exec.old_tid == 0) return complete_image(exec, pid, unread, written);
  if (unread) {
    const std::uint64_t from = monotonic_ns();
    const std::vector<OpenDescriptor> descriptors = portraits_.descriptors_of(pid);
    if (auto done = write_descriptors(trace::ProcessId(exec.process), from, monotonic_ns(), descriptors); !done)
      return done;
  }
  return write(strings_.filter(exec.head), written);
}

Result<void> Arrivals::write(const usc_record& image, const ImageWritten& written) {
  written(reinterpret_cast<const usc_exec&>(image));
  return sink_.append(image);
}

Result<void> Arrivals::complete_image(const usc_exec& exec, std::uint32_t pid, bool with_descriptors,
                                      const ImageWritten& written) {
  const auto answer = portraits_.portrait_of(pid, with_descriptors);
  if (!answer || answer->has_io_uring) {
    usc_io_uring user{};
    user.head.task = exec.head.task;
    user.head.time = monotonic_ns();
    user.process = exec.process;
    user.not_known = answer ? 0 : 1;
    if (auto done = sink_.append_own(user); !done) return done;
  }
  const ProcessPortrait portrait = answer.value_or(ProcessPortrait());
  auto done =
      write_descriptors(trace::ProcessId(exec.process), portrait.descriptors_ns, monotonic_ns(), portrait.descriptors);
  if (!done) return done;
  adopted_.push_back(pid);
  return write(strings_.filter(completed(exec, portrait, argument_bytes_).head()), written);
}

Result<void> Arrivals::write_descriptors(trace::ProcessId process, std::uint64_t from_ns, std::uint64_t until_ns,
                                         const std::vector<OpenDescriptor>& descriptors) {
  for (const OpenDescriptor& descriptor : descriptors) {
    const std::string target = strings_.filter_text(descriptor.target);
    usc_fd fd{};
    fd.head.time = from_ns;
    fd.process = process.value();
    fd.fd = descriptor.fd;
    fd.flags = descriptor.flags;
    fd.target_bytes = static_cast<__u16>(target.size());
    const usc_fd_file file{descriptor.file.dev, descriptor.file.ino, descriptor.file.space, 0};
    std::string tail;
    if (file.space != 0 && target == descriptor.target) {
      fd.flags |= USC_FD_FILE;
      tail.assign(reinterpret_cast<const char*>(&file), sizeof(file));
    }
    if (auto done = sink_.append_own(fd, tail + target); !done) return done;
  }
  if (descriptors.empty()) return {};
  usc_fd end{};
  end.head.time = until_ns;
  end.process = process.value();
  end.fd = USC_FD_END;
  return sink_.append_own(end);
}

}  // namespace uscope::tracer
