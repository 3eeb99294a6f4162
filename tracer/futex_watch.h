// Futex waits that have not returned, and what their memory says of them later than at their entry: at the end, or when
// somebody asks who waits for whom.
//
// A look at all of them is one picture: threads that are found asleep before all memory is read, and have not run until
// after that, were all asleep in their waits at one instant, and what was read held then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "support/result.h"
#include "tracer/shared_mappings.h"
#include "tracer/task_table.h"
#include "tracer/thread_state.h"
#include "tracer/trace_writer.h"
#include "uscope/record.h"

namespace uscope::tracer {

struct WaitSet {
  std::uint64_t count = 0;
  std::uint64_t mark = 0;  // equal where two sets are
};

class FutexWatch {
 public:
  // Both must outlive this object.
  FutexWatch(const TaskTable& tasks, TraceWriter& writer) : tasks_(tasks), writer_(writer) {}

  // Every event as it comes, open and attached ones too.
  void see(const usc_event& event);

  // Writes what is seen of the waits that were found open since the last look. Threads may run meanwhile.
  Result<void> look_at_new();
  // Writes one picture of all.
  Result<void> look_at_all();

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
    bool looked_at = false;
  };
  struct Seen {
    std::vector<char> words;
    std::uint32_t tid = 0;
    std::optional<ThreadState> before;
    usc_futex futex{};  // the last: its type has no end of its own
  };
  using Mappings = std::map<std::uint32_t, std::optional<std::vector<SharedMapping>>>;  // by pid

  using Handlers = std::map<std::uint32_t, bool>;  // by pid: whether it handles signals

  Result<void> look(const std::vector<Wait*>& waits, bool at_once);
  bool read(const Wait& wait, Mappings& mappings, Handlers& handlers, Seen& seen) const;
  void find_key(std::uint32_t pid, Mappings& mappings, usc_futex& futex) const;
  void find_strangers(std::vector<Seen>& all) const;

  const TaskTable& tasks_;
  TraceWriter& writer_;
  std::unordered_map<std::uint32_t, Wait> waits_;  // by task
};

}  // namespace uscope::tracer
