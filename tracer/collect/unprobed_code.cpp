// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/collect/unprobed_code.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "support/clock.h"
#include "tracer/files/file_identity.h"
#include "tracer/process/process_list.h"

namespace uscope::tracer {
namespace {

constexpr std::uint64_t kUnknownNs = 1'000'000'000;     // how long a mapping waits for the record of its file
constexpr std::uint64_t kLongestEndNs = 3'000'000'000;  // for files that are read when tracing ends
constexpr std::uint64_t kPathRestNs = 100'000'000;      // between two looks at paths
constexpr std::size_t kMostCompared = 64;               // places by which a copy is known

// Whether a file has the code of a probed one, where that has probes.
bool has_same_code(int fd, const ProbedFile& probed) {
  std::array<char, 64> here{};
  std::array<char, 64> there{};
  const std::size_t count = std::min(probed.places.size(), kMostCompared);
  for (std::size_t i = 0; i < count; i++) {
    const auto place = static_cast<off_t>(probed.places[i]);
    const ssize_t got = pread(fd, here.data(), here.size(), place);
    if (got <= 0 || pread(probed.fd, there.data(), there.size(), place) != got || here != there) return false;
  }
  return count != 0;
}

}  // namespace

UnprobedCode::UnprobedCode(Backend& backend, FileTable& files, const TaskTable& tasks, FileTargets* targets,
                           Scouts* scouts)
    : backend_(backend), files_(files), tasks_(tasks), targets_(targets), scouts_(scouts), paths_(scouts) {
  for (ProbedFile& file : backend.probed_files()) {
    // Without a key it is known by its path alone: as if it had been replaced.
    const auto key = key_of(backend, file.fd);
    ask_for(file.path);
    probed_.push_back(
        {path_in_its_root(file.path), key.value_or(usc_file_key{}), std::move(file.places), key.has_value()});
  }
  if (targets == nullptr) return;
  for (const std::string& path : targets->paths()) ask_for(path);
}

void UnprobedCode::ask_for(const std::string& path) {
  for (std::size_t i = 0; i < paths_.count(); i++)
    if (paths_.path(i) == path) return;
  paths_.add(path);
  asked_.emplace_back();
}

template <typename Record>
void UnprobedCode::add(const Record& map, bool blind) {
  if (probed_.empty() || map.file < USC_FILE_FIRST) return;
  waiting_.push_back(
      {trace::TaskId(map.head.task), trace::FileId(map.file), map.offset, map.end - map.start, map.head.time, blind});
}

void UnprobedCode::add(const usc_map& map) {
  add(map, false);
}

void UnprobedCode::add(const usc_blind_map& map) {
  add(map, true);
}

const UnprobedCode::Judged& UnprobedCode::role_of(trace::FileId serial, const File& file) {
  const auto [at, is_new] = roles_.try_emplace(serial);
  Judged& judged = at->second;
  if (!is_new) return judged;
  for (std::size_t i = 0; i < probed_.size(); i++) {
    const Probed& one = probed_[i];
    if (one.active && is_same_inode(one.key, file.key)) return judged = {Role::kProbed, i};
    if (!one.active && is_same_inode(one.key, file.key)) {
      if (one.for_good) return judged = {Role::kGivenUp};
      judged.until_ns = one.until_ns;
    }
    if (one.path == file.path) judged.role = Role::kReplaced;
  }
  if (judged.role != Role::kNone) return judged;
  if (file.memory) judged = memory_role(file);
  if (judged.role == Role::kNone && targets_ != nullptr && targets_->means(file.path)) judged.role = Role::kMeant;
  return judged;
}

UnprobedCode::Judged UnprobedCode::memory_role(const File& file) {
  const FileContent content = files_.open_content(file);
  if (!content.fd) return {file.state == USC_FILE_UNREACHABLE ? Role::kUnread : Role::kNone};
  for (const ProbedFile& probed : backend_.probed_files())
    if (has_same_code(content.fd.get(), probed))
      for (std::size_t i = 0; i < probed_.size(); i++)
        if (probed_[i].active && probed_[i].path == path_in_its_root(probed.path)) return {Role::kCopy, i};
  return {};
}

void UnprobedCode::count(trace::ProcessId process, trace::FileId file, std::uint64_t from_ns, std::string what,
                         const Tell& tell) {
  if (counted_.emplace(process, file).second)
    tell(process, {USC_LOSS_PROBE_NOT_THERE, from_ns, 1, std::move(what), ""});
}

// `deed`: what the process did with the mapping.
void UnprobedCode::count(const Mapping& mapping, const std::string& deed, const Tell& tell) {
  const TaskInfo& task = tasks_.find(mapping.task);
  count(task.process, mapping.file, mapping.time, fmt::format("process {} ({}) {}", task.pid, task.name, deed), tell);
}

void UnprobedCode::judge(const Mapping& mapping, const File& file, const Tell& tell) {
  const Judged& judged = role_of(mapping.file, file);
  if (judged.role == Role::kNone && !file.memory) unsure_.push_back(mapping);
  if (judged.role == Role::kNone || judged.role == Role::kGivenUp || mapping.time < judged.until_ns) return;
  if (judged.role == Role::kReplaced || judged.role == Role::kMeant) return meet(mapping, file, judged);
  if (judged.role != Role::kProbed) return judge_memory(mapping, file, judged, tell);
  const Probed& probed = probed_[judged.probed];
  if (mapping.time < probed.since_ns) count(tasks_.find(mapping.task).process, mapping.file, mapping.time, "", tell);
  if (mapping.blind && mapping.holds_one_of(probed.places))
    count(mapping,
          fmt::format("executes a mapping of {} that is shared, or was writable when it was made, in which the kernel "
                      "puts no probes: what it calls there is not recorded",
                      file.path),
          tell);
}

void UnprobedCode::judge_memory(const Mapping& mapping, const File& file, const Judged& judged, const Tell& tell) {
  const auto has_place = [&](const Probed& probed) { return probed.active && mapping.holds_one_of(probed.places); };
  if (judged.role == Role::kCopy && has_place(probed_[judged.probed]))
    count(mapping,
          fmt::format("executes a copy of {} in memory ({}), which has no probes: what it calls there is not recorded",
                      probed_[judged.probed].path, file.path),
          tell);
  if (judged.role == Role::kUnread && std::any_of(probed_.begin(), probed_.end(), has_place))
    count(mapping,
          fmt::format("executed a file in memory ({}), which was gone before it could be read: if it was a copy of a "
                      "file with probes, what was called in it is not recorded",
                      file.path),
          tell);
}

// Judges what was mapped before a look at the paths by where they led.
void UnprobedCode::judge_by_paths(const Tell& tell) {
  for (const Mapping& mapping : std::exchange(unsure_, {})) {
    const File* file = files_.find(mapping.file);
    if (file == nullptr) continue;
    if (mapping.time > path_look_ns_) {
      unsure_.push_back(mapping);
      continue;
    }
    Judged& judged = roles_[mapping.file];
    for (std::size_t i = 0; judged.role == Role::kNone && i < asked_.size(); i++)
      if (asked_[i].key && is_same_inode(*asked_[i].key, file->key)) judged = {Role::kReplaced, 0, i};
    if (judged.role != Role::kNone) judge(mapping, *file, tell);
  }
}

void UnprobedCode::look_at_paths(std::uint64_t now_ns, const Tell& tell) {
  if (!looks_at_paths_) {
    const bool rests = closed_ns_ == 0 && now_ns < path_look_ns_ + kPathRestNs;
    if (unsure_.empty() || rests) return;
    looks_at_paths_ = true;
    path_look_ns_ = monotonic_ns();
  }
  if (!paths_.go_on()) return;
  looks_at_paths_ = false;
  for (PathLook::News& news : paths_.take()) {
    Asked& asked = asked_[news.path];
    asked.key = news.fd ? key_of(backend_, news.fd.get()) : std::nullopt;
  }
  judge_by_paths(tell);
}

void UnprobedCode::meet(const Mapping& mapping, const File& file, const Judged& judged) {
  const auto [at, is_new] = met_.try_emplace(mapping.file);
  Met& met = at->second;
  if (is_new) {
    met.role = judged.role;
    met.path = judged.asked ? paths_.path(*judged.asked) : file.path;
    queue_.push_back(mapping.file);
  }
  // What has nothing that a target means has nothing that could be missing, unless it took the place of what had.
  const bool is_over =
      met.reading == Reading::kProbed || (met.reading == Reading::kEmpty && judged.role == Role::kMeant);
  if (!is_over) met.processes.emplace_back(tasks_.find(mapping.task).process, mapping.time);
}

// No more than one file is read at a time. One that cannot be read has no probes.
Result<void> UnprobedCode::read_next() {
  while (targets_ != nullptr && !reading_ && !queue_.empty()) {
    const trace::FileId serial = queue_.front();
    const File* file = files_.find(serial);
    Met& met = met_.at(serial);
    if (file == nullptr || (file->coming && !file->fd)) return {};  // it is being opened
    queue_.pop_front();
    met.fd = files_.open_original(*file, met.path);
    if (!met.fd || met_.size() > kMostFiles) {
      met.reading = Reading::kEmpty;
      continue;
    }
    reading_ = serial;
    met.reading = Reading::kRuns;
    return targets_->begin(met.fd.get(), met.path);
  }
  return {};
}

// Tells of those that have mapped it so far.
void UnprobedCode::settle(trace::FileId serial, Met& met, Reading reading, const std::string& what, const Tell& tell) {
  met.reading = reading;
  if (what.empty()) return met.processes.clear();
  bool is_first = true;
  for (const auto& [process, time] : std::exchange(met.processes, {})) {
    count(process, serial, time, is_first ? what : "", tell);
    is_first = false;
  }
}

// Whether it is known what the file that is being read has, and what processes have there.
bool UnprobedCode::is_answer_there(const Met& met) {
  if (look_) return look_->go_on();
  auto probes = targets_->poll();
  if (!probes) return false;
  found_ = std::move(*probes);
  struct stat status {};
  if (found_.empty() || fstat(met.fd.get(), &status) != 0) return true;
  std::vector<std::uint64_t> offsets;
  for (const Probe& probe : found_) {
    const std::vector<std::uint64_t> all = all_places(probe);
    offsets.insert(offsets.end(), all.begin(), all.end());
  }
  look_.emplace(scouts_, std::vector{read_code(met.fd.get(), status, std::move(offsets))}, running_processes(), false);
  return look_->go_on();
}

// Leaves out what processes have changed. Returns a process that has.
std::string UnprobedCode::take_changed() {
  if (!look_) return "";
  const std::vector<CodeFinding> findings = look_->take();
  const std::vector<std::uint32_t> silent = look_->silent();
  look_.reset();
  if (!silent.empty()) {
    found_.clear();
    return why_silent(silent.front());
  }
  if (findings.empty()) return "";
  std::erase_if(found_, [&](const Probe& probe) {
    const std::vector<std::uint64_t> places = all_places(probe);
    return std::any_of(findings.begin(), findings.end(), [&](const CodeFinding& finding) {
      return std::find(places.begin(), places.end(), finding.offset) != places.end();
    });
  });
  return fmt::format("process {} ({}) has changed the file's code in its memory, is debugged, or translates it",
                     findings.front().pid, name_of(findings.front().pid));
}

Result<void> UnprobedCode::take_answer(const Tell& tell, const TellKinds& tell_kinds) {
  if (!reading_) return {};
  Met& met = met_.at(reading_);
  if (!is_answer_there(met)) return {};
  const trace::FileId serial = std::exchange(reading_, trace::FileId());
  const File* file = files_.find(serial);
  const UniqueFd fd = std::move(met.fd);
  const std::string changed = take_changed();
  const std::vector<Probe> probes = std::exchange(found_, {});
  if (probes.empty() && !changed.empty()) {
    settle(serial, met, Reading::kEmpty, fmt::format("{} has no probes: {}", met.path, changed), tell);
    return {};
  }
  if (probes.empty()) {
    settle(serial, met, Reading::kEmpty,
           met.role == Role::kReplaced
               ? fmt::format("{} was replaced by a file without any function or probe that a target means", met.path)
               : "",
           tell);
    return {};
  }
  if (file == nullptr || !fd) {
    settle(serial, met, Reading::kEmpty, fmt::format("{} has no probes: it cannot be opened", met.path), tell);
    return {};
  }
  if (closed_ns_ != 0) {
    settle(serial, met, Reading::kEmpty, fmt::format("{} had no probes until tracing ended", met.path), tell);
    return {};
  }
  tell_kinds(probes);
  if (const auto attached = backend_.attach_file(fd.get(), met.path, probes); !attached) {
    settle(serial, met, Reading::kEmpty, fmt::format("{} has no probes: {}", met.path, attached.error().what), tell);
    return {};
  }
  Probed probed{met.path, file->key, {}, true, monotonic_ns()};
  for (const Probe& probe : probes) probed.places.insert(probed.places.end(), probe.places.begin(), probe.places.end());
  probed_.push_back(std::move(probed));
  settle(
      serial, met, Reading::kProbed,
      fmt::format("{} was mapped {} tracing had begun: it has probes from now on, and what was called in it before is "
                  "not recorded",
                  met.path, met.role == Role::kReplaced ? "in place of the file that was probed, after" : "after"),
      tell);
  roles_.clear();
  return {};
}

Result<void> UnprobedCode::work(std::uint64_t now_ns, const Tell& tell, const TellKinds& tell_kinds) {
  std::deque<Mapping> later;
  for (const Mapping& mapping : std::exchange(waiting_, {})) {
    const File* file = files_.find(mapping.file);
    // The record lies in a ring that has not been read yet; or what memory holds is being copied.
    if (file == nullptr || (file->memory && file->coming && !file->fd))
      later.push_back(mapping);
    else
      judge(mapping, *file, tell);
  }
  // Of the others no record came: it was lost, and that is counted.
  for (Mapping& mapping : later)
    if (now_ns < mapping.time + kUnknownNs) waiting_.push_back(mapping);
  const bool is_late = closed_ns_ != 0 && now_ns > closed_ns_ + kLongestEndNs;
  if (is_late) {
    queue_.clear();
    reading_ = trace::FileId();
    look_.reset();
    unsure_.clear();
  }
  look_at_paths(now_ns, tell);
  if (auto done = read_next(); !done) return done;
  if (auto done = take_answer(tell, tell_kinds); !done) return done;
  for (auto& [serial, met] : met_) {
    if (is_late && met.reading != Reading::kProbed && !met.processes.empty())
      settle(serial, met, Reading::kEmpty, fmt::format("{} had no probes until tracing ended", met.path), tell);
    const bool is_left = met.reading == Reading::kEmpty || (targets_ == nullptr && met.role == Role::kReplaced);
    if (is_left && met.role == Role::kReplaced && !met.processes.empty())
      settle(serial, met, Reading::kEmpty, fmt::format("{} was replaced, and the new file has no probes", met.path),
             tell);
  }
  return {};
}

void UnprobedCode::forget(const std::string& path, std::uint64_t time_ns, bool for_good) {
  for (Probed& probed : probed_) {
    if (probed.path != path_in_its_root(path) || !std::exchange(probed.active, false)) continue;
    probed.until_ns = time_ns;
    probed.for_good = for_good;
  }
  roles_.clear();
}

bool UnprobedCode::has_counted(trace::ProcessId process) const {
  return std::any_of(counted_.begin(), counted_.end(), [&](const auto& one) { return one.first == process; });
}

void UnprobedCode::close(std::uint64_t now_ns) {
  closed_ns_ = now_ns;
}

}  // namespace uscope::tracer
