// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/process/process_list.h"

#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>

#include "support/page_size.h"
#include "support/text.h"
#include "support/unique_fd.h"
#include "uscope/record.h"

namespace uscope::tracer {
namespace {

std::string proc_path(std::uint32_t pid, const std::string& name) {
  return fmt::format("/proc/{}/{}", pid, name);
}

std::vector<std::uint32_t> numbers_in(const std::string& folder) {
  std::vector<std::uint32_t> numbers;
  const std::unique_ptr<DIR, int (*)(DIR*)> handle(opendir(folder.c_str()), closedir);
  if (!handle) return numbers;
  while (const dirent* entry = readdir(handle.get())) {
    const char* name = entry->d_name;
    if (std::isdigit(static_cast<unsigned char>(*name)) != 0)
      numbers.push_back(static_cast<std::uint32_t>(std::strtoul(name, nullptr, 10)));
  }
  return numbers;
}

// Converts a path that /proc shows to uscope into the process's own view: below its own root.
std::string as_inside(std::uint32_t pid, const std::string& path) {
  const std::string root = link_target(proc_path(pid, "root"));
  return root.size() > 1 && path.starts_with(root + "/") ? path.substr(root.size()) : path;
}

// Looks up only in the kernel's cache, since a file system's server could block uscope. Open files are in the cache.
UniqueFd open_cached(int folder, const std::string& path) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_CACHED;
  return UniqueFd(static_cast<int>(syscall(SYS_openat2, folder, path.c_str(), &how, sizeof(how))));
}

bool are_same_file(int one, int other) {
  struct statx a {};
  struct statx b {};
  constexpr int kFlags = AT_EMPTY_PATH | AT_STATX_DONT_SYNC;
  return statx(one, "", kFlags, STATX_INO, &a) == 0 && statx(other, "", kFlags, STATX_INO, &b) == 0 &&
         a.stx_ino == b.stx_ino && a.stx_dev_major == b.stx_dev_major && a.stx_dev_minor == b.stx_dev_minor;
}

// The path behind a link of /proc, in the process's own root. The kernel appends " (deleted)" for a deleted file; but a
// file may have such a name, and then it exists. For memory without a file (memfd), only the kernel's text gives the
// name.
std::string path_behind(std::uint32_t pid, const std::string& link) {
  std::string text = link_target(link);
  if (text.ends_with(kDeleted) && text.starts_with('/')) {
    const UniqueFd open_file(open(link.c_str(), O_PATH | O_CLOEXEC));
    const UniqueFd root(open(proc_path(pid, "root").c_str(), O_PATH | O_CLOEXEC));
    const UniqueFd there = open_cached(AT_FDCWD, text);
    const UniqueFd inside = open_cached(root.get(), text.substr(1));
    const bool real = open_file && ((there && are_same_file(there.get(), open_file.get())) ||
                                    (inside && are_same_file(inside.get(), open_file.get())));
    if (!real) text.resize(text.size() - kDeleted.size());
  }
  return as_inside(pid, text);
}

// A number behind a process's name in /proc/PID/stat: the second field there is the parent. 0: it has ended.
std::uint32_t stat_number(std::uint32_t pid, int field) {
  std::ifstream file(proc_path(pid, "stat"));
  std::string line;
  std::getline(file, line, '\0');
  const std::size_t name_end = line.rfind(')');  // the name may hold anything
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(line.substr(name_end + 1));
  std::string skipped;
  for (int i = 1; i < field; i++) fields >> skipped;
  std::uint32_t number = 0;
  fields >> number;
  return number;
}

// 0: it has ended, or its parent is not in uscope's pid namespace.
std::uint32_t parent_of(std::uint32_t pid) {
  constexpr int kParent = 2;
  return stat_number(pid, kParent);
}

// The address of the path that exec was given, from the auxiliary vector: pairs of words as wide as the program's, the
// first of a type. 0: there is none.
template <typename Word>
std::uint64_t address_of_executed_path(const std::string& vector) {
  struct Entry {
    Word type;
    Word value;
  };
  for (std::size_t at = 0; at + sizeof(Entry) <= vector.size(); at += sizeof(Entry)) {
    Entry entry{};
    std::memcpy(&entry, vector.data() + at, sizeof(entry));
    if (entry.type == AT_NULL) return 0;
    if (entry.type == AT_EXECFN) return entry.value;
  }
  return 0;
}

}  // namespace

std::string link_target(const std::string& link) {
  std::array<char, PATH_MAX> text{};
  const ssize_t bytes = readlink(link.c_str(), text.data(), text.size());
  return bytes <= 0 ? "" : std::string(text.data(), static_cast<std::size_t>(bytes));
}

bool is_kernel_thread(std::uint32_t pid) {
  constexpr int kFlags = 7;
  constexpr std::uint32_t kKernelThread = 0x00200000;  // PF_KTHREAD of linux/sched.h
  return (stat_number(pid, kFlags) & kKernelThread) != 0;
}

std::vector<std::uint32_t> running_processes() {
  return numbers_in("/proc");
}

bool is_own_process(std::uint32_t pid) {
  constexpr int kGenerations = 8;
  for (int i = 0; i < kGenerations && pid > 1; i++) {
    if (pid == static_cast<std::uint32_t>(getpid())) return true;
    pid = parent_of(pid);
  }
  return false;
}

std::uint32_t living_thread_of(std::uint32_t pid) {
  if (!link_target(proc_path(pid, "exe")).empty()) return pid;
  for (const std::uint32_t tid : numbers_in(proc_path(pid, "task")))
    if (!link_target(proc_path(tid, "exe")).empty()) return tid;
  return pid;
}

std::string command_line_of(std::uint32_t pid, std::size_t most) {
  std::ifstream file(proc_path(living_thread_of(pid), "cmdline"), std::ios::binary);
  std::string text(most, '\0');
  file.read(text.data(), static_cast<std::streamsize>(most));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return text;
}

std::string name_of(std::uint32_t pid) {
  // Not by istreambuf_iterator, which throws where the process ends between opening and reading.
  std::ifstream file(proc_path(pid, "comm"), std::ios::binary);
  std::array<char, 64> text{};
  file.read(text.data(), text.size());
  std::string name(text.data(), static_cast<std::size_t>(file.gcount()));
  if (name.ends_with('\n')) name.pop_back();
  return name;
}

std::string executable_of(std::uint32_t pid) {
  const std::uint32_t tid = living_thread_of(pid);
  return path_behind(tid, proc_path(tid, "exe"));
}

// How many bytes of a process's memory can be read without waiting for a file: those of pages that are there and belong
// to no file, which may be one on FUSE.
std::size_t readable_bytes(std::uint32_t tid, std::uint64_t address, std::size_t most) {
  const std::uint64_t page_size = page_bytes();
  constexpr std::uint64_t kPresent = std::uint64_t{1} << 63;
  constexpr std::uint64_t kOfFile = std::uint64_t{1} << 61;
  const UniqueFd pages(open(proc_path(tid, "pagemap").c_str(), O_RDONLY | O_CLOEXEC));
  std::uint64_t end = address;
  while (end < address + most) {
    std::uint64_t page = 0;
    const auto place = static_cast<off_t>(end / page_size * sizeof(page));
    if (pread(pages.get(), &page, sizeof(page), place) != sizeof(page) || (page & kPresent) == 0 ||
        (page & kOfFile) != 0)
      break;
    end = (end / page_size + 1) * page_size;
  }
  return std::min<std::size_t>(end - address, most);
}

std::string executed_path_of(std::uint32_t pid) {
  const std::uint32_t tid = living_thread_of(pid);
  std::ifstream file(proc_path(tid, "auxv"), std::ios::binary);
  constexpr std::size_t kMostBytes = 4096;
  std::string vector(kMostBytes, '\0');
  file.read(vector.data(), kMostBytes);
  vector.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  std::uint64_t address = address_of_executed_path<std::uint64_t>(vector);
  if (address == 0) address = address_of_executed_path<std::uint32_t>(vector);
  if (address == 0) return "";
  const UniqueFd memory(open(proc_path(tid, "mem").c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, USC_PATH_BYTES> text{};
  const std::size_t most = readable_bytes(tid, address, text.size());
  const ssize_t bytes = pread(memory.get(), text.data(), most, static_cast<off_t>(address));
  return bytes <= 0 ? "" : std::string(text.data(), strnlen(text.data(), static_cast<std::size_t>(bytes)));
}

trace::ProcessNames names_of(std::uint32_t pid) {
  trace::ProcessNames names;
  names.executable = base_name(executable_of(pid));
  if (names.executable.empty()) return names;
  const std::string arguments = command_line_of(pid);
  names.comm = name_of(pid);
  names.title = arguments.c_str();
  names.script = trace::script_of(names.executable, arguments);
  names.path = executed_path_of(pid);
  return names;
}

std::string map_files_entry(std::uint32_t pid, std::uint64_t start, std::uint64_t end) {
  return fmt::format("/proc/{}/map_files/{:x}-{:x}", pid, start, end);
}

std::vector<ExecutableMapping> executable_mappings_of(std::uint32_t pid) {
  std::vector<ExecutableMapping> mappings;
  const std::uint32_t tid = living_thread_of(pid);
  std::ifstream file(proc_path(tid, "maps"));
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    ExecutableMapping mapping;
    char dash = 0;
    std::string permissions;
    std::string device;
    std::uint64_t inode = 0;
    words >> std::hex >> mapping.start >> dash >> mapping.end >> permissions >> mapping.offset >> device >> std::dec >>
        inode;
    if (inode == 0 || permissions.size() < 3 || permissions[2] != 'x') continue;
    // The path in this line has newlines as \012, which a name may also contain literally.
    mapping.path = path_behind(tid, map_files_entry(tid, mapping.start, mapping.end));
    mappings.push_back(std::move(mapping));
  }
  return mappings;
}

std::vector<AddressRange> executable_ranges_of(std::uint32_t pid) {
  constexpr std::uint64_t kKernelHalf = std::uint64_t{1} << 63;  // [vsyscall]
  std::vector<AddressRange> ranges;
  std::ifstream file(proc_path(living_thread_of(pid), "maps"));
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    AddressRange range;
    char dash = 0;
    std::string permissions;
    words >> std::hex >> range.start >> dash >> range.end >> permissions;
    if (permissions.size() < 3 || permissions[2] != 'x' || range.start >= kKernelHalf) continue;
    ranges.push_back(range);
  }
  return ranges;
}

}  // namespace uscope::tracer
