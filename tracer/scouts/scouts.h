// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Scouts: processes that do work which a traced program can block for ever. A process's memory, its /proc files, and
// files that it names or maps may lie behind userfaultfd or a FUSE server that does not answer, or need a lock that is
// never released. A scout that does not return is killed and given up; some waits in the kernel (a FUSE request that
// the server has read) do not end for any signal, so its death is not waited for either. A thread could not be given up
// in this way: the whole tracer would have to stay with it.
//
// A keeper, forked before anything is open, forks the scouts. They have the tracer's privileges and none of its files,
// and run functions of this same program: the request contains the address of the function.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "support/result.h"
#include "support/unique_fd.h"
#include "tracer/scouts/errand.h"
#include "tracer/scouts/scout_keeper.h"
#include "tracer/scouts/scout_work.h"
#include "tracer/scouts/unresponsive_processes.h"

namespace uscope::tracer {

class Scouts {
 public:
  // Forks, so call it while there is no other thread, and before anything is open that scouts must not have.
  static Result<std::unique_ptr<Scouts>> start();
  Scouts(const Scouts&) = delete;
  Scouts& operator=(const Scouts&) = delete;
  ~Scouts();

  // Sends a scout to do work about process `pid` (0: about none, or about several: see Errand::blame). Returns nullopt
  // if no scout is available: too many did not return, of this process's user or of all. `patience_ms`: in place of
  // kScoutPatienceMs, for an errand that the caller does not wait for.
  std::optional<Errand> send(std::uint32_t pid, ScoutWork work, std::span<const std::byte> request,
                             std::span<const int> fds = {}, std::optional<int> patience_ms = std::nullopt);
  // Waits for the single answer to a request about process `pid` (0: about none). Returns nullopt if it did not come,
  // if this process has lately not answered, or if too much time was lately spent waiting for this process, or for all.
  std::optional<ScoutMessage> ask(std::uint32_t pid, ScoutWork work, std::span<const std::byte> request,
                                  std::span<const int> fds = {});
  // Waits so long for the answer to a request that nothing depends on: that it did not come is not recorded.
  std::optional<ScoutMessage> try_ask(std::uint32_t pid, ScoutWork work, std::span<const std::byte> request,
                                      int milliseconds);

  // Records that a process did not answer after `waited_ns`: it is left alone for a multiple of that, longer each time.
  void add_unresponsive(std::uint32_t pid, std::uint64_t waited_ns) { unresponsive_.add(pid, waited_ns); }
  [[nodiscard]] bool is_let_be(std::uint32_t pid) const { return unresponsive_.is_let_be(pid); }
  // Records a process that did not answer but will be queried again.
  void note_unresponsive(std::uint32_t pid) { unresponsive_.note(pid); }

  // Processes that did not answer since the last call, one entry for each time; 0: a request about no process.
  std::vector<std::uint32_t> take_unresponsive() { return unresponsive_.take(); }
  [[nodiscard]] pid_t keeper() const { return keeper_pid_; }

 private:
  friend class Errand;
  Scouts() = default;
  std::optional<Scout> take();
  void give_back(Scout scout);
  void give_up(Scout scout, std::uint32_t pid = 0);
  // How many killed scouts still exist: all, and those charged to one user.
  std::size_t count_lost();
  std::size_t count_lost_of(std::uint32_t user);
  [[nodiscard]] int patience_ms() const;

  pid_t keeper_pid_ = -1;
  UniqueFd keeper_;
  std::list<Scout> idle_;
  struct Lost {
    UniqueFd process;  // pidfd of a killed scout
    std::optional<std::uint32_t> user;
  };
  std::list<Lost> lost_;
  UnresponsiveProcesses unresponsive_;
};

// Like Scouts::ask(); without scouts, the caller's thread does the work.
std::optional<ScoutMessage> ask(Scouts* scouts, std::uint32_t pid, ScoutWork work, std::span<const std::byte> request,
                                std::span<const int> fds = {});

}  // namespace uscope::tracer
