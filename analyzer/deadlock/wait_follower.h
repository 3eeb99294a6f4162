// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Finds out who could end the wait of one thread after the other (call_wait.h). Its parts lie in files by topic: pipes
// and FIFOs (follow_pipes.cpp), terminals (follow_terminals.cpp), other descriptors and file systems
// (follow_descriptors.cpp), files' locks and System V objects (follow_locks.cpp), signals (follow_signals.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/deadlock/call_wait.h"
#include "analyzer/deadlock/last_calls.h"
#include "analyzer/deadlock/look.h"
#include "analyzer/deadlock/ways_out.h"

namespace uscope::analyzer {

class WaitFollower {
 public:
  // Both must outlive the object.
  WaitFollower(const LastCalls& calls, const Look& look);

  CallWait follow(const LastCall& thread);

 private:
  using State = CallWait::State;
  using Holders = std::vector<const Resource*>;

  void outside(std::string why) {
    // It says more than a handler, or than a name that somebody may know.
    if (out_.by_handler || !out_.by_name.empty()) out_.state = State::kFollowed;
    out_.by_handler = false;
    out_.by_name.clear();
    settle(State::kOutside, std::move(why));
  }
  void handler(std::string why) {
    if (!out_.by_name.empty()) return outside(std::move(why));
    if (out_.state == State::kOutside) return;
    settle(State::kOutside, std::move(why));
    out_.by_handler = true;
  }
  // Whoever knows the name of a thing could end the wait, but nobody is seen who is about to.
  void whoever(const std::string& name, std::string why) {
    if (out_.state == State::kOutside && out_.by_name == name) return;
    if (out_.state == State::kOutside) return outside(std::move(why));
    settle(State::kOutside, std::move(why));
    out_.by_name = name;
  }
  [[nodiscard]] bool has_no_other_hope() const {
    return out_.state == State::kFollowed || out_.by_handler || out_.doubtful;
  }
  // What is known of the wait is whole, but for this, which may end it.
  void doubt(std::string why) {
    if (out_.state != State::kFollowed) return;
    out_.state = State::kUnknown;
    out_.why = std::move(why);
    out_.doubtful = true;
  }
  void unknown(std::string why) { settle(State::kUnknown, std::move(why)); }
  // What is known to come from outside says more than what is not known.
  void settle(State state, std::string why) {
    out_.has_unknown = out_.has_unknown || state == State::kUnknown;
    if (out_.state == State::kOutside || (out_.state == State::kUnknown && state == State::kUnknown)) return;
    out_.state = state;
    out_.why = std::move(why);
  }
  void hold(std::size_t process, WaitEnd end);
  void hold(const Resource& held, const std::string& part);
  void hold_process(std::int64_t pid);
  void hold_sharers(const Resource& own, const char* part);
  void descriptor(const LookedDescriptor& waited);
  void ends(const Resource& own, const Holders& others, const char* part);
  [[nodiscard]] bool is_job_server(const Resource& pipe) const;
  void pipe(const LookedDescriptor& waited, const Resource& own);
  void leave_out_idle(Holders& readers);
  [[nodiscard]] bool reads_nothing_of(std::size_t process, const Resource& pipe) const;
  void terminal(const LookedDescriptor& waited, const Resource& own);
  void master_of_terminal(const Resource& own, const Holders& users);
  void user_of_terminal(const Resource& user, const Resource& own);
  [[nodiscard]] bool can_act(std::size_t process);
  void socket(const LookedDescriptor& waited, const Resource& own);
  void eventfd(const Resource& own);
  void lock(const Resource& own);
  void lock_holder(const HeldLock& held, const Resource& own);
  void message_queue(const LookedDescriptor& waited, const Resource& own);
  void system_v(const std::string& lock_class);
#define USC_DECLARE(way) void way();
  USC_WAYS_OUT(USC_DECLARE)
#undef USC_DECLARE
  void find_tracees();
  void find_children();
  void served_file(const Resource& file);
  [[nodiscard]] bool has_all_calls() const;
  [[nodiscard]] bool may_handle_signals(std::size_t process) const;
  [[nodiscard]] std::string handled_signals(std::size_t process, std::uint64_t without = 0) const;
  [[nodiscard]] static bool is_make(const LastProcess& process);
  void process(const LookedProcess& waited);
  void any_child();
  [[nodiscard]] const Resource* own(std::int64_t fd) const {
    const auto found = by_fd_.find({calls_.processes[thread_->process].id, fd});
    return found == by_fd_.end() ? nullptr : found->second;
  }
  [[nodiscard]] Holders of_object(const Resource& own) const {
    const auto found = by_object_.find({own.type, own.dev, own.ino});
    return own.ino == 0 || found == by_object_.end() ? Holders{} : found->second;
  }
  [[nodiscard]] Holders mappings_of(const Resource& own) const {
    const auto found = mappings_.find({own.dev, own.ino});
    return own.ino == 0 || found == mappings_.end() ? Holders{} : found->second;
  }
  [[nodiscard]] std::string user_text(const HeldLock& user) const;

  const LastCalls& calls_;
  const Look& look_;
  std::map<ProcessRowId, std::size_t> places_;
  std::set<std::size_t> alive_;                                      // processes with threads, at the look
  std::map<std::size_t, std::vector<const LookedThread*>> threads_;  // by process; null: not looked at
  std::map<std::size_t, std::uint64_t> caught_;          // signals with handlers, where the look has told them
  std::set<std::size_t> timed_;                          // a timer may send them one of these
  std::multimap<std::size_t, const LastCall*> tracees_;  // threads, by the process that traces them
  std::map<std::int64_t, std::size_t> by_pid_;
  std::set<std::int64_t> pids_;                               // of all processes of the trace
  std::map<std::size_t, std::vector<std::size_t>> children_;  // by process
  std::vector<std::size_t> orphans_;  // whose parent has ended, and of whom it is not known who has adopted them
  std::map<std::pair<ProcessRowId, std::int64_t>, const Resource*> by_fd_;
  std::map<std::tuple<std::string, std::int64_t, std::int64_t>, Holders> by_object_;
  std::map<std::pair<std::int64_t, std::int64_t>, Holders> mappings_;        // of files, by device and inode
  std::map<std::int64_t, Holders> servers_;                                  // of file systems, by device
  std::map<std::pair<ProcessRowId, std::int64_t>, const Resource*> mounts_;  // of the files of calls, by their numbers
  std::map<std::int64_t, Holders> sockets_;
  std::map<std::int64_t, Holders> terminals_;                     // both sides of pseudo-terminals, by number
  std::set<std::pair<std::int64_t, ProcessRowId>> at_terminals_;  // who waits to read or write a terminal, by number
  const Resource* flight_ = nullptr;  // a socket in whose queue descriptors lie, of which nothing is known
  bool reader_stopped_ = false;       // of the pipe that the thread waits to write: nobody else should read it
  const LastCall* thread_ = nullptr;
  const LookedThread* looked_ = nullptr;
  CallWait out_;
};

}  // namespace uscope::analyzer
