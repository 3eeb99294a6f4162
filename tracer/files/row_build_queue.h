// What is read of files, made on threads of their own, so that the one which empties the kernel's rings never waits for
// it: the rows of a large program take a tenth of a second to build, and a hostile file as long as it may.
//
// The files of one payer (symbolizer::payer_of) come one after the other, on all threads but one, in turn with those of
// others. A payer whose files took too long altogether has no more of them read, nor has a file whose reading was given
// up kMostFailures times: whatever it becomes.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "support/result.h"
#include "symbolizer/reader/elf_reader.h"
#include "symbolizer/reader/row_cache.h"
#include "symbolizer/rows/row_builder.h"

namespace uscope::tracer {

enum class RowWork : std::uint8_t { kFacts, kRows };

// What a job came to: by its work, facts or rows.
struct MadeRows {
  std::uint32_t serial = 0;
  symbolizer::RowDetail detail = symbolizer::RowDetail::kStack;
  Result<std::shared_ptr<const symbolizer::RowTable>> rows;
  std::optional<symbolizer::FactsAnswer> facts = {};
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
  RowWork work = RowWork::kRows;
  std::string payer = {};
};

// Above which a file is slow, and what slow files may take of one payer, before no more is read of its files.
struct ReadingLimits {
  std::chrono::milliseconds slow{2'000};
  std::chrono::milliseconds slow_of_one{120'000};
};

// All but the making itself happens on the thread that asks.
class RowBuildQueue {
 public:
  static constexpr unsigned kThreads = 3;
  static constexpr unsigned kMostFailures = 2;

  // Without threads all is made, and handed over, by ask() itself. `cache` and `reader` outlive this.
  explicit RowBuildQueue(symbolizer::RowCache& cache, unsigned threads = kThreads,
                         symbolizer::ElfReader& reader = symbolizer::direct_reader(), ReadingLimits limits = {});
  RowBuildQueue(const RowBuildQueue&) = delete;
  RowBuildQueue& operator=(const RowBuildQueue&) = delete;
  ~RowBuildQueue();

  Result<void> ask(RowJob job);
  // Hands over what has been made. wait(): once there is something, if anything was asked for; false where there was
  // nothing in that time.
  Result<void> hand_over();
  Result<bool> wait(std::chrono::milliseconds most);
  // From then on, nothing more is begun to be read: what was asked for is refused.
  void end_by(std::chrono::steady_clock::time_point time);
  // Nothing is to be made of a file any more: as if its rows had been handed over.
  void settle(std::uint32_t serial) { news_.push_back(serial); }
  // Serials of the files whose rows were handed over; each is given once.
  std::vector<std::uint32_t> take_news();
  // Whether something that was asked for has not been handed over.
  [[nodiscard]] bool is_busy() const { return open_ != 0; }

 private:
  using Clock = std::chrono::steady_clock;
  using Inode = std::pair<std::uint64_t, std::uint64_t>;  // of which device
  struct Done {
    MadeRows made;
    RowUser* user = nullptr;
    RowWork work = RowWork::kRows;
  };
  struct Payer {
    std::deque<RowJob> facts;  // come first: more is asked for when they are known
    std::deque<RowJob> rows;
    unsigned running = 0;
    std::chrono::milliseconds slow{0};  // taken by slow files
    bool in_turn = false;
  };

  MadeRows make(const RowJob& job);
  static MadeRows refuse(const RowJob& job, const std::string& why);
  std::optional<std::string> refusal(const Payer& payer, const Inode& inode) const;
  void account(Payer& payer, const Inode& inode, Clock::duration took, const MadeRows& made);
  void work();
  void enter(Payer& payer);
  Payer* next();
  Result<void> hand_over(const Done& done);

  symbolizer::RowCache& cache_;
  symbolizer::ElfReader& reader_;
  const ReadingLimits limits_;
  const unsigned most_of_one_;  // threads, of one payer
  std::size_t open_ = 0;
  std::vector<std::uint32_t> news_;
  std::mutex guard_;  // of all that follows but the threads
  std::condition_variable asked_;
  std::condition_variable done_;
  std::unordered_map<std::string, Payer> payers_;
  std::deque<Payer*> turn_;  // those with jobs
  std::map<Inode, unsigned> failures_;
  std::optional<Clock::time_point> end_;
  std::vector<Done> made_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace uscope::tracer
