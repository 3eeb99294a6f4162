// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Packets of a Perfetto trace: what is written, without what it means.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analyzer/read/catalog.h"
#include "analyzer/read/row_ids.h"
#include "analyzer/read/stack_reader.h"
#include "exporters/bytes.h"

namespace uscope::exporters {

// What is shown beside an event, by name. Names come from this code, values may come from traced programs.
struct Annotation {
  Annotation(const char* of, std::int64_t value) : name(of), number(value), is_number(true) {}
  Annotation(const char* of, std::string value) : name(of), text(std::move(value)) {}

  const char* name;
  std::string text;
  std::int64_t number = 0;
  bool is_number = false;
};
using Annotations = std::vector<Annotation>;

struct TrackEvent {
  std::uint64_t track = 0;
  std::int64_t ts_ns = 0;
  std::string name;
  const char* category = "";
  Annotations annotations;
  std::optional<analyzer::StackRowId> stack;  // that define_stack() has been told
  std::uint64_t flow = 0;                     // begins a flow; 0: none
  std::uint64_t flow_end = 0;                 // ends one
};

struct PerfSample {
  std::int64_t ts_ns = 0;
  std::int64_t pid = 0;
  std::int64_t tid = 0;
  std::int64_t cpu = 0;
  bool kernel = false;
  std::optional<analyzer::StackRowId> stack;
};

// Times are CLOCK_MONOTONIC. Texts are made safe to show. Memory grows with the number of distinct names of events,
// functions, places and stacks.
class PerfettoPackets {
 public:
  explicit PerfettoPackets(const Bytes& out) : out_(out) {}

  // The first packet: the clocks. `since_1970_ns`: the same moment; nullopt: not known.
  void begin(std::int64_t start_ns, std::optional<std::int64_t> since_1970_ns);

  void process_track(std::uint64_t track, const analyzer::Process& process, const std::string& name);
  void thread_track(std::uint64_t track, std::uint64_t parent, std::int64_t pid, const analyzer::Thread& thread);
  // A track of a process or, if `parent` is 0, of the whole trace.
  void named_track(std::uint64_t track, std::uint64_t parent, const std::string& name);

  // Whether define_stack() has been told of the stack.
  [[nodiscard]] bool knows(analyzer::StackRowId stack) const { return stacks_.count(stack) != 0; }
  // `frames`: innermost first, at least one.
  void define_stack(analyzer::StackRowId stack, const std::vector<analyzer::StackFrame>& frames);

  void begin_slice(const TrackEvent& event);
  void end_slice(std::uint64_t track, std::int64_t ts_ns);
  void instant(const TrackEvent& event);
  void sample(const PerfSample& sample);

 private:
  using Numbers = std::unordered_map<std::string, std::uint64_t>;
  void track_event(const TrackEvent& event, int type);
  // Makes a packet of what has been put into `body_`, with what is new among the interned data before it.
  void packet(std::int64_t ts_ns);
  void packet_without_time();
  std::uint64_t interned(Numbers& numbers, std::uint32_t field, const std::string& text);
  std::uint64_t mapping(const std::string& module);

  const Bytes& out_;
  std::string body_;
  std::string interned_;  // InternedData of the packet under construction
  Numbers event_names_;
  Numbers categories_;
  Numbers annotation_names_;
  Numbers function_names_;
  Numbers source_paths_;
  Numbers mapping_paths_;
  Numbers mappings_;
  std::unordered_map<std::string, std::uint64_t> frames_;
  std::unordered_set<analyzer::StackRowId> stacks_;
};

}  // namespace uscope::exporters
