// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How a recording ends: the last looks at what waits, what is in the rings still, the totals.
#include <poll.h>

#include <utility>

#include "support/clock.h"
#include "support/text.h"
#include "tracer/recorder/recording.h"

namespace uscope::tracer {
namespace {

// What a signal that ends the recording ended as well may have ended so long before the signal is seen here.
constexpr std::uint64_t kSignalSlackNs = 100'000'000;

// The longest wait for a file that is slow to read, after the user has ended tracing by a signal; and, however tracing
// ended, for memory that does not answer.
constexpr std::uint64_t kLongestEndNs = 700'000'000;
constexpr std::uint64_t kLongestLookNs = 5'000'000'000;

// One line for each sentence.
Result<void> write_source_news(trace::RecordSink& sink, const std::vector<std::string>& news) {
  std::string text;
  for (const std::string& sentence : news) text += (text.empty() ? "" : "\n") + trace_text(sentence);
  return text.empty() ? Result<void>() : sink.append_meta("source_news", text);
}

}  // namespace

// Whether the user waits for the end: another signal has come, or the first one came a while ago.
bool Recording::is_urgent() {
  return is_asked_again() || (outcome_.reason == StopReason::kInterrupted && monotonic_ns() - stop_ns_ > kLongestEndNs);
}

// Takes one snapshot of all futex waits. Memory that does not answer takes some of this time.
Result<void> Recording::scan_waits() {
  FutexWatch& futexes = collector_->futexes();
  if (auto done = futexes.scan_all(); !done) return done;
  const std::uint64_t began_ns = monotonic_ns();
  while (futexes.is_scanning()) {
    if (auto seen = collector_->round(); !seen) return seen.error();
    const std::uint64_t took_ns = monotonic_ns() - began_ns;
    if (is_asked_again() || took_ns > kLongestLookNs || (futexes.is_hanging() && is_urgent())) futexes.give_up();
    poll(nullptr, 0, kPendingWaitMs);
  }
  return {};
}

// Looks at what all threads wait in. When a command was interrupted and is gone, the look that was taken while it hung
// stays; when everything has ended by itself, no earlier look may.
Result<void> Recording::look_at_waits() {
  WaitWatch& waits = collector_->waits();
  if (outcome_.reason == StopReason::kFinished) {
    const bool stays = interrupted_once_ && hung_at_interrupt_;
    if (!waits.has_looked()) return {};
    if (!stays) return waits.write_empty();
    return sink_->append_meta("hung_until_ns", std::to_string(interrupted_ns_ - kSignalSlackNs));
  }
  // One that is under way may be the one of the attachment.
  if (auto done = finish_look(kLongestLookNs / 4); !done) return done;
  if (auto done = waits.begin(); !done) return done;
  return finish_look(kLongestLookNs);
}

// Waits for the look that is under way, if there is one; gives it up after this time.
Result<void> Recording::finish_look(std::uint64_t longest_ns) {
  WaitWatch& waits = collector_->waits();
  const std::uint64_t began_ns = monotonic_ns();
  while (waits.is_looking()) {
    if (auto seen = collector_->round(); !seen) return seen.error();
    if (is_asked_again() || monotonic_ns() - began_ns > longest_ns) waits.give_up();
    poll(nullptr, 0, kPendingWaitMs);
  }
  return {};
}

// Runs until nothing waits any more; with `all`, until nothing arrives any more either.
Result<void> Recording::empty_rings(bool all) {
  while (true) {
    if (is_urgent()) collector_->give_up_rows();
    const auto seen = collector_->round();
    if (!seen) return seen.error();
    const bool come = *seen != 0;
    if (!collector_->has_pending() && !(all && come)) return {};
    if (!come && !collector_->is_behind()) poll(nullptr, 0, kPendingWaitMs);
  }
}

// For how long traced processes ran, by the kernel's account: at least so long, since not all of them are asked.
std::uint64_t Recording::ran_ns() const {
  if (!command_) return cpu_times_.ran_ns();
  // Some of what the command has waited for may not have been traced.
  if (options_.config.target.follow != USC_FOLLOW_TREE) return 0;
  return outcome_.command ? outcome_.command->ran_ns
                          : CpuTimes::of_command(static_cast<std::uint32_t>(command_->pid()));
}

// No new call is recorded; calls in progress are listed before the last hooks are removed, so that a return in between
// completes them, and walks that wait for a mapping can still ask for it; then the rings are emptied.
Result<void> Recording::finish() {
  finishing_ = true;
  while (!client_.on_ending()) {
    if (auto seen = collector_->round(); !seen) return seen.error();
    poll(nullptr, 0, kPendingWaitMs);
  }
  const std::uint64_t closed_ns = monotonic_ns();
  if (options_.probes.sample_hz != 0)
    if (auto done = sink_->append_meta("ran_ns", std::to_string(ran_ns())); !done) return done;
  backend_->close_entries();
  if (!sink_->failed()) {
    if (auto tasks = collector_->write_open_calls(~std::uint64_t{0}); !tasks) return tasks.error();
    if (auto done = collector_->write_open_hits(); !done) return done;
    if (auto done = scan_waits(); !done) return done;
    if (auto done = look_at_waits(); !done) return done;
  }
  collector_->close();
  // The second round processes what was in the rings.
  if (auto seen = collector_->round(); !seen) return seen.error();
  if (auto done = empty_rings(false); !done) return done;
  backend_->detach();
  if (auto done = empty_rings(true); !done) return done;
  files_->drop_changed();
  if (config_.query.length != 0)
    if (auto sent = send_sums(); !sent) return sent;
  collector_->end_observation();
  tell_source_news();
  if (auto done = write_source_news(*sink_, source_news_); !done) return done;
  if (auto done = collector_->write_losses(); !done) return done;
  if (auto done = sink_->append_meta("duration_ns", std::to_string(monotonic_ns() - start_ns_)); !done) return done;
  if (auto done = sink_->append_meta("calls_until_ns", std::to_string(closed_ns)); !done) return done;
  const ClockOffsets now = clock_offsets();
  for (const auto& [key, value] : {std::pair("clock_set_ns", now.real - offsets_.real - (now.boot - offsets_.boot)),
                                   std::pair("suspended_ns", now.boot - offsets_.boot)})
    if (auto done = sink_->append_meta(key, std::to_string(value)); !done) return done;
  if (auto done = collector_->write_totals(); !done) return done;
  return sink_->flush();
}

}  // namespace uscope::tracer
