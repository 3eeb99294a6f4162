// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/session/attached_trace.h"

#include <poll.h>

#include <string>
#include <utility>

#include "cli/session/confined_load.h"
#include "cli/session/interruption.h"
#include "cli/session/load_options.h"
#include "cli/session/record_target.h"
#include "cli/terminal/output.h"
#include "cli/terminal/status_line.h"
#include "support/private_file.h"
#include "support/process/child_work.h"
#include "tracer/recorder/recorder.h"

namespace uscope::cli {
namespace {

Result<int> load_and_use(int folder, UniqueFd trace, const std::vector<std::unique_ptr<tracer::File>>& files,
                         const std::function<Result<int>(const store::Database&)>& use) {
  constexpr const char* kName = "the trace of what runs";
  auto raw = trace::RawReader::open(std::move(trace), kName);
  if (!raw) return raw.error();
  auto store = store::OutputFile::nameless(folder);
  if (!store) return store.error();
  auto written = store->duplicate();
  if (!written) return written.error();
  auto temporary = open_sorting_folder(folder);
  if (!temporary) return temporary.error();
  StatusLine status(stderr);
  const ConfinedLoad how{kName, kName, {folder}, false};
  const auto loaded = load_confined(how, std::move(*raw), std::move(*store), load_options(files, status), status);
  if (!loaded) return loaded.error();
  const auto database = store::Database::open(std::move(*written), kName, std::move(*temporary));
  if (!database) return database.error();
  return use(*database);
}

// Notes what runs.
class Attaching : public tracer::RecordingClient {
 public:
  [[nodiscard]] const tracer::FoundRunning& running() const { return running_; }

 private:
  void on_attached(const tracer::FoundRunning& found) override { running_ = found; }

  tracer::FoundRunning running_;
};

// Reading a file may block the child for ever, so that it cannot even be killed: an interrupt ends this process all the
// same.
Result<int> wait_for_work(ChildWork& work) {
  constexpr int kPollMs = 10;
  constexpr int kPollsAfterInterrupt = 70;
  const Interruption noted;
  for (int left = kPollsAfterInterrupt; left > 0; left -= Interruption::signal() != 0 ? 1 : 0) {
    if (const auto code = work.poll()) return *code;
    poll(nullptr, 0, kPollMs);
  }
  work.abandon();
  return Error{"interrupted while the trace was read", ""};
}

}  // namespace

Result<int> with_attached_trace(const RecordVerbOptions& target,
                                const std::function<Result<int>(const store::Database&)>& use, int error_code) {
  auto folder = open_temporary_folder();
  if (!folder) return folder.error();
  auto raw = open_nameless(folder->get());
  if (!raw) return raw.error();
  auto recorder = recorder_options(target);
  if (!recorder) return recorder.error();
  recorder->raw = {"in the folder for temporary files", [&raw] { return duplicate(raw->get()); }, {}};
  recorder->copies = [&folder] { return open_nameless(folder->get()); };
  recorder->look_once = true;
  Attaching client;
  std::vector<std::unique_ptr<tracer::File>> files;
  const auto outcome = tracer::record(*recorder, client, &files);
  if (!outcome) return outcome.error();
  if (outcome->reason == tracer::StopReason::kWriteFailed)
    return Error{"tracing ended early: " + outcome->trouble, "set TMPDIR to a folder with room"};
  if (client.running().threads == 0) {
    const std::string near = near_misses(client.running().missing);
    return Error{"nothing of " + describe_target(target) + " runs", near.empty() ? "`ps -e` lists what does" : near};
  }
  // In a child process: loading gives up privileges for good.
  auto work = ChildWork::start([&] {
    const Result<int> used = load_and_use(folder->get(), std::move(*raw), files, use);
    if (used) return *used;
    print_error(used.error());
    return error_code;
  });
  if (!work) return work.error();
  return wait_for_work(*work);
}

}  // namespace uscope::cli
