#include "cli/top_names.h"

#include <fcntl.h>
#include <signal.h>

#include <utility>

namespace uscope::cli {

TopNames::TopNames()
    : namer_(store::make_symbol_namer([this](const store::ModuleRequest& module) { return open(module.file); }, true)) {
  // Signals are the recording's.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TopNames::~TopNames() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  more_.notify_one();
  thread_.join();
}

void TopNames::add_file(const store::ModuleRequest& module, UniqueFd fd) {
  const std::lock_guard lock(mutex_);
  files_.insert_or_assign(module.file, std::pair(module, std::move(fd)));
}

std::optional<std::string> TopNames::ask(std::uint32_t file, std::uint64_t address, bool exact) {
  const Place place{file, address, exact};
  const std::lock_guard lock(mutex_);
  if (const auto found = known_.find(place); found != known_.end()) return found->second;
  if (asked_.insert(place).second) {
    queue_.push_back(place);
    more_.notify_one();
  }
  return std::nullopt;
}

void TopNames::wait(std::chrono::milliseconds most) {
  std::unique_lock lock(mutex_);
  done_.wait_for(lock, most, [this] { return asked_.empty(); });
}

UniqueFd TopNames::open(std::uint32_t file) {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(file);
  if (found == files_.end() || !found->second.second) return {};
  return UniqueFd(fcntl(found->second.second.get(), F_DUPFD_CLOEXEC, 0));
}

void TopNames::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    more_.wait(lock, [this] { return ending_ || !queue_.empty(); });
    if (ending_) return;
    const Place place = queue_.front();
    queue_.pop_front();
    const auto& [file, address, exact] = place;
    store::ModuleRequest module;
    module.file = file;
    if (const auto found = files_.find(file); found != files_.end()) module = found->second.first;
    lock.unlock();
    std::string name = namer_->name(module, address, exact).front().function;
    lock.lock();
    known_.emplace(place, std::move(name));
    asked_.erase(place);
    if (asked_.empty()) done_.notify_all();
  }
}

}  // namespace uscope::cli
