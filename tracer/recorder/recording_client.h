// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The interface of a recording's client: what the recorder tells it, and what it asks of the recorder after each round.
//
// All functions are called by the thread that records. One that waits delays the rings' reader, and records are lost.
// A client overrides what it needs. Something new that clients may ask for is one more field of RoundRequests.
#pragma once

#include <poll.h>

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "trace/ids.h"
#include "tracer/collect/figures.h"
#include "tracer/process/name_search.h"

namespace uscope::tracer {

class CompareObserver;  // tracer/walk/verifier.h
class RecordObserver;   // tracer/collect/observer.h
class StallCheck;       // tracer/recorder/stall_watch.h

// What ran already when tracing began.
struct FoundRunning {
  std::uint64_t threads = 0;         // that are traced
  std::vector<MissingName> missing;  // names (--app) that no process has
};

// What a client asks for after a round. The recorder does all of it, in the order of the fields, before the next round.
struct RoundRequests {
  bool send_sums = false;      // send what the query (usc_config) has summed to the observer; then on_sums_sent()
  bool resend_stacks = false;  // send each stack again when it occurs again; then on_stacks_resent()
  bool record_losses = false;  // record what was lost, which else is done every second; then on_losses_recorded()
  bool end = false;            // end the recording: StopReason::kInterrupted
  // The next round begins at this time (CLOCK_MONOTONIC) at the latest, or when one of these descriptors is ready. The
  // recorder writes `revents` of the wait into `watched`, which must stay valid until the next after_round().
  std::uint64_t wake_ns = std::numeric_limits<std::uint64_t>::max();
  std::span<pollfd> watched = {};
};

class RecordingClient {
 public:
  RecordingClient() = default;
  RecordingClient(const RecordingClient&) = delete;
  RecordingClient& operator=(const RecordingClient&) = delete;
  virtual ~RecordingClient() = default;

  // Asked before anything else, once each. The objects must live as long as the recording; nullptr: nobody.
  virtual RecordObserver* observer() { return nullptr; }           // receives each event
  virtual CompareObserver* compare_observer() { return nullptr; }  // receives each comparison of --verify
  virtual StallCheck* stall_check() { return nullptr; }            // used if RecordOptions.stall_ns is set

  // The kernel side is in place, and nothing is traced yet.
  virtual void on_ready() {}
  // Processes that ran already are traced from now on.
  virtual void on_attached(const FoundRunning& /*found*/) {}
  // About four times a second, with the seconds since the start.
  virtual void on_status(const TraceFigures& /*now*/, double /*seconds*/) {}
  // A source of events sends only some of them from now on: a sentence.
  virtual void on_source_news(const std::string& /*news*/) {}
  // The command ended a while ago, and these processes that it started are still traced. Called once, pids in order.
  virtual void on_left_over(const std::vector<std::uint32_t>& /*pids*/) {}
  // The kernel side is about to be removed. Called again, after a round each, until it returns true.
  virtual bool on_ending() { return true; }

  // After each round of the collector, 40 ms apart or less.
  virtual RoundRequests after_round() { return {}; }
  // The observer has received all sums until now. Also called at the end of a recording with a query, for the last
  // time.
  virtual void on_sums_sent() {}
  // Calls that begin from now on name no stack below `first`. 0: the kernel side cannot send stacks again.
  virtual void on_stacks_resent(trace::StackId /*first*/) {}
  virtual void on_losses_recorded() {}
};

}  // namespace uscope::tracer
