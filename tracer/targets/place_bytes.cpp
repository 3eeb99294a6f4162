// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/targets/place_bytes.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include "support/regular_file.h"
#include "support/unique_fd.h"
#include "tracer/process/process_list.h"

namespace uscope::tracer {
namespace {

constexpr std::uint64_t kPageSize = 4096;
constexpr std::size_t kLongestCode = 15;  // of one instruction

using Code = std::array<unsigned char, kLongestCode>;

// The memory of one process, as far as it maps a file as code.
class MappedCode {
 public:
  MappedCode(std::uint32_t pid, const FileIdentity& file) : pid_(pid) {
    const std::uint32_t tid = living_thread_of(pid);
    for (const ExecutableMapping& mapping : executable_mappings_of(pid)) {
      struct stat status {};
      if (stat(map_files_entry(tid, mapping.start, mapping.end).c_str(), &status) == 0 && identity_of(status) == file)
        mappings_.push_back(mapping);
    }
    if (mappings_.empty()) return;
    pages_.reset(::open(fmt::format("/proc/{}/pagemap", tid).c_str(), O_RDONLY | O_CLOEXEC));
    memory_.reset(::open(fmt::format("/proc/{}/mem", tid).c_str(), O_RDONLY | O_CLOEXEC));
  }

  [[nodiscard]] bool is_mapped() const { return !mappings_.empty(); }
  [[nodiscard]] std::uint32_t pid() const { return pid_; }

  // Whether it executes other bytes than the file has at an offset.
  bool differs(const UniqueFd& file, std::uint64_t offset) {
    return std::any_of(mappings_.begin(), mappings_.end(), [&](const ExecutableMapping& mapping) {
      const std::uint64_t size = mapping.end - mapping.start;
      if (offset < mapping.offset || offset - mapping.offset >= size) return false;
      const std::uint64_t at = mapping.start + (offset - mapping.offset);
      const std::size_t count = std::min<std::uint64_t>(kLongestCode, mapping.end - at);
      if (!is_own_page(at) && !is_own_page(at + count - 1)) return false;
      Code here{};
      Code there{};
      const ssize_t got = pread(memory_.get(), here.data(), count, static_cast<off_t>(at));
      const ssize_t wanted = pread(file.get(), there.data(), count, static_cast<off_t>(offset));
      constexpr unsigned char kBreakpoint = 0xcc;
      for (ssize_t i = 0; i < std::min(got, wanted); i++)
        if (const auto place = static_cast<std::size_t>(i); here[place] != there[place] && here[place] != kBreakpoint)
          return true;
      return false;
    });
  }

 private:
  // Whether the process has a copy of the page that is no longer the file's (Documentation/admin-guide/mm/pagemap.rst).
  bool is_own_page(std::uint64_t address) {
    const std::uint64_t number = address / kPageSize;
    if (const auto known = own_.find(number); known != own_.end()) return known->second;
    constexpr std::uint64_t kPresent = std::uint64_t{1} << 63;
    constexpr std::uint64_t kSwapped = std::uint64_t{1} << 62;
    constexpr std::uint64_t kOfFile = std::uint64_t{1} << 61;
    std::uint64_t page = 0;
    const bool read =
        pread(pages_.get(), &page, sizeof(page), static_cast<off_t>(number * sizeof(page))) == sizeof(page);
    return own_[number] = read && (page & (kPresent | kSwapped)) != 0 && (page & kOfFile) == 0;
  }

  std::uint32_t pid_;
  std::vector<ExecutableMapping> mappings_;
  UniqueFd pages_;
  UniqueFd memory_;
  std::map<std::uint64_t, bool> own_;  // by the page's number
};

// One probed file in all the processes.
struct ComparedFile {
  UniqueFd fd;
  std::vector<MappedCode> processes;

  ComparedFile(const std::string& path, const std::vector<std::uint32_t>& pids) {
    auto opened = open_regular(path, "");
    if (!opened) return;
    fd = std::move(*opened);
    struct stat status {};
    if (fstat(fd.get(), &status) != 0) return;
    for (const std::uint32_t pid : pids)
      if (MappedCode code(pid, identity_of(status)); code.is_mapped()) processes.push_back(std::move(code));
  }

  // The process that has other bytes at one of the probe's places; 0: none has.
  std::uint32_t who_differs(const Probe& probe) {
    std::vector<std::uint64_t> places = probe.places;
    places.insert(places.end(), probe.returns.begin(), probe.returns.end());
    for (const ProbeJump& jump : probe.jumps) places.push_back(jump.place);
    for (MappedCode& process : processes)
      if (std::any_of(places.begin(), places.end(), [&](std::uint64_t place) { return process.differs(fd, place); }))
        return process.pid();
    return 0;
  }
};

}  // namespace

void refuse_changed_code(const std::vector<std::uint32_t>& pids, std::vector<TargetAnswer>& answers) {
  if (pids.empty()) return;
  std::map<std::string, ComparedFile> files;
  for (TargetAnswer& answer : answers)
    for (TargetMatch& match : answer.matches) {
      if (!match.why_not.empty() || match.probe.path.empty()) continue;
      ComparedFile& file = files.try_emplace(match.probe.path, match.probe.path, pids).first->second;
      const std::uint32_t pid = file.who_differs(match.probe);
      if (pid == 0) continue;
      match.why_not =
          fmt::format("process {} has changed its code there, so the file does not have what it executes", pid);
      match.can_be_forced = true;
    }
}

}  // namespace uscope::tracer
