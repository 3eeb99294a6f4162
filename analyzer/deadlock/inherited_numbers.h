// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A C library keeps each thread's number in the thread's own structure and writes it into locks. A process made by
// clone() without an exec since (raw clone() calls of sandboxes and container runtimes, CLONE_NEWPID, a former child of
// vfork) has a copy of its parent's structures, so its first thread writes the number of the thread that called
// clone(), which may itself have had another one's. fork() renews the number.
//
// Such processes and the one that they descend from, which is made otherwise, are a family: each of its carriers may
// write the number of any thread that some member has or had. Of a carrier that was there before the trace, the thread
// that made it may have ended unseen, so it may write any number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "analyzer/deadlock/last_calls.h"

namespace uscope::analyzer {

class InheritedNumbers {
 public:
  // `calls` must outlive the object.
  explicit InheritedNumbers(const LastCalls& calls);

  // Whether the first thread of this process may write this inner tid into locks although it is another thread's.
  [[nodiscard]] bool written_in(std::size_t process, std::int64_t inner_tid) const;

  // The same of any process that existed to the end together with this one.
  [[nodiscard]] bool written_beside(std::size_t process, std::int64_t inner_tid) const;

 private:
  using Ends = std::vector<std::int64_t>;  // until_ns of carriers, ascending

  void find_families();
  void find_carriers();
  [[nodiscard]] bool is_copy(std::size_t process) const;
  [[nodiscard]] bool one_ends_with(const Ends& ends, std::size_t process) const;

  const LastCalls& calls_;
  std::vector<std::size_t> family_;                 // by process: the member that the others descend from
  std::vector<bool> carries_;                       // by process: made by clone(), and its first thread is there
  std::vector<bool> anything_;                      // by process: it carries, and may write any number
  std::multimap<std::int64_t, std::size_t> known_;  // inner tid → family of a process with, or once with, such a thread
  std::unordered_map<std::size_t, Ends> carriers_;  // by family
  Ends of_anything_;
};

}  // namespace uscope::analyzer
