// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Names of functions while tracing, by a process of their own: reading a large binary's symbols takes seconds, the
// rings must be read meanwhile, and what traced programs have in their files is not read with a tracer's privileges.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "support/process/child_work.h"
#include "support/result.h"
#include "support/unique_fd.h"
#include "symbolizer/names/frame_namer.h"
#include "trace/ids.h"

namespace uscope::live {

struct LiveFunction {
  std::string name;
  trace::FunctionOrigin origin = trace::FunctionOrigin::kOwn;
  trace::FunctionRole role = trace::FunctionRole::kNone;
};

class LiveNames {
 public:
  // Inlined calls first, the physical function last; at least one.
  using Functions = std::vector<LiveFunction>;

  // Forks: called while there is no other thread, and before what the process is not to have is open. It gives up
  // privileges as loading does (support/sandbox/confine.h), and fails where it cannot.
  [[nodiscard]] static Result<std::unique_ptr<LiveNames>> start();

  // A file whose addresses may be asked for. Without a copy it is looked for by its path. All copies are in one file.
  void add_file(const symbolizer::ModuleRequest& module, const symbolizer::HeldModule& held);

  // The functions at an ELF address of a file that was added; null while they are not known yet, which they will be
  // soon. Valid as long as this object.
  const Functions* ask(trace::FileId file, std::uint64_t address, bool exact);

  // Until all that was asked for is known, or the time is over.
  void wait(std::chrono::milliseconds most);

  // Whether more names can become known, and what ended the process if not.
  [[nodiscard]] bool is_running() const { return static_cast<bool>(socket_); }
  [[nodiscard]] std::optional<Error> trouble();

 private:
  using NameKey = std::tuple<trace::FileId, std::uint64_t, bool>;
  struct Message {
    std::vector<std::byte> bytes;
    UniqueFd fd;  // may be empty
  };

  LiveNames(UniqueFd socket, ChildWork process) : process_(std::move(process)), socket_(std::move(socket)) {}
  void send();
  void receive();

  std::map<NameKey, Functions> known_;
  std::set<NameKey> asked_;
  std::deque<Message> unsent_;
  std::vector<std::byte> room_;  // for one answer
  ChildWork process_;
  UniqueFd socket_;  // closed first: the process then ends by itself; empty where it has ended
};

}  // namespace uscope::live
