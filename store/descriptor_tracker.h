// Follows what descriptors stand for through the events of a trace, which come in the order of entry. A descriptor is
// closed when its close is entered, and opened when its opening call returned; forks and execs come in between at their
// own times. What could be wrong is not said: nothing while records of calls are missing, nothing of a process that
// uses io_uring (whose operations open and close unseen), and nothing at all where calls that close are not recorded.
//
// A file's name is the path that it was opened by, made absolute where the working directory is known; links in it are
// not followed. What has no name is called as /proc calls it, or by its kind and address: "socket:[to
// inet:127.0.0.1:80]".
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "store/definitions.h"
#include "store/descriptor_table.h"
#include "store/event_order.h"
#include "store/string_table.h"
#include "support/redactor.h"

namespace uscope::store {

enum class DescriptorCall : std::uint8_t;

class DescriptorTracker {
 public:
  // What an argument, a descriptor, stood for when the call was entered.
  struct Named {
    int arg;
    std::int64_t string_id;
  };

  // Both must outlive this object.
  DescriptorTracker(const Definitions& definitions, StringTable& strings);

  // Takes the next event. `process` is its task's. What comes back is valid until the next call.
  Result<std::span<const Named>> see(const usc_event& event, std::uint32_t process,
                                     std::span<const OrderedString> strings);

 private:
  struct CallFacts {
    DescriptorCall call{};
    std::uint8_t descriptors = 0;  // bits of the arguments that are some
    int path = -1;                 // the argument that is the path to open
    int flags = -1;                // that has O_CLOEXEC
  };

  // Something that takes effect at a time of its own.
  struct Update {
    enum class Kind : std::uint8_t { kSet, kClose, kCloseFromProc, kFork, kExec, kBlind, kSee, kProc, kEnd } kind;
    std::uint64_t time = 0;
    std::uint64_t order = 0;  // of two at one time, the one that was met first
    std::uint32_t process = 0;
    std::uint32_t other = 0;  // kFork: the task that made it; kProc: its place
    int fd = 0;
    Descriptor descriptor{};
    bool operator>(const Update& later) const { return time != later.time ? time > later.time : order > later.order; }
  };

  void learn_calls();
  void plan(Update update);
  Result<void> apply_until(std::uint64_t time);
  Result<void> apply(const Update& update);
  void fork(const Update& update);
  Result<void> name_arguments(const usc_event& event, std::uint32_t process, const CallFacts& facts);
  void enter(const usc_event& event, std::uint32_t process, const CallFacts& facts);
  Result<void> leave(const usc_event& event, std::uint32_t process, const CallFacts& facts,
                     std::span<const OrderedString> strings);
  Result<void> leave_opening(const usc_event& event, std::uint32_t process, const CallFacts& facts,
                             std::span<const OrderedString> strings);
  Result<void> leave_socket(const usc_event& event, std::uint32_t process, const CallFacts& facts,
                            std::span<const OrderedString> strings);
  Result<void> leave_pair(const usc_event& event, std::uint32_t process, const CallFacts& facts,
                          std::span<const OrderedString> strings);
  void leave_copy(const usc_event& event, std::uint32_t process, const CallFacts& facts);
  Result<void> leave_directory(const usc_event& event, std::uint32_t process, const CallFacts& facts,
                               std::span<const OrderedString> strings);
  Result<void> open_as(const usc_event& event, std::uint32_t process, int fd, std::string_view name, bool cloexec);
  Result<std::string> absolute(const std::string& path, std::uint32_t process, int folder);
  [[nodiscard]] bool is_blind(std::uint32_t process) const;

  const Definitions& definitions_;
  StringTable& strings_;
  DescriptorTable table_;
  std::unordered_map<std::uint32_t, std::int64_t> folders_;  // working directories
  std::vector<CallFacts> facts_;                             // by ABI and number
  std::priority_queue<Update, std::vector<Update>, std::greater<>> updates_;
  std::uint64_t planned_ = 0;
  std::unordered_map<std::uint32_t, std::uint64_t> clone_flags_;  // of each task's last fork or clone
  std::multiset<std::uint32_t> blind_;                            // processes; 0: all
  std::uint64_t last_entry_ = 0;
  bool usable_ = true;
  Redactor redactor_;  // of names that are put together here
  std::vector<Named> named_;
};

}  // namespace uscope::store
