// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/process/outsiders.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <linux/kcmp.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "tracer/process/process_list.h"
#include "tracer/process/shared_mappings.h"

namespace uscope::tracer {
namespace {

constexpr std::string_view kRing = "anon_inode:[io_uring]";

std::string proc_folder(std::uint32_t pid) {
  return fmt::format("/proc/{}/", pid);
}

// The start of a process's stack, which is chosen anew at each exec and then stays: equal in all processes that share
// an address space, and in forked ones. Empty if the process has ended.
std::string stack_start_of(std::uint32_t pid) {
  constexpr int kBehindName = 25;  // fields between the name and startstack
  std::ifstream file(proc_folder(pid) + "stat");
  std::string line;
  std::getline(file, line);
  std::size_t at = line.rfind(')');
  for (int i = 0; i <= kBehindName && at != std::string::npos; i++) at = line.find(' ', at + 1);
  if (at == std::string::npos) return "";
  return line.substr(at + 1, line.find(' ', at + 1) - at - 1);
}

// True if it cannot be determined. Waits for an exec of either process that is in progress.
bool have_one_space(std::uint32_t a, std::uint32_t b) {
  const long order = syscall(SYS_kcmp, a, b, KCMP_VM, 0, 0);
  return order == 0 || (order < 0 && errno != ESRCH);
}

// Calls `stop` with the target of each descriptor of a process, as in /proc, until it returns true.
template <typename Stop>
bool any_descriptor(std::uint32_t pid, Stop stop) {
  const std::string folder = proc_folder(pid) + "fd";
  const std::unique_ptr<DIR, int (*)(DIR*)> list(opendir(folder.c_str()), closedir);
  if (!list) return false;
  while (const dirent* entry = readdir(list.get())) {
    const std::string link = folder + "/" + entry->d_name;
    const std::string target = link_target(link);
    if (!target.empty() && stop(link, std::string_view(target))) return true;
  }
  return false;
}

// Does not query a file system that may not answer.
std::optional<struct statx> facts_of(const std::string& path) {
  struct statx facts {};
  if (statx(AT_FDCWD, path.c_str(), AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_NLINK | STATX_INO, &facts) != 0)
    return std::nullopt;
  return facts;
}

using FileNumbers = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>;  // device, inode

FileNumbers numbers_of(const struct statx& facts) {
  return {facts.stx_dev_major, facts.stx_dev_minor, facts.stx_ino};
}

// Returns the numbers of the mapping's file if it has no name any more but others may still hold it; else the answer.
std::variant<bool, FileNumbers> look_at_file(const MappedFile& file, const AskedAround& around) {
  if (!file.name.ends_with(kDeleted) || file.name.starts_with("/SYSV") || around.silent.count(file.pid) != 0)
    return true;
  around.asks(file.pid);
  const auto facts = facts_of(file.link);
  if (!facts || facts->stx_nlink != 0) return true;
  if (file.name == "/dev/zero (deleted)") return false;  // memory mapped without a file: no process has a descriptor
  return numbers_of(*facts);
}

// Removes from the set the files that a process holds. Calls `asks` again and again: there may be many.
void take_held(std::uint32_t pid, std::set<FileNumbers>& files, const AskedAround& around) {
  constexpr std::size_t kAtOnce = 256;
  std::size_t count = 0;
  any_descriptor(living_thread_of(pid), [&](const std::string& descriptor, std::string_view target) {
    if (++count % kAtOnce == 0) around.asks(pid);
    if (!target.ends_with(kDeleted)) return false;
    if (const auto held = facts_of(descriptor)) files.erase(numbers_of(*held));
    return files.empty();
  });
}

bool has_kernel_worker(std::uint32_t pid) {
  const std::string folder = proc_folder(pid) + "task";
  const std::unique_ptr<DIR, int (*)(DIR*)> list(opendir(folder.c_str()), closedir);
  if (!list) return false;
  while (const dirent* entry = readdir(list.get())) {
    std::ifstream file(folder + "/" + entry->d_name + "/comm");
    std::string name;
    if (std::getline(file, name) && (name.starts_with("iou-wrk-") || name.starts_with("iou-sqp-"))) return true;
  }
  return false;
}

}  // namespace

void SpaceSharers::find_processes() {
  by_stack_.emplace();
  for (const std::uint32_t pid : running_processes()) {
    if (around_.known.count(pid) != 0) continue;
    around_.asks(pid);  // even for processes that are left alone otherwise: every process answers this much
    const std::uint32_t thread = living_thread_of(pid);
    if (const std::string stack = stack_start_of(thread); !stack.empty()) (*by_stack_)[stack].push_back({pid, thread});
  }
}

std::uint32_t SpaceSharers::count(std::uint32_t pid) {
  if (!by_stack_) find_processes();
  around_.asks(pid);
  const std::uint32_t own = living_thread_of(pid);
  const auto alike = by_stack_->find(stack_start_of(own));
  if (alike == by_stack_->end()) return 0;
  if (around_.silent.count(pid) != 0) return static_cast<std::uint32_t>(alike->second.size());
  (void)have_one_space(own, own);  // if this blocks, the process itself is the cause, and none of the others
  std::uint32_t count = 0;
  for (const Process& other : alike->second) {
    const bool answers = around_.silent.count(other.pid) == 0;
    if (answers) around_.asks(other.pid);
    if (!answers || have_one_space(own, other.thread)) count++;
  }
  return count;
}

std::vector<bool> are_open_to_others(const std::vector<MappedFile>& files, const AskedAround& around) {
  std::vector<std::variant<bool, FileNumbers>> seen;
  std::set<FileNumbers> unheld;
  for (const MappedFile& file : files) {
    seen.push_back(look_at_file(file, around));
    if (const auto* numbers = std::get_if<FileNumbers>(&seen.back())) unheld.insert(*numbers);
  }
  if (!unheld.empty())
    for (const std::uint32_t pid : running_processes()) {
      if (unheld.empty()) break;
      if (around.known.count(pid) != 0) continue;
      if (around.silent.count(pid) != 0) {
        unheld.clear();  // the process may hold each of them
        break;
      }
      around.asks(pid);
      take_held(pid, unheld, around);
    }
  std::vector<bool> open;
  for (const auto& file : seen) {
    const auto* numbers = std::get_if<FileNumbers>(&file);
    open.push_back(numbers != nullptr ? unheld.count(*numbers) == 0 : std::get<bool>(file));
  }
  return open;
}

bool has_io_uring(std::uint32_t pid) {
  const std::uint32_t thread = living_thread_of(pid);
  if (any_descriptor(thread, [](const std::string&, std::string_view target) { return target == kRing; })) return true;
  if (has_kernel_worker(pid)) return true;
  // A ring exists as long as it is mapped, even if its descriptor is closed.
  const auto mappings = shared_mappings_of(pid);
  return mappings && std::any_of(mappings->begin(), mappings->end(),
                                 [](const SharedMapping& mapping) { return mapping.name == kRing; });
}

}  // namespace uscope::tracer
