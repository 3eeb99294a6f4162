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
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "support/byte_reader.h"
#include "support/result.h"
#include "support/unique_fd.h"
#include "tracer/scouts/waiting_debt.h"

namespace uscope::tracer {

struct ScoutMessage {
  std::vector<std::byte> bytes;
  std::vector<UniqueFd> fds;
};

// The interface of a scout's work. A scout ends with the tracer.
class ScoutDesk {
 public:
  virtual ~ScoutDesk() = default;
  [[nodiscard]] virtual ScoutMessage& request() = 0;
  // Called before a step that may not return; the tracer sees the last number (Errand::at).
  virtual void goes_to(std::uint32_t number) = 0;
  virtual void answer(std::span<const std::byte> bytes, std::span<const int> fds = {}) = 0;
  // This scout holds something whose release may block for ever: it does no further work after this.
  virtual void be_last() = 0;
};

using ScoutWork = void (*)(ScoutDesk& desk);

class Scouts;

// A request in progress. If it is not done, destroying this object gives it up.
class Errand {
 public:
  enum class Came { kAnswer, kNothing, kDone, kLost };

  Errand(Errand&&) = default;
  Errand& operator=(Errand&&) = delete;
  Errand(const Errand&) = delete;
  Errand& operator=(const Errand&) = delete;
  ~Errand();

  // Returns the next answer, if it has arrived.
  Came next(ScoutMessage& answer);
  // Waits until something arrives, or this time is over: then it returns false.
  bool wait(int milliseconds) const;
  // Whether the scout runs or waits for a processor: then only load on the processors delays it.
  [[nodiscard]] bool is_running() const;
  // Whether nothing has arrived for longer than the request can take; kLost counts as that, too.
  [[nodiscard]] bool hangs() const;
  // The last number passed to goes_to().
  [[nodiscard]] std::uint32_t at() const { return at_; }
  [[nodiscard]] std::uint64_t began_ns() const { return began_ns_; }
  // Charges the scout, should it be given up, to the user of this process, which holds it up.
  void blame(std::uint32_t pid) { blamed_ = pid; }

 private:
  friend class Scouts;
  struct Scout {
    UniqueFd socket;
    UniqueFd process;  // pidfd
    pid_t pid = 0;
  };
  Errand(Scouts& scouts, Scout scout, int patience_ms);

  Scouts* scouts_;
  Scout scout_;
  ScoutMessage partial_;
  std::uint32_t at_ = 0;
  std::uint32_t blamed_ = 0;
  std::uint64_t began_ns_;
  std::uint64_t moved_ns_;
  int patience_ms_;
  bool done_ = false;
  bool last_ = false;
};

class Scouts {
 public:
  // If nothing came from a scout for this long, and it does not run, it hangs.
  static constexpr int kPatienceMs = 250;

  // Forks, so call it while there is no other thread, and before anything is open that scouts must not have.
  static Result<std::unique_ptr<Scouts>> start();
  Scouts(const Scouts&) = delete;
  Scouts& operator=(const Scouts&) = delete;
  ~Scouts();

  // Sends a scout to do work about process `pid` (0: about none, or about several: see Errand::blame). Returns nullopt
  // if no scout is available: too many did not return, of this process's user or of all. `patience_ms`: in place of
  // kPatienceMs, for an errand that the caller does not wait for.
  std::optional<Errand> send(std::uint32_t pid, ScoutWork work, std::span<const std::byte> request,
                             std::span<const int> fds = {}, std::optional<int> patience_ms = std::nullopt);
  // Waits for the single answer to a request about process `pid` (0: about none). Returns nullopt if it did not come,
  // if this process has lately not answered, or if too much time was lately spent waiting for this process, or for all.
  std::optional<ScoutMessage> ask(std::uint32_t pid, ScoutWork work, std::span<const std::byte> request,
                                  std::span<const int> fds = {});

  // Records that a process did not answer after `waited_ns`: it is left alone for a multiple of that, longer each time.
  void add_unresponsive(std::uint32_t pid, std::uint64_t waited_ns);
  [[nodiscard]] bool is_let_be(std::uint32_t pid) const;
  // Records a process that did not answer but will be queried again.
  void note_unresponsive(std::uint32_t pid) { unreported_.push_back(pid); }

  // Processes that did not answer since the last call, one entry for each time; 0: a request about no process.
  std::vector<std::uint32_t> take_unresponsive() { return std::exchange(unreported_, {}); }
  [[nodiscard]] pid_t keeper() const { return keeper_pid_; }

 private:
  friend class Errand;
  struct Silence {
    std::uint64_t until_ns = 0;
    std::uint64_t rest_ns = 0;
  };

  Scouts() = default;
  std::optional<Errand::Scout> take();
  void give_back(Errand::Scout scout);
  void give_up(Errand::Scout scout, std::uint32_t pid = 0);
  // How many killed scouts still exist: all, and those charged to one user.
  std::size_t count_lost();
  std::size_t count_lost_of(std::uint32_t user);
  [[nodiscard]] int patience_ms() const;
  [[nodiscard]] bool owes_too_much(std::uint32_t pid) const;
  void owe(std::uint32_t pid, std::uint64_t waited_ns);

  pid_t keeper_pid_ = -1;
  UniqueFd keeper_;
  std::list<Errand::Scout> idle_;
  struct Lost {
    UniqueFd process;  // pidfd of a killed scout
    std::optional<std::uint32_t> user;
  };
  std::list<Lost> lost_;
  std::unordered_map<std::uint32_t, Silence> silent_;
  WaitingDebt debt_;  // of ask(), for all processes
  std::unordered_map<std::uint32_t, WaitingDebt> debts_;
  std::vector<std::uint32_t> unreported_;
};

// Like Scouts::ask(); without scouts, the caller's thread does the work.
std::optional<ScoutMessage> ask(Scouts* scouts, std::uint32_t pid, ScoutWork work, std::span<const std::byte> request,
                                std::span<const int> fds = {});
// Runs the work on the caller's thread, and returns its answers.
std::vector<ScoutMessage> run_here(ScoutWork work, std::span<const std::byte> request, std::span<const int> fds = {});

// For requests and answers: plain data and runs of bytes, one after the other.
class ScoutWriter {
 public:
  template <typename T>
  ScoutWriter& put(const T& value) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  ScoutWriter& put_bytes(std::span<const std::byte> bytes) {
    put(std::uint64_t{bytes.size()});
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  ScoutWriter& put_text(std::string_view text) { return put_bytes(std::as_bytes(std::span(text))); }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

// Reads them back; after the end, and after a run that is longer than what is left, it returns zeroes and empty runs.
class ScoutReader {
 public:
  explicit ScoutReader(std::span<const std::byte> bytes) : in_(bytes) {}
  template <typename T>
  T get() {
    return in_.fixed<T>();
  }
  std::span<const std::byte> get_bytes() { return std::as_bytes(in_.bytes(get<std::uint64_t>())); }
  std::string get_text() { return std::string(in_.text(get<std::uint64_t>())); }
  [[nodiscard]] bool empty() const { return in_.left() == 0; }

 private:
  ByteReader in_;
};

// Whether a signal that ends the recording is pending: SIGINT, SIGTERM, SIGQUIT or SIGHUP, which are blocked meanwhile.
[[nodiscard]] bool end_is_asked_for();

}  // namespace uscope::tracer
