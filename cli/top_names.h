// Names of functions while tracing, by a thread of their own: reading a large binary's symbols takes seconds, and the
// rings must be read meanwhile.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <unordered_map>

#include "store/frame_namer.h"
#include "support/unique_fd.h"

namespace uscope::cli {

class TopNames {
 public:
  TopNames();
  TopNames(const TopNames&) = delete;
  TopNames& operator=(const TopNames&) = delete;
  ~TopNames();

  // A file whose addresses may be asked for. `fd` may be empty: then it is looked for by its path.
  void add_file(const store::ModuleRequest& module, UniqueFd fd);

  // The function at an ELF address of a file that was added; empty while it is not known yet, which it will be soon.
  std::optional<std::string> ask(std::uint32_t file, std::uint64_t address, bool exact);

  // Until all that was asked for is known, or the time is over.
  void wait(std::chrono::milliseconds most);

 private:
  using Place = std::tuple<std::uint32_t, std::uint64_t, bool>;

  void run();
  UniqueFd open(std::uint32_t file);

  std::mutex mutex_;
  std::condition_variable more_;
  std::condition_variable done_;
  std::unordered_map<std::uint32_t, std::pair<store::ModuleRequest, UniqueFd>> files_;
  std::map<Place, std::string> known_;
  std::set<Place> asked_;
  std::deque<Place> queue_;
  bool ending_ = false;
  std::unique_ptr<store::FrameNamer> namer_;  // of the thread
  std::thread thread_;
};

}  // namespace uscope::cli
