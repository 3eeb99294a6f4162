#include "tracer/row_maker.h"

#include <signal.h>
#include <sys/resource.h>

#include <utility>

namespace uscope::tracer {
namespace {

// Walks wait for rows, and so does memory: before the traced programs, but behind the thread that empties the rings.
constexpr int kNice = -10;

}  // namespace

RowMaker::RowMaker(symbolizer::RowCache& cache, unsigned threads, symbolizer::ElfReader& reader)
    : cache_(cache), reader_(reader) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are the main thread's
  for (unsigned i = 0; i < threads; i++) threads_.emplace_back([this] { work(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

RowMaker::~RowMaker() {
  {
    const std::lock_guard lock(guard_);
    stopping_ = true;
  }
  asked_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

MadeRows RowMaker::make(const RowJob& job) {
  if (job.detail == symbolizer::RowDetail::kStack)
    return {job.serial, job.detail, cache_.get(job.fd, job.name, reader_)};
  auto rows = reader_.open(job.fd, job.name)->rows(job.detail);
  if (!rows) return {job.serial, job.detail, rows.error()};
  return {job.serial, job.detail, std::make_shared<const symbolizer::RowTable>(std::move(*rows))};
}

void RowMaker::work() {
  (void)setpriority(PRIO_PROCESS, 0, kNice);  // of this thread only
  std::unique_lock lock(guard_);
  while (true) {
    asked_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (stopping_) return;
    const RowJob job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    Done done{make(job), job.user};
    lock.lock();
    made_.push_back(std::move(done));
    done_.notify_one();
  }
}

Result<void> RowMaker::ask(RowJob job) {
  open_++;
  if (threads_.empty()) return hand_over(Done{make(job), job.user});
  {
    const std::lock_guard lock(guard_);
    jobs_.push_back(std::move(job));
  }
  asked_.notify_one();
  return {};
}

Result<void> RowMaker::hand_over(const Done& done) {
  open_--;
  news_.push_back(done.made.serial);
  return done.user->on_made(done.made);
}

Result<void> RowMaker::hand_over() {
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

Result<void> RowMaker::wait() {
  if (open_ == 0) return {};
  {
    std::unique_lock lock(guard_);
    done_.wait(lock, [this] { return !made_.empty(); });
  }
  return hand_over();
}

std::vector<std::uint32_t> RowMaker::take_news() {
  return std::exchange(news_, {});
}

}  // namespace uscope::tracer
