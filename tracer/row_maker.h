// Unwind rows made on threads of their own, so that the one which empties the kernel's rings never waits for them: the
// rows of a large program take a tenth of a second to build.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "support/result.h"
#include "symbolizer/elf_reader.h"
#include "symbolizer/row_builder.h"
#include "symbolizer/row_cache.h"

namespace uscope::tracer {

struct MadeRows {
  std::uint32_t serial = 0;
  symbolizer::RowDetail detail = symbolizer::RowDetail::kStack;
  Result<std::shared_ptr<const symbolizer::RowTable>> rows;
};

// Who asks for rows.
class RowUser {
 public:
  virtual ~RowUser() = default;
  virtual Result<void> on_made(const MadeRows& made) = 0;
};

struct RowJob {
  std::uint32_t serial = 0;  // of the file
  symbolizer::RowDetail detail = symbolizer::RowDetail::kStack;
  int fd = -1;              // stays the user's, and open until the rows were handed over or the maker is gone
  std::string name;         // for messages
  RowUser* user = nullptr;  // outlives the maker, or its rows' hand-over
};

// All but the making itself happens on the thread that asks.
class RowMaker {
 public:
  static constexpr unsigned kThreads = 2;

  // Without threads all is made, and handed over, by ask() itself. `cache` and `reader` outlive this.
  explicit RowMaker(symbolizer::RowCache& cache, unsigned threads = kThreads,
                    symbolizer::ElfReader& reader = symbolizer::direct_reader());
  RowMaker(const RowMaker&) = delete;
  RowMaker& operator=(const RowMaker&) = delete;
  ~RowMaker();

  Result<void> ask(RowJob job);
  // What is to be known of a file before its rows; at once.
  symbolizer::FactsAnswer facts(int fd, const std::string& name) { return reader_.facts(fd, name); }
  // Hands over what has been made. wait(): once there is something, if anything was asked for.
  Result<void> hand_over();
  Result<void> wait();
  // Serials of the files whose rows were handed over; each is given once.
  std::vector<std::uint32_t> take_news();
  // Whether something that was asked for has not been handed over.
  [[nodiscard]] bool is_busy() const { return open_ != 0; }

 private:
  struct Done {
    MadeRows made;
    RowUser* user = nullptr;
  };

  MadeRows make(const RowJob& job);
  void work();
  Result<void> hand_over(const Done& done);

  symbolizer::RowCache& cache_;
  symbolizer::ElfReader& reader_;
  std::size_t open_ = 0;
  std::vector<std::uint32_t> news_;
  std::mutex guard_;  // of all that follows but the threads
  std::condition_variable asked_;
  std::condition_variable done_;
  std::deque<RowJob> jobs_;
  std::vector<Done> made_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace uscope::tracer
