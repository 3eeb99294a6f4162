// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Takes one look (wait_look.h). Its parts lie in files by topic: threads and what they wait in (wait_look.cpp),
// descriptors and who else has them (look_descriptors.cpp), locks, queues, FIFOs and terminals (look_objects.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "support/clock.h"
#include "trace/record_builder.h"
#include "tracer/waits/descriptors.h"
#include "tracer/waits/mounts.h"
#include "tracer/waits/sockets.h"
#include "tracer/waits/thread_status.h"
#include "tracer/waits/timers.h"
#include "tracer/waits/wait_calls.h"
#include "tracer/waits/wait_look.h"

namespace uscope::tracer {

class WaitLook {
 public:
  explicit WaitLook(ScoutDesk& desk) : desk_(desk), began_ns_(monotonic_ns()) {
    ScoutReader request(desk.request().bytes);
    number_ = request.get<std::uint32_t>();
    const auto take = [](std::span<const std::byte> bytes, auto& items) {
      items.resize(bytes.size() / sizeof(items[0]));
      if (!items.empty()) std::memcpy(static_cast<void*>(items.data()), bytes.data(), items.size() * sizeof(items[0]));
    };
    take(request.get_bytes(), threads_);
    std::vector<std::uint32_t> silent;
    take(request.get_bytes(), silent);
    silent_.insert(silent.begin(), silent.end());
    for (const AskedThread& thread : threads_) processes_.emplace(thread.pid, thread.process);
  }

  void take();

 private:
  static constexpr std::size_t kAnswerBytes = std::size_t{32} << 10;
  static constexpr std::size_t kMostResources = 200'000;
  static constexpr std::size_t kMostName = 4096;

  struct Found {
    AskedThread asked;
    std::optional<ThreadStatus> before;
    usc_thread_look record{};
    CallWaits waits;
    std::optional<ServedFile> file;   // its file system holds up the call
    std::set<std::uint32_t> numbers;  // beside the word of its futex, which may be that of its owner
  };

  template <typename Record>
  void answer(Record& record, std::string_view text = {}, std::uint32_t task = 0) {
    record.look = number_;
    record.head.task = task;
    record.head.time = began_ns_;
    trace::RecordBuilder<Record> built(record);
    built.add(std::span(text.data(), text.size()));
    const std::vector<char> bytes = built.take();
    const auto raw = std::as_bytes(std::span(bytes));
    answer_.insert(answer_.end(), raw.begin(), raw.end());
    if (answer_.size() >= kAnswerBytes) send();
  }
  void send() {
    if (!answer_.empty()) desk_.answer(answer_);
    answer_.clear();
  }
  void trouble(std::uint32_t pid, const std::string& text);
  void in_flight(std::uint32_t pid, std::uint32_t process, const std::string& socket);
  void look_at(Found& found);
  void look_again(std::vector<Found>& all);
  void look_at_monitors();
  void look_at_run_time_locks(const std::vector<Found>& all);
  void look_at_locks(const std::vector<Found>& all);
  [[nodiscard]] bool awaits_timer(std::uint32_t pid, std::uint64_t caught);
  [[nodiscard]] std::uint64_t callable(const Found& found);
  [[nodiscard]] std::uint8_t limit_of(const Found& found, const Descriptors* own);
  void write_set(const Found& found, const Descriptors* own);
  void write_tracees(const Found& found, const usc_waited& any);
  void find_tracees();
  void find_shared_tables();
  void write_thread(Found& found);
  void write_thing(const Found& found, const WaitedThing& thing, const Descriptors* own);
  void write_other_children(const Found& found, const usc_waited& any);
  [[nodiscard]] std::set<std::pair<std::uint32_t, int>> waited_or_in_sets(const std::vector<Found>& all) const;
  void mark_sets(const std::vector<Found>& all);
  [[nodiscard]] std::optional<std::uint64_t> number_of_set(const OpenFile& file, std::uint32_t pid);
  void find_mappings(const std::vector<Found>& all);
  void find_mappings_of(std::uint32_t pid);
  void write_mapping(std::uint32_t pid, const std::pair<std::uint64_t, std::uint64_t>& file, std::string_view name);
  void mark_terminals(const std::vector<Found>& all);
  std::optional<std::uint32_t> number_of_terminal(std::uint32_t pid, Descriptor& descriptor);
  void check_session(std::uint32_t pid, const Descriptor& master);
  void mark_queues(const std::vector<Found>& all);
  std::optional<std::uint32_t> outer_pid(std::uint32_t of, std::uint32_t number);
  void read_descriptors();
  void describe_socket(Descriptor& descriptor, usc_resource& record);
  void write_resources(std::uint32_t pid, std::uint32_t process, Descriptors& all);
  // What processes that are not traced answered.
  struct Strangers {
    std::vector<std::uint32_t> unread;                             // whose descriptors could not be read
    std::vector<std::pair<std::uint32_t, std::string>> in_flight;  // sockets with descriptors in their queues
    std::vector<std::pair<std::uint32_t, Descriptors>> ends;
    std::map<std::uint32_t, Descriptors> rings;  // of io_uring, with files that they keep
  };
  Strangers ask_strangers();
  void check_rings(std::uint32_t pid, const Descriptors& all);
  void find_holders();
  void write_locks();
  void write_system_v(const Found& found);
  void write_opening(const Found& found);
  void write_served(const Found& found);
  void write_servers(const Mount& mount);
  void write_owners(const Found& found);
  [[nodiscard]] std::optional<std::uint32_t> process_of_number(std::uint32_t of, std::uint32_t number);
  [[nodiscard]] bool is_queue(const Descriptor& descriptor) const {
    return descriptor.object && queues_.count(*descriptor.object) != 0;
  }

  ScoutDesk& desk_;
  std::uint64_t began_ns_;
  std::uint32_t number_ = 0;
  std::vector<AskedThread> threads_;
  std::unordered_set<std::uint32_t> silent_;
  std::map<std::uint32_t, std::uint32_t> processes_;  // pid: serial
  std::map<std::uint32_t, std::vector<std::uint32_t>> ns_pids_;
  std::map<std::uint32_t, Descriptors> descriptors_;
  std::vector<std::pair<std::uint32_t, Descriptors>> other_descriptors_;  // of threads that have some of their own
  std::optional<std::unordered_map<std::uint64_t, SocketFacts>> sockets_;
  std::vector<usc_held_lock> locks_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> locked_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> files_;  // for whose locks, or as FIFOs, traced threads wait
  std::set<std::pair<std::uint32_t, int>> waited_;           // pid and number of what traced threads wait for
  std::unordered_set<std::string> ends_;    // names of objects that traced processes hold, and of their other ends
  std::map<OpenFile, std::uint64_t> sets_;  // of epoll, that traced threads wait for: their numbers in this look
  std::set<std::pair<std::uint64_t, std::uint64_t>>
      awaited_locks_;                                         // files, for whose locks of open files threads wait
  std::set<std::uint32_t> at_eventfds_;                       // pids of those whose threads wait for one
  std::set<std::uint64_t> eventfds_;                          // by eventfd-id
  std::set<std::pair<std::uint64_t, std::uint64_t>> queues_;  // POSIX message queues for which traced threads wait
  std::set<std::string> queue_names_;                         // theirs, without folders
  std::set<std::pair<int, int>> system_v_;                    // kinds and ids whose users are written
  std::map<std::uint32_t, std::uint64_t> timer_signals_;      // by pid: signals that timers may send
  std::map<std::uint32_t, std::uint64_t> open_signals_;       // by pid: signals that some thread does not block
  std::optional<std::multimap<std::uint32_t, std::uint32_t>> tracees_;  // by the tracer's thread: untraced pids
  std::optional<RealTimers> real_timers_;
  std::set<std::uint32_t> terminals_;                // numbers of those that traced threads wait for
  std::set<std::pair<std::uint32_t, int>> limited_;  // as waited_: reading the terminal there has a time limit
  std::set<std::uint32_t> mounts_;                   // whose servers are written, by id
  // By pid namespace: numbers of threads of processes that are not traced, and whose they are.
  std::map<std::string, std::map<std::uint32_t, std::uint32_t>> numbers_;
  int openings_ = 0;
  bool waits_for_descriptors_ = false;
  std::size_t resources_ = 0;
  std::vector<std::byte> answer_;
};

}  // namespace uscope::tracer
