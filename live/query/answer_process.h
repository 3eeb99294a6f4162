// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The process that answers a live question: it loads the trace of each interval as any trace is loaded, and runs the
// question on the store, which is empty again when the next interval comes. A load takes longer than the rings may
// wait, and reads the files of traced programs, so the process has given up its privileges. Names of functions are kept
// as long as it lives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "live/query/interval_store.h"
#include "query/plan/plan.h"
#include "store/db/statement.h"
#include "support/process/child_work.h"
#include "support/result.h"
#include "support/unique_fd.h"
#include "symbolizer/names/frame_namer.h"

namespace uscope::query {

// All are called in the process.
struct AnswerWork {
  // Runs the question, which reads an interval's store, and tells the result. The text, if any, goes to the other
  // process.
  std::function<Result<std::string>(store::Statement&, const IntervalFacts&)> answer;
  // Nothing more will come.
  std::function<Result<void>()> end;
  // Something failed: the process ends then.
  std::function<void(const Error&)> tell;
  bool app_runtime = false;  // triggers are those of --app-runtime
};

class AnswerProcess {
 public:
  // Forks: called while there is no other thread, and before what the process is not to have is open. `folder` is for
  // files without names; it and `writable` are all that the process can write to.
  [[nodiscard]] static Result<std::unique_ptr<AnswerProcess>> start(const Plan& plan, int folder,
                                                                    std::vector<int> writable, AnswerWork work);

  // A file that stacks have frames in. Where nothing of it is held it is looked for by its path.
  void add_file(trace::FileId file, const symbolizer::HeldModule& held);
  // An interval to be answered. If too much waits already, its events are counted as lost, above the next one's answer.
  Result<void> send(ClosedInterval&& interval);
  // Nothing more will come.
  void end();

  // Becomes readable when an answer has come, or when it has ended; -1 once that is known.
  [[nodiscard]] int fd() const { return socket_.get(); }
  // Does what can be done now: call it often. `has_come`: fd() may be readable.
  void work(bool has_come = true);
  // The text of the last answer that has come, once.
  [[nodiscard]] std::optional<std::string> take_text() { return std::exchange(text_, std::nullopt); }
  // Whether it has ended, by itself or after end(), as far as work() has seen.
  [[nodiscard]] bool has_ended();
  // Whether its work failed, which AnswerWork.tell has told, or a signal ended it.
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] bool was_killed() const { return killed_; }
  // Ends it now, as it is.
  void abandon() { process_.abandon(); }

 private:
  struct Message {
    std::vector<std::byte> bytes;
    std::vector<UniqueFd> fds;
  };

  AnswerProcess(UniqueFd socket, ChildWork process, int folder)
      : process_(std::move(process)), socket_(std::move(socket)), folder_(folder) {}
  void send_more();
  void receive();

  std::deque<Message> unsent_;
  ChildWork process_;
  UniqueFd socket_;
  int folder_;
  std::uint64_t waiting_bytes_ = 0;  // of intervals that are not answered yet
  std::uint64_t missed_ = 0;         // events of intervals that were left out
  std::optional<std::string> text_;
  bool ended_ = false;
  bool failed_ = false;
  bool killed_ = false;
};

}  // namespace uscope::query
