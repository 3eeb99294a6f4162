// Futex waits that have not returned, and what their memory says of them later than at their entry: at the end, or when
// somebody asks who waits for whom.
//
// Memory is read by scouts (scouts.h): a page of it may be held back for ever. Meanwhile tracing goes on.
//
// A look at all of them is one picture: threads that are found asleep before all memory is read, and have not run until
// after that, were all asleep in their waits at one instant, and what was read held then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "support/result.h"
#include "trace/raw_writer.h"
#include "tracer/model/task_table.h"
#include "tracer/scouts/scouts.h"
#include "uscope/record.h"

namespace uscope::tracer {

struct WaitSet {
  std::uint64_t count = 0;
  std::uint64_t mark = 0;  // equal where two sets are
};

// One wait, as whoever looks at it is asked.
struct FutexQuestion {
  // How much of the memory around it is read: less, where more has not answered.
  enum class Depth : std::uint32_t { kAround, kPage, kNone };
  std::uint64_t entry_ns = 0;
  std::uint64_t args[6] = {};
  std::uint32_t task = 0;
  std::uint32_t tid = 0;
  std::uint32_t pid = 0;
  std::uint32_t mm = 0;
  std::uint32_t nr = 0;
  std::uint32_t abi = 0;
  Depth depth = Depth::kAround;
  // Processes that are not traced and have its address space, where somebody was there to share it; else
  // USC_FUTEX_NO_STRANGERS. They are counted anew where asked for.
  std::uint32_t sharers = USC_FUTEX_NO_STRANGERS;
  std::uint32_t counts_sharers = 0;
  std::uint32_t pad = 0;
};

class FutexWatch {
 public:
  // All must outlive this object. Without scouts a look is taken here, at once.
  FutexWatch(const TaskTable& tasks, trace::RawWriter& writer, Scouts* scouts = nullptr)
      : tasks_(tasks), writer_(writer), scouts_(scouts) {}

  // Every event as it comes, open and attached ones too.
  void see(const usc_event& event);

  // Begins to look at the waits that were found open since the last look. Threads may run meanwhile.
  Result<void> look_at_new();
  // Begins one picture of all.
  Result<void> look_at_all();
  // Writes what the scouts have seen by now. A wait whose memory does not answer is told with less of it, or not at
  // all.
  Result<void> work();
  // A look is under way; something in it has not answered.
  [[nodiscard]] bool is_looking() const { return look_.has_value(); }
  [[nodiscard]] bool is_hanging() const { return look_ && look_->hung != 0; }
  // Nothing more of it is waited for.
  void give_up() {
    look_.reset();
    all_asked_ = false;
  }

  // Those entered before `before_ns`.
  [[nodiscard]] WaitSet waits_before(std::uint64_t before_ns) const;
  [[nodiscard]] std::size_t waits() const { return waits_.size(); }

 private:
  struct Wait {
    std::uint32_t task = 0;
    std::uint64_t entry_ns = 0;
    std::uint64_t args[6] = {};
    std::uint32_t nr = 0;
    std::uint8_t abi = 0;
    bool entered = false;  // its call's entry was seen
    bool looked_at = false;
    FutexQuestion::Depth depth = FutexQuestion::Depth::kAround;
  };
  struct Look {
    bool at_once = false;
    std::vector<FutexQuestion> questions;
    std::vector<std::uint32_t> silent;  // processes that are not asked
    std::uint32_t hung = 0;             // how often it was begun again
    std::optional<Errand> errand;
    std::vector<ScoutMessage> seen;  // so far
  };

  void ask_about(const Wait& wait, Look& look) const;
  Result<void> begin(Look look);
  Result<void> send();
  Result<void> write(const std::vector<ScoutMessage>& seen);
  Result<void> avoid(Look& look, std::uint32_t place);
  Result<void> let_be(const FutexQuestion& question);

  const TaskTable& tasks_;
  trace::RawWriter& writer_;
  Scouts* scouts_;
  std::optional<Look> look_;
  bool all_asked_ = false;                                    // for when that look is over
  std::unordered_map<std::uint32_t, Wait> waits_;             // by task
  std::unordered_map<std::uint32_t, std::uint32_t> sharers_;  // by address space: processes that are not traced
};

}  // namespace uscope::tracer
