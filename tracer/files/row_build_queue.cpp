// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/files/row_build_queue.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "support/process/priority.h"
#include "support/quiet_thread.h"

namespace uscope::tracer {
namespace {

// Walks wait for rows, and hold memory meanwhile: higher priority than the traced programs, but lower than the thread
// that empties the rings.
constexpr int kNice = -10;
constexpr std::size_t kMostRemembered = 4096;  // files whose reading failed

bool is_made(const BuiltTable& made) {
  return made.facts ? static_cast<bool>(made.facts->facts) : static_cast<bool>(made.rows);
}

}  // namespace

RowBuildQueue::RowBuildQueue(symbolizer::RowCache& cache, unsigned threads, symbolizer::ElfReader& reader,
                             ReadingLimits limits)
    : cache_(cache), reader_(reader), limits_(limits), most_of_one_(std::max(threads, 2U) - 1) {
  for (unsigned i = 0; i < threads; i++) threads_.push_back(quiet_thread([this] { work(); }));
}

RowBuildQueue::~RowBuildQueue() {
  {
    const std::lock_guard lock(guard_);
    stopping_ = true;
  }
  asked_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

BuiltTable RowBuildQueue::make(const RowJob& job) {
  using Rows = std::shared_ptr<const symbolizer::UnwindTable>;
  if (job.work == RowWork::kCopy)
    return {job.serial, job.detail, Rows(), {}, false, RowWork::kCopy, job.copies->add(job.fd)};
  if (job.work == RowWork::kHold) {
    BuiltTable made{job.serial, job.detail, Rows(), {}, false, RowWork::kHold};
    if (ElfCopy copy = copy_elf_file(job.fd, *job.room); copy.fd)
      made.held = std::make_shared<ElfCopy>(std::move(copy));
    return made;
  }
  if (job.work == RowWork::kFacts) {
    auto facts = reader_.facts(job.fd, job.name);
    const bool unread = facts.unread;
    return {job.serial, job.detail, Rows(), std::move(facts), unread};
  }
  const auto reading = reader_.open(job.fd, job.name);
  if (job.detail == symbolizer::RowDetail::kStack) {
    auto rows = cache_.get(job.fd, job.name, *reading);
    return {job.serial, job.detail, std::move(rows), {}, reading->has_failed()};
  }
  auto rows = reading->rows(job.detail);
  if (!rows) return {job.serial, job.detail, rows.error(), {}, reading->has_failed()};
  return {job.serial, job.detail, std::make_shared<const symbolizer::UnwindTable>(std::move(*rows))};
}

BuiltTable RowBuildQueue::refuse(const RowJob& job, const std::string& why) {
  const Error error{job.name + ": " + why, ""};
  BuiltTable made{job.serial, job.detail, error, {}, true, job.work};
  if (job.work == RowWork::kFacts) made.facts = symbolizer::FactsAnswer{true, error, true};
  return made;
}

// Returns the reason if a file must not be read.
std::optional<std::string> RowBuildQueue::refusal(const Payer& payer, const Inode& inode) const {
  if (end_ && Clock::now() >= *end_) return "not read: tracing ended before its turn came";
  if (payer.slow >= limits_.slow_of_one)
    return fmt::format("not read: its user's files have taken {} s that were slow to read", payer.slow.count() / 1000);
  const auto failed = failures_.find(inode);
  if (failed != failures_.end() && failed->second >= kMostFailures)
    return "not read: reading this file was given up before";
  return std::nullopt;
}

void RowBuildQueue::account(Payer& payer, const Inode& inode, Clock::duration took, const BuiltTable& made) {
  if (took < limits_.slow) return;
  payer.slow += std::chrono::duration_cast<std::chrono::milliseconds>(took);
  if (is_made(made)) return;
  if (failures_.size() >= kMostRemembered) failures_.clear();
  failures_[inode]++;
}

void RowBuildQueue::enter(Payer& payer) {
  if (payer.in_turn || (payer.facts.empty() && payer.rows.empty())) return;
  payer.in_turn = true;
  turn_.push_back(&payer);
}

// The payer whose job starts next; null if all payers with jobs use their share of the threads.
RowBuildQueue::Payer* RowBuildQueue::next() {
  for (auto at = turn_.begin(); at != turn_.end(); ++at) {
    Payer* payer = *at;
    if (payer->running >= most_of_one_) continue;
    turn_.erase(at);
    payer->in_turn = false;
    return payer;
  }
  return nullptr;
}

void RowBuildQueue::work() {
  raise_priority(kNice);
  std::unique_lock lock(guard_);
  while (true) {
    Payer* payer = nullptr;
    asked_.wait(lock, [&] { return stopping_ || (payer = next()) != nullptr; });
    if (stopping_) return;
    std::deque<RowJob>& jobs = payer->facts.empty() ? payer->rows : payer->facts;
    const RowJob job = std::move(jobs.front());
    jobs.pop_front();
    payer->running++;
    enter(*payer);
    struct stat status {};
    const Inode inode = fstat(job.fd, &status) == 0 ? Inode(status.st_dev, status.st_ino) : Inode();
    const auto refused = refusal(*payer, inode);
    lock.unlock();
    const Clock::time_point begun = Clock::now();
    Done done{refused ? refuse(job, *refused) : make(job), job.user, job.work};
    lock.lock();
    account(*payer, inode, Clock::now() - begun, done.made);
    payer->running--;
    made_.push_back(std::move(done));
    done_.notify_one();
    if (!turn_.empty()) asked_.notify_one();
  }
}

Result<void> RowBuildQueue::ask(RowJob job) {
  open_++;
  if (threads_.empty()) return hand_over(Done{make(job), job.user, job.work});
  {
    const std::lock_guard lock(guard_);
    Payer& payer = payers_[job.payer];
    std::deque<RowJob>& jobs = job.work == RowWork::kHold || job.work == RowWork::kFacts ? payer.facts : payer.rows;
    jobs.push_back(std::move(job));
    enter(payer);
  }
  asked_.notify_one();
  return {};
}

void RowBuildQueue::end_by(Clock::time_point time) {
  const std::lock_guard lock(guard_);
  if (!end_) end_ = time;
}

Result<void> RowBuildQueue::hand_over(const Done& done) {
  open_--;
  if (done.work == RowWork::kRows) settled_.push_back(done.made.serial);
  return done.user->on_made(done.made);
}

Result<void> RowBuildQueue::hand_over() {
  if (open_ == 0) return {};
  std::vector<Done> all;
  {
    const std::lock_guard lock(guard_);
    all = std::exchange(made_, {});
  }
  Result<void> result;
  for (const Done& done : all)
    if (auto handed = hand_over(done); !handed && result) result = handed;
  return result;
}

Result<bool> RowBuildQueue::wait(std::chrono::milliseconds most) {
  if (open_ == 0) return false;
  {
    std::unique_lock lock(guard_);
    if (!done_.wait_for(lock, most, [this] { return !made_.empty(); })) return false;
  }
  if (auto handed = hand_over(); !handed) return handed.error();
  return true;
}

std::vector<trace::FileId> RowBuildQueue::take_settled() {
  return std::exchange(settled_, {});
}

}  // namespace uscope::tracer
