// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/collect/code_watch.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "support/clock.h"
#include "support/regular_file.h"
#include "tracer/process/process_list.h"

namespace uscope::tracer {
namespace {

constexpr std::uint64_t kShortestRestNs = kSecondNs;
constexpr std::uint64_t kRestTimes = 100;  // as long as a look takes

std::string_view deed_of(CodeFinding::What what) {
  if (what == CodeFinding::What::kChanged) return "has changed code in its memory";
  if (what == CodeFinding::What::kCopyChanged) return "has changed a copy, which it does not execute, of code";
  return "has made memory writable with code";
}

}  // namespace

void CodeWatch::work(std::uint64_t now_ns, const Tell& tell) {
  if (!look_ && now_ns >= next_ns_) begin(now_ns);
  if (look_ && look_->go_on()) end(now_ns, tell);
}

void CodeWatch::begin(std::uint64_t now_ns) {
  std::map<CodeKey, CodeFile> code;
  for (ProbedFile& file : backend_.probed_files()) {
    struct stat status {};
    if (file.unforced.empty() || stat_without_server(file.fd, status) != 0) continue;
    const FileIdentity id = identity_of(status);
    const CodeKey key{file.path, id.device, id.inode};
    const auto known = code_.find(key);
    code.emplace(
        key, known != code_.end() ? std::move(known->second) : read_code(file.fd, status, std::move(file.unforced)));
  }
  code_ = std::move(code);
  next_ns_ = now_ns + kShortestRestNs;
  if (code_.empty()) return;
  std::vector<CodeFile> files;
  paths_.clear();
  for (const auto& [key, one] : code_) {
    paths_.push_back(std::get<std::string>(key));
    files.push_back(one);
  }
  look_.emplace(scouts_, std::move(files), running_processes(), true);
}

void CodeWatch::end(std::uint64_t now_ns, const Tell& tell) {
  const std::vector<CodeFinding> findings = look_->take();
  next_ns_ = now_ns + std::max(kShortestRestNs, kRestTimes * look_->took_ns());
  look_.reset();
  std::set<std::string> removed;
  std::set<std::pair<std::uint32_t, std::string>> unprobed;
  for (const CodeFinding& finding : findings) {
    const std::string& path = paths_[finding.file];
    if (finding.what == CodeFinding::What::kUnprobed) {
      // A mapping that is just being made has its breakpoints at the next look.
      if (unprobed.emplace(finding.pid, path).second && unprobed_.count({finding.pid, path}) != 0)
        count_unprobed(finding, now_ns, tell);
    } else if (removed.insert(path).second) {
      remove_probes(finding, now_ns, tell);
    }
  }
  unprobed_ = std::move(unprobed);
}

void CodeWatch::remove_probes(const CodeFinding& finding, std::uint64_t now_ns, const Tell& tell) {
  const std::string& path = paths_[finding.file];
  if (!backend_.remove_file_probes(path)) return;
  tell({},
       {USC_LOSS_PROBE_REMOVED, now_ns, 1,
        fmt::format("process {} ({}) {} that has probes in {}: the file's probes were removed, and what is called in "
                    "it is not recorded from then on",
                    finding.pid, name_of(finding.pid), deed_of(finding.what), path),
        path});
}

void CodeWatch::count_unprobed(const CodeFinding& finding, std::uint64_t now_ns, const Tell& tell) {
  const std::string& path = paths_[finding.file];
  const trace::ProcessId process = tasks_.process_of(finding.pid);
  if (process == trace::ProcessId() || !counted_.emplace(process, path).second) return;
  tell(process, {USC_LOSS_PROBE_NOT_THERE, now_ns, 1,
                 fmt::format("process {} ({}) has lost a probe in {}, as a debugger takes it along with its own "
                             "breakpoint: what it calls there is not recorded",
                             finding.pid, name_of(finding.pid), path),
                 ""});
}

}  // namespace uscope::tracer
