// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Reads files on threads of its own, so that the thread that empties the kernel's rings never waits for it: building
// the rows of a large program takes a tenth of a second, and reading a hostile file may take any time.
//
// The files of one payer (symbolizer::payer_of) are read one after the other, on all threads but one, in turn with
// those of others. Nothing more is read for a payer whose files took too long altogether, nor of a file whose reading
// was given up kMostFailures times, whatever it becomes.
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

#include "support/kept_copies.h"
#include "support/result.h"
#include "symbolizer/reader/elf_reader.h"
#include "symbolizer/reader/row_cache.h"
#include "symbolizer/rows/row_builder.h"
#include "trace/ids.h"
#include "tracer/files/memory_file.h"

namespace uscope::tracer {

// kHold: a copy in memory that is read in the place of the file; kCopy: one that is kept.
enum class RowWork : std::uint8_t { kHold, kFacts, kRows, kCopy };

// The result of a job: facts, rows or a copy, depending on its work.
struct BuiltTable {
  trace::FileId serial;
  symbolizer::RowDetail detail = symbolizer::RowDetail::kStack;
  Result<std::shared_ptr<const symbolizer::UnwindTable>> rows;
  std::optional<symbolizer::FactsAnswer> facts = {};
  bool unread = false;  // nothing is known of the file: it was not read, or its reading failed
  RowWork work = RowWork::kRows;
  std::optional<KeptCopy> copy = {};
  std::shared_ptr<ElfCopy> held = {};  // null: it is to be read itself
};

// Receives rows.
class UnwindTableReceiver {
 public:
  virtual ~UnwindTableReceiver() = default;
  virtual Result<void> on_made(const BuiltTable& made) = 0;
};

struct RowJob {
  trace::FileId serial;
  symbolizer::RowDetail detail = symbolizer::RowDetail::kStack;
  int fd = -1;       // the user's; must be open until the rows are handed over or the queue is destroyed
  std::string name;  // for messages
  UnwindTableReceiver* user = nullptr;  // outlives the queue, or the hand-over of its rows
  RowWork work = RowWork::kRows;
  std::string payer = {};
  KeptCopies* copies = nullptr;  // for a copy: where to
  CopyRoom* room = nullptr;      // for one that is held
};

// `slow`: a file that takes longer is slow. `slow_of_one`: the time of slow files after which a payer gets no more
// reads.
struct ReadingLimits {
  std::chrono::milliseconds slow{2'000};
  std::chrono::milliseconds slow_of_one{120'000};
};

// Everything except the reading itself happens on the caller's thread.
class RowBuildQueue {
 public:
  static constexpr unsigned kThreads = 3;
  static constexpr unsigned kMostFailures = 2;

  // Without threads ask() itself does the work and hands it over. `cache` and `reader` must outlive this object.
  explicit RowBuildQueue(symbolizer::RowCache& cache, unsigned threads = kThreads,
                         symbolizer::ElfReader& reader = symbolizer::direct_reader(), ReadingLimits limits = {});
  RowBuildQueue(const RowBuildQueue&) = delete;
  RowBuildQueue& operator=(const RowBuildQueue&) = delete;
  ~RowBuildQueue();

  Result<void> ask(RowJob job);
  // hand_over() passes finished results to their users. wait() does so once there is a result, if anything is pending;
  // it returns false if there was none in that time.
  Result<void> hand_over();
  Result<bool> wait(std::chrono::milliseconds most);
  // After this time no further reading is started: pending jobs are refused.
  void end_by(std::chrono::steady_clock::time_point time);
  // Nothing more will be done for this file: as if its rows had been handed over.
  void settle(trace::FileId serial) { settled_.push_back(serial); }
  // Serials of the files whose rows were handed over; each is returned once.
  std::vector<trace::FileId> take_settled();
  // Whether any job has not been handed over yet.
  [[nodiscard]] bool is_busy() const { return open_ != 0; }

 private:
  using Clock = std::chrono::steady_clock;
  using Inode = std::pair<std::uint64_t, std::uint64_t>;  // device, inode
  struct Done {
    BuiltTable made;
    UnwindTableReceiver* user = nullptr;
    RowWork work = RowWork::kRows;
  };
  struct Payer {
    std::deque<RowJob> facts;  // and copies to be held; these come first: when they are known, more is requested
    std::deque<RowJob> rows;
    unsigned running = 0;
    std::chrono::milliseconds slow{0};  // time taken by slow files
    bool in_turn = false;
  };

  BuiltTable make(const RowJob& job);
  static BuiltTable refuse(const RowJob& job, const std::string& why);
  std::optional<std::string> refusal(const Payer& payer, const Inode& inode) const;
  void account(Payer& payer, const Inode& inode, Clock::duration took, const BuiltTable& made);
  void work();
  void enter(Payer& payer);
  Payer* next();
  Result<void> hand_over(const Done& done);

  symbolizer::RowCache& cache_;
  symbolizer::ElfReader& reader_;
  const ReadingLimits limits_;
  const unsigned most_of_one_;  // threads for one payer
  std::size_t open_ = 0;
  std::vector<trace::FileId> settled_;
  std::mutex guard_;  // protects all members below except the threads
  std::condition_variable asked_;
  std::condition_variable done_;
  std::unordered_map<std::string, Payer> payers_;
  std::deque<Payer*> turn_;  // payers with jobs
  std::map<Inode, unsigned> failures_;
  std::optional<Clock::time_point> end_;
  std::vector<Done> made_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace uscope::tracer
