// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/files/file_opener.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "support/clock.h"
#include "tracer/files/file_identity.h"
#include "tracer/process/process_list.h"

namespace uscope::tracer {
namespace {

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kFreeNs = kMs;  // a shorter wait is that for any file
constexpr std::uint64_t kOverdueEveryNs = 100 * kMs;

// Why nothing answered.
struct Silence {
  const char* text;
  bool counts;  // as a process that did not answer; false: that has been counted already
};
constexpr Silence kSilent{"not opened: its file system did not answer", false};
constexpr Silence kLetBe{"not opened: its process had not answered shortly before", false};
constexpr Silence kSlow{"not opened: its file system took too long to answer", true};
constexpr Silence kTurn{"not opened: its turn did not come in time, since other files were slow to open", true};
constexpr Silence kEnded{"not opened: tracing ended before its file system had answered", true};

std::array<std::string, 4> candidates_for(const FileToOpen& file) {
  const std::uint32_t living = living_thread_of(file.pid);
  const std::string process = fmt::format("/proc/{}", living);
  return {map_files_entry(living, file.start, file.end), process + "/exe", process + "/root" + file.path, file.path};
}

FoundFile failed(const FileToOpen& file, int error, std::string trouble) {
  FoundFile found;
  found.serial = file.serial;
  found.pid = file.pid;
  found.error = error;
  found.trouble = std::move(trouble);
  return found;
}

// All candidates have answered.
FoundFile not_found(const FileToOpen& file, int error) {
  const char* lease = "a process holds a write lease on it (fcntl, F_SETLEASE), which opening it would break";
  return failed(file, error, error == ESTALE ? kChanged : error == EAGAIN ? lease : std::strerror(error));
}

FoundFile give_up_file(Scouts& scouts, const FileToOpen& file, const Silence& why) {
  if (why.counts) scouts.note_unresponsive(file.pid);
  return failed(file, ETIMEDOUT, why.text);
}

}  // namespace

FileOpener::FileOpener(Backend& backend, Scouts* scouts, OpeningLimits limits, ScoutWork work)
    : backend_(backend), scouts_(scouts), limits_(limits), work_(work) {}

OpenRequest FileOpener::request_for(const Opening& opening) const {
  OpenRequest request;
  request.path = opening.candidates[opening.next];
  request.pid = opening.file.pid;
  request.copy_ms = static_cast<std::uint32_t>(limits_.longest_ms);
  request.leases = opening.file.leased ? Leases::kKept : Leases::kBroken;
  return request;
}

std::optional<FoundFile> FileOpener::open(FileToOpen file) {
  const std::uint32_t pid = file.pid;
  Openings one;
  Opening& opening = one.emplace_back();
  opening.candidates = candidates_for(file);
  opening.file = std::move(file);
  opening.error = ENOENT;
  opening.met_ns = time_.look();
  if (scouts_ == nullptr) return open_here(opening);
  // Nothing waits for another file of a process that is slow.
  if (processes_.count(pid) == 0 && debt_.left_ms() <= limits_.most_debt_ms) {
    if (auto found = open_soon(opening)) return found;
  }
  if (ended_) return give_up_file(*scouts_, opening.file, kEnded);
  return open_beside(std::move(one));
}

// The scout of a first wait goes on if another one may be under way now.
std::optional<FoundFile> FileOpener::open_beside(Openings one) {
  Opening& opening = one.front();
  const std::uint32_t pid = opening.file.pid;
  Process& process = processes_[pid];
  if (running_.size() < limits_.at_once && process.running < limits_.of_one && process.waiting.empty()) {
    if (auto found = go_on(opening)) {
      forget_if_idle(pid);
      return found;
    }
    if (opening.errand) {
      process.running++;
      running_.splice(running_.end(), one);
      return std::nullopt;
    }
  }
  opening.errand.reset();
  if (process.waiting.empty()) turn_.push_back(pid);
  process.waiting.splice(process.waiting.end(), one);
  return std::nullopt;
}

std::optional<FoundFile> FileOpener::open_here(Opening& opening) {
  for (; opening.next < opening.candidates.size(); opening.next++) {
    auto answers = run_here(work_, request_for(opening).bytes());
    if (answers.empty()) continue;
    if (auto found = judge(opening, opened_file(std::move(answers.back())))) return found;
  }
  return not_found(opening.file, opening.error);
}

std::optional<FoundFile> FileOpener::open_soon(Opening& opening) {
  const std::uint64_t began = monotonic_ns();
  const std::uint64_t until = began + static_cast<std::uint64_t>(limits_.first_wait_ms) * kMs;
  std::optional<FoundFile> found = go_on(opening);
  while (!found && opening.errand) {
    const std::uint64_t now = monotonic_ns();
    if (now >= until || !opening.errand->wait(static_cast<int>((until - now + kMs - 1) / kMs))) break;
    found = go_on(opening);
  }
  const std::uint64_t waited = monotonic_ns() - began;
  if (waited > kFreeNs) debt_.add(waited);
  return found;
}

// Takes the file if it is the mapped one; otherwise the next candidate is to be tried.
std::optional<FoundFile> FileOpener::judge(Opening& opening, OpenedFile opened) const {
  if (!opened.fd || !is_mapped_file(backend_, opened, opening.file.key, opening.file.deleted)) {
    opening.error = opened.fd ? ESTALE : opened.error;
    return std::nullopt;
  }
  FoundFile found;
  found.serial = opening.file.serial;
  found.pid = opening.file.pid;
  found.fd = std::move(opened.fd);
  found.is_copy = opened.is_copy;
  found.shares_our_root = opened.shares_our_root;
  if (opened.is_at_path) found.place = std::move(opened.path);
  return found;
}

bool FileOpener::is_overdue(const Opening& opening) {
  return time_.look() - opening.met_ns >= static_cast<std::uint64_t>(limits_.longest_ms) * kMs;
}

std::optional<FoundFile> FileOpener::go_on(Opening& opening) {
  const bool overdue = is_overdue(opening);
  while (opening.errand || !overdue) {
    Step step = Step::kLater;
    if (auto found = follow(opening, &step)) return found;
    if (step == Step::kLater) break;
  }
  if (!overdue) return std::nullopt;
  return give_up_file(*scouts_, opening.file, opening.errand ? kSlow : kTurn);
}

// Begins the next errand, or takes what has arrived from the present one.
std::optional<FoundFile> FileOpener::follow(Opening& opening, Step* step) {
  const std::uint32_t pid = opening.file.pid;
  if (!opening.errand) {
    if (opening.next == opening.candidates.size()) return not_found(opening.file, opening.error);
    if (scouts_->is_let_be(pid)) return give_up_file(*scouts_, opening.file, kLetBe);
    auto errand = scouts_->send(pid, work_, request_for(opening).bytes(), {}, limits_.silence_ms);
    if (!errand) return std::nullopt;  // none is available at present
    opening.errand.emplace(std::move(*errand));
  }
  ScoutMessage message;
  const Errand::Came came = opening.errand->next(message);
  const bool is_lost = came == Errand::Came::kLost || (came == Errand::Came::kNothing && opening.errand->hangs());
  if (came == Errand::Came::kNothing && !is_lost) return std::nullopt;
  *step = Step::kAgain;
  if (came == Errand::Came::kAnswer) {
    opening.answer = std::move(message);
    return std::nullopt;
  }
  opening.errand.reset();
  if (is_lost && !opening.answer) {
    // The collector has not waited, so this rest is not longer than after a wait of ask().
    scouts_->add_unresponsive(pid, kScoutPatienceMs * kMs);
    return give_up_file(*scouts_, opening.file, kSilent);
  }
  OpenedFile opened = opened_file(std::exchange(opening.answer, std::nullopt));
  if (opened.error == ETIMEDOUT)
    return give_up_file(*scouts_, opening.file, kSlow);  // the other candidates would be as slow
  if (auto found = judge(opening, std::move(opened))) return found;
  opening.next++;
  return std::nullopt;
}

void FileOpener::forget_if_idle(std::uint32_t pid) {
  const auto found = processes_.find(pid);
  if (found != processes_.end() && found->second.running == 0 && found->second.waiting.empty()) processes_.erase(found);
}

bool FileOpener::is_any_running() const {
  return std::any_of(running_.begin(), running_.end(),
                     [](const Opening& opening) { return opening.errand && opening.errand->is_running(); });
}

std::vector<FoundFile> FileOpener::take() {
  if (!is_busy()) return {};
  if (last_wait_ && last_wait_->is_over(monotonic_ns(), {.scout_runs = is_any_running()})) return give_up();
  std::vector<FoundFile> found;
  for (auto at = running_.begin(); at != running_.end();) {
    const auto opening = at++;
    auto one = go_on(*opening);
    if (!one) continue;
    found.push_back(std::move(*one));
    const std::uint32_t pid = opening->file.pid;
    running_.erase(opening);
    processes_[pid].running--;
    forget_if_idle(pid);
  }
  drop_overdue(found);
  start_waiting(found);
  return found;
}

// The file of a process that waits for the longest time comes first in its list.
void FileOpener::drop_overdue(std::vector<FoundFile>& found) {
  const std::uint64_t now = monotonic_ns();
  if (now - looked_ns_ < kOverdueEveryNs) return;
  looked_ns_ = now;
  for (std::size_t left = turn_.size(); left > 0; left--) {
    const std::uint32_t pid = turn_.front();
    turn_.pop_front();
    Openings& waiting = processes_[pid].waiting;
    while (!waiting.empty() && is_overdue(waiting.front())) {
      found.push_back(give_up_file(*scouts_, waiting.front().file, kTurn));
      waiting.pop_front();
    }
    if (!waiting.empty()) turn_.push_back(pid);
    forget_if_idle(pid);
  }
}

void FileOpener::start_waiting(std::vector<FoundFile>& found) {
  for (std::size_t skipped = 0; running_.size() < limits_.at_once && skipped < turn_.size();) {
    const std::uint32_t pid = turn_.front();
    turn_.pop_front();
    Process& process = processes_[pid];
    if (process.running >= limits_.of_one) {
      turn_.push_back(pid);
      skipped++;
      continue;
    }
    auto one = go_on(process.waiting.front());
    if (one) {
      found.push_back(std::move(*one));
      process.waiting.pop_front();
    } else if (process.waiting.front().errand) {
      process.running++;
      running_.splice(running_.end(), process.waiting, process.waiting.begin());
    } else {
      turn_.push_front(pid);  // no scout is available at present
      return;
    }
    if (!process.waiting.empty()) turn_.push_back(pid);
    forget_if_idle(pid);
  }
}

std::vector<FoundFile> FileOpener::give_up() {
  ended_ = true;
  std::vector<FoundFile> found;
  for (const Opening& opening : running_) found.push_back(give_up_file(*scouts_, opening.file, kEnded));
  for (const std::uint32_t pid : turn_)
    for (const Opening& opening : processes_[pid].waiting)
      found.push_back(give_up_file(*scouts_, opening.file, kEnded));
  running_.clear();
  processes_.clear();
  turn_.clear();
  return found;
}

std::optional<OpenedFile> FileOpener::try_open(const OpenRequest& request, int milliseconds) {
  if (scouts_ == nullptr) {
    auto answers = run_here(work_, request.bytes());
    return answers.empty() ? std::nullopt : std::optional(opened_file(std::move(answers.back())));
  }
  if (debt_.left_ms() > limits_.most_debt_ms) return std::nullopt;
  const std::uint64_t began = monotonic_ns();
  auto answer = scouts_->try_ask(request.pid, work_, request.bytes(), milliseconds);
  const std::uint64_t waited = monotonic_ns() - began;
  if (waited > kFreeNs) debt_.add(waited);
  return answer ? std::optional(opened_file(std::move(answer))) : std::nullopt;
}

// Of a copy (FUSE) nobody knows whether it is the same file still.
UniqueFd FileOpener::open_again(const FileToOpen& file, std::vector<std::string> places, int milliseconds) {
  if (file.pid != 0)
    for (std::string& path : candidates_for(file)) places.push_back(std::move(path));
  for (const std::string& path : places) {
    if (path.empty()) continue;
    auto opened = try_open({.path = path, .copy_ms = 0}, milliseconds);
    if (!opened) return {};
    if (opened->fd && !opened->is_copy && is_mapped_file(backend_, *opened, file.key, file.deleted))
      return std::move(opened->fd);
  }
  return {};
}

}  // namespace uscope::tracer
