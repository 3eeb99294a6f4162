// Scouts: processes that go where a traced program may hold back whoever comes. Memory of a process, its /proc files,
// files that it names or maps: each may lie behind userfaultfd or a FUSE server that does not answer, or need a lock
// that somebody keeps. A scout that does not come back is killed and given up; some waits of the kernel (a FUSE request
// that the server has read) end for no signal, so nobody waits for its death either. A thread could not be given up so:
// the whole tracer would stay behind with it.
//
// A keeper, forked before anything is open, forks the scouts. They have the tracer's privileges and none of its files,
// and run functions of this same program: what they are asked to do is sent as a function's address.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "support/result.h"
#include "support/unique_fd.h"

namespace uscope::tracer {

struct ScoutMessage {
  std::vector<std::byte> bytes;
  std::vector<UniqueFd> fds;
};

// What a scout's work sees. There is an end to it where the tracer's is.
class ScoutDesk {
 public:
  virtual ~ScoutDesk() = default;
  [[nodiscard]] virtual ScoutMessage& request() = 0;
  // Told before something that may not come back; the tracer sees the last number (Errand::at).
  virtual void goes_to(std::uint32_t number) = 0;
  virtual void answer(std::span<const std::byte> bytes, std::span<const int> fds = {}) = 0;
  // This scout holds something whose release may take for ever: it does nothing else after this.
  virtual void be_last() = 0;
};

using ScoutWork = void (*)(ScoutDesk& desk);

class Scouts;

// One request under way. Given up with this object where it is not done.
class Errand {
 public:
  enum class Came { kAnswer, kNothing, kDone, kLost };

  Errand(Errand&&) = default;
  Errand& operator=(Errand&&) = delete;
  Errand(const Errand&) = delete;
  Errand& operator=(const Errand&) = delete;
  ~Errand();

  // The next answer, if it is there.
  Came next(ScoutMessage& answer);
  // Until something is there, or this time is over.
  void wait(int milliseconds) const;
  // Nothing has come for longer than what it was asked for can take; kLost, too, is such an end.
  [[nodiscard]] bool hangs() const;
  // The number that it went to last.
  [[nodiscard]] std::uint32_t at() const { return at_; }
  [[nodiscard]] std::uint64_t began_ns() const { return began_ns_; }

 private:
  friend class Scouts;
  struct Scout {
    UniqueFd socket;
    UniqueFd process;  // pidfd
    pid_t pid = 0;
  };
  Errand(Scouts& scouts, Scout scout);

  Scouts* scouts_;
  Scout scout_;
  ScoutMessage partial_;
  std::uint32_t at_ = 0;
  std::uint64_t began_ns_;
  std::uint64_t moved_ns_;
  int patience_ms_;
  bool done_ = false;
  bool last_ = false;
};

class Scouts {
 public:
  // Nothing came from a scout for this long, and it does not run: it hangs.
  static constexpr int kPatienceMs = 250;

  // Forks: called while there is no other thread and nothing is open that scouts must not have.
  static Result<std::unique_ptr<Scouts>> start();
  Scouts(const Scouts&) = delete;
  Scouts& operator=(const Scouts&) = delete;
  ~Scouts();

  // Nothing where no scout can be had: too many did not come back.
  std::optional<Errand> send(ScoutWork work, std::span<const std::byte> request, std::span<const int> fds = {});
  // The one answer to a request about process `pid` (0: about none), waited for; nothing where it did not come, this
  // process has lately not answered, or too much time went by lately in waiting for others that did not.
  std::optional<ScoutMessage> ask(std::uint32_t pid, ScoutWork work, std::span<const std::byte> request,
                                  std::span<const int> fds = {});

  // A process that did not answer after `waited_ns`: it is let be for many times as long, and longer each time.
  void tell_silent(std::uint32_t pid, std::uint64_t waited_ns);
  [[nodiscard]] bool is_let_be(std::uint32_t pid) const;
  // One that did not answer, and is asked again for all that.
  void note_silent(std::uint32_t pid) { news_.push_back(pid); }

  // Processes that did not answer since the last call, once for each time; 0: it was about none.
  std::vector<std::uint32_t> take_silent() { return std::exchange(news_, {}); }
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
  void give_up(Errand::Scout scout);
  std::size_t count_lost();
  [[nodiscard]] int patience_ms() const;
  [[nodiscard]] double debt_left_ms() const;

  pid_t keeper_pid_ = -1;
  UniqueFd keeper_;
  std::list<Errand::Scout> idle_;
  std::list<UniqueFd> lost_;  // pidfds of those that were killed
  std::unordered_map<std::uint32_t, Silence> silent_;
  double debt_ms_ = 0;  // waited for nothing; forgotten at a tenth of the time that passes
  std::uint64_t debt_ns_ = 0;
  std::vector<std::uint32_t> news_;
};

// As Scouts::ask; without scouts, the work is done here.
std::optional<ScoutMessage> ask(Scouts* scouts, std::uint32_t pid, ScoutWork work, std::span<const std::byte> request,
                                std::span<const int> fds = {});
// Runs the work here: its answers.
std::vector<ScoutMessage> run_here(ScoutWork work, std::span<const std::byte> request, std::span<const int> fds = {});

// For requests and answers: plain data and runs of bytes, one behind the other.
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

// Of what has no more, zeroes and nothing.
class ScoutReader {
 public:
  explicit ScoutReader(std::span<const std::byte> bytes) : rest_(bytes) {}
  template <typename T>
  T get() {
    T value{};
    if (rest_.size() < sizeof(value)) {
      rest_ = {};
      return value;
    }
    std::memcpy(static_cast<void*>(&value), rest_.data(), sizeof(value));
    rest_ = rest_.subspan(sizeof(value));
    return value;
  }
  std::span<const std::byte> get_bytes() {
    const auto size = get<std::uint64_t>();
    const auto bytes = rest_.first(std::min<std::uint64_t>(size, rest_.size()));
    rest_ = rest_.subspan(bytes.size());
    return bytes;
  }
  std::string get_text() {
    const auto bytes = get_bytes();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  [[nodiscard]] bool empty() const { return rest_.empty(); }

 private:
  std::span<const std::byte> rest_;
};

// Whether a signal that ends the recording waits: SIGINT, SIGTERM, SIGQUIT or SIGHUP, which are blocked meanwhile.
[[nodiscard]] bool end_is_asked_for();

}  // namespace uscope::tracer
