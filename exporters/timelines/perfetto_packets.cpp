// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A trace is a list of packets, one message behind the other, so each is written as soon as it is made. All are of one
// sequence: texts that come again (interned data) get a number in it, and are written in the packet that first uses
// them.
#include "exporters/timelines/perfetto_packets.h"

#include <fmt/core.h>

#include <protozero/pbf_writer.hpp>

#include "support/text.h"

namespace uscope::exporters {
namespace {

using protozero::pbf_tag_type;
using protozero::pbf_writer;

constexpr std::uint64_t kSequence = 1;
constexpr std::uint32_t kClockRealtime = 1;
constexpr std::uint32_t kClockMonotonic = 3;

// Numbers of fields in perfetto's protos/perfetto/trace, by message.
constexpr pbf_tag_type kTracePacket = 1;
namespace trace_packet {
enum : pbf_tag_type {
  kClockSnapshot = 6,
  kTimestamp = 8,
  kSequenceId = 10,
  kTrackEvent = 11,
  kInternedData = 12,
  kSequenceFlags = 13,
  kDefaults = 59,
  kTrackDescriptor = 60,
  kPerfSample = 66,
  kFirstOnSequence = 87
};
constexpr std::uint32_t kStateCleared = 1;
constexpr std::uint32_t kNeedsState = 2;
}  // namespace trace_packet
namespace defaults {
enum : pbf_tag_type { kClockId = 58 };
}
namespace clock_snapshot {
enum : pbf_tag_type { kClock = 1, kPrimary = 2, kClockId = 1, kClockTime = 2 };
}
namespace track {
enum : pbf_tag_type { kUuid = 1, kName = 2, kProcess = 3, kThread = 4, kParent = 5 };
}
namespace process {
enum : pbf_tag_type { kPid = 1, kName = 6, kStart = 7 };
}
namespace thread {
enum : pbf_tag_type { kPid = 1, kTid = 2, kName = 5 };
}
namespace event {
enum : pbf_tag_type {
  kCategory = 3,
  kAnnotation = 4,
  kType = 9,
  kName = 10,
  kTrack = 11,
  kFlow = 47,
  kFlowEnd = 48,
  kStack = 56
};
enum Type : int { kBegin = 1, kEnd = 2, kInstant = 3 };
}  // namespace event
namespace annotation {
enum : pbf_tag_type { kName = 1, kInt = 4, kText = 6 };
}
namespace perf_sample {
enum : pbf_tag_type { kCpu = 1, kPid = 2, kTid = 3, kStack = 4, kMode = 5 };
enum Mode : int { kKernel = 1, kUser = 2 };
}  // namespace perf_sample
namespace interned_data {
enum : pbf_tag_type {
  kCategories = 1,
  kEventNames = 2,
  kAnnotationNames = 3,
  kFunctionNames = 5,
  kFrames = 6,
  kStacks = 7,
  kMappingPaths = 17,
  kSourcePaths = 18,
  kMappings = 19
};
enum Entry : pbf_tag_type { kId = 1, kText = 2 };
}  // namespace interned_data
namespace mapping_field {
enum : pbf_tag_type { kId = 1, kPath = 7 };
}
namespace frame_field {
enum : pbf_tag_type { kId = 1, kFunction = 2, kMapping = 3, kAddress = 4, kSource = 5, kLine = 6 };
}
namespace stack_field {
enum : pbf_tag_type { kId = 1, kFrame = 2 };
}

}  // namespace

void PerfettoPackets::begin(std::int64_t start_ns, std::optional<std::int64_t> since_1970_ns) {
  {
    pbf_writer out(body_);
    out.add_uint32(trace_packet::kSequenceFlags, trace_packet::kStateCleared);
    out.add_bool(trace_packet::kFirstOnSequence, true);
    {
      pbf_writer defaults_writer(out, trace_packet::kDefaults);
      defaults_writer.add_uint32(defaults::kClockId, kClockMonotonic);
    }
    pbf_writer snapshot(out, trace_packet::kClockSnapshot);
    const auto clock = [&](std::uint32_t id, std::int64_t time) {
      pbf_writer inner(snapshot, clock_snapshot::kClock);
      inner.add_uint32(clock_snapshot::kClockId, id);
      inner.add_uint64(clock_snapshot::kClockTime, static_cast<std::uint64_t>(time));
    };
    clock(kClockMonotonic, start_ns);
    if (since_1970_ns) clock(kClockRealtime, *since_1970_ns);
    snapshot.add_uint32(clock_snapshot::kPrimary, kClockMonotonic);
  }
  packet_without_time();
}

void PerfettoPackets::process_track(std::uint64_t track, const analyzer::Process& process, const std::string& name) {
  {
    pbf_writer out(body_);
    pbf_writer descriptor(out, trace_packet::kTrackDescriptor);
    descriptor.add_uint64(track::kUuid, track);
    pbf_writer inner(descriptor, track::kProcess);
    inner.add_int32(process::kPid, static_cast<std::int32_t>(process.pid));
    inner.add_string(process::kName, printable(name));
    if (process.start_ns) inner.add_int64(process::kStart, *process.start_ns);
  }
  packet_without_time();
}

void PerfettoPackets::thread_track(std::uint64_t track, std::uint64_t parent, std::int64_t pid,
                                   const analyzer::Thread& thread) {
  {
    pbf_writer out(body_);
    pbf_writer descriptor(out, trace_packet::kTrackDescriptor);
    descriptor.add_uint64(track::kUuid, track);
    descriptor.add_uint64(track::kParent, parent);
    pbf_writer inner(descriptor, track::kThread);
    inner.add_int32(thread::kPid, static_cast<std::int32_t>(pid));
    inner.add_int32(thread::kTid, static_cast<std::int32_t>(thread.tid));
    inner.add_string(thread::kName, printable(thread.name));
  }
  packet_without_time();
}

void PerfettoPackets::named_track(std::uint64_t track, std::uint64_t parent, const std::string& name) {
  {
    pbf_writer out(body_);
    pbf_writer descriptor(out, trace_packet::kTrackDescriptor);
    descriptor.add_uint64(track::kUuid, track);
    if (parent != 0) descriptor.add_uint64(track::kParent, parent);
    descriptor.add_string(track::kName, printable(name));
  }
  packet_without_time();
}

void PerfettoPackets::define_stack(analyzer::StackRowId stack, const std::vector<analyzer::StackFrame>& frames) {
  stacks_.insert(stack);
  std::vector<std::uint64_t> numbers;
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
    const std::uint64_t function = interned(function_names_, interned_data::kFunctionNames, printable(frame->function));
    const std::uint64_t module = mapping(frame->module);
    const std::uint64_t source =
        frame->file.empty() ? 0 : interned(source_paths_, interned_data::kSourcePaths, printable(frame->file));
    const auto [at, fresh] = frames_.try_emplace(
        fmt::format("{} {} {} {} {}", function, module, frame->rel_pc, source, frame->line), frames_.size() + 1);
    numbers.push_back(at->second);
    if (!fresh) continue;
    pbf_writer out(interned_);
    pbf_writer inner(out, interned_data::kFrames);
    inner.add_uint64(frame_field::kId, at->second);
    inner.add_uint64(frame_field::kFunction, function);
    inner.add_uint64(frame_field::kMapping, module);
    inner.add_uint64(frame_field::kAddress, static_cast<std::uint64_t>(frame->rel_pc));
    if (source != 0) inner.add_uint64(frame_field::kSource, source);
    if (frame->line > 0) inner.add_uint32(frame_field::kLine, static_cast<std::uint32_t>(frame->line));
  }
  pbf_writer out(interned_);
  pbf_writer inner(out, interned_data::kStacks);
  inner.add_uint64(stack_field::kId, static_cast<std::uint64_t>(stack.value()));
  for (const std::uint64_t number : numbers) inner.add_uint64(stack_field::kFrame, number);
}

void PerfettoPackets::begin_slice(const TrackEvent& event) {
  track_event(event, event::kBegin);
}

void PerfettoPackets::instant(const TrackEvent& event) {
  track_event(event, event::kInstant);
}

void PerfettoPackets::end_slice(std::uint64_t track, std::int64_t ts_ns) {
  {
    pbf_writer out(body_);
    pbf_writer inner(out, trace_packet::kTrackEvent);
    inner.add_int32(event::kType, event::kEnd);
    inner.add_uint64(event::kTrack, track);
  }
  packet(ts_ns);
}

void PerfettoPackets::sample(const PerfSample& sample) {
  {
    pbf_writer out(body_);
    pbf_writer inner(out, trace_packet::kPerfSample);
    inner.add_uint32(perf_sample::kCpu, static_cast<std::uint32_t>(sample.cpu));
    inner.add_uint32(perf_sample::kPid, static_cast<std::uint32_t>(sample.pid));
    inner.add_uint32(perf_sample::kTid, static_cast<std::uint32_t>(sample.tid));
    if (sample.stack) inner.add_uint64(perf_sample::kStack, static_cast<std::uint64_t>(sample.stack->value()));
    inner.add_int32(perf_sample::kMode, sample.kernel ? perf_sample::kKernel : perf_sample::kUser);
  }
  packet(sample.ts_ns);
}

void PerfettoPackets::track_event(const TrackEvent& event, int type) {
  const std::uint64_t name = interned(event_names_, interned_data::kEventNames, printable(event.name));
  const std::uint64_t category = interned(categories_, interned_data::kCategories, event.category);
  std::vector<std::uint64_t> names;
  for (const Annotation& one : event.annotations)
    names.push_back(interned(annotation_names_, interned_data::kAnnotationNames, one.name));
  {
    pbf_writer out(body_);
    pbf_writer inner(out, trace_packet::kTrackEvent);
    inner.add_int32(event::kType, type);
    inner.add_uint64(event::kTrack, event.track);
    inner.add_uint64(event::kCategory, category);
    inner.add_uint64(event::kName, name);
    for (std::size_t i = 0; i < names.size(); i++) {
      pbf_writer annotation_writer(inner, event::kAnnotation);
      annotation_writer.add_uint64(annotation::kName, names[i]);
      const Annotation& one = event.annotations[i];
      if (one.is_number)
        annotation_writer.add_int64(annotation::kInt, one.number);
      else
        annotation_writer.add_string(annotation::kText, printable(one.text));
    }
    if (event.flow != 0) inner.add_fixed64(event::kFlow, event.flow);
    if (event.flow_end != 0) inner.add_fixed64(event::kFlowEnd, event.flow_end);
    if (event.stack) inner.add_uint64(event::kStack, static_cast<std::uint64_t>(event.stack->value()));
  }
  packet(event.ts_ns);
}

void PerfettoPackets::packet(std::int64_t ts_ns) {
  pbf_writer out(body_);
  out.add_uint64(trace_packet::kTimestamp, static_cast<std::uint64_t>(ts_ns));
  out.add_uint32(trace_packet::kSequenceFlags, trace_packet::kNeedsState);
  packet_without_time();
}

void PerfettoPackets::packet_without_time() {
  pbf_writer out(body_);
  out.add_uint64(trace_packet::kSequenceId, kSequence);
  if (!interned_.empty()) out.add_message(trace_packet::kInternedData, interned_);
  std::string whole;
  pbf_writer(whole).add_message(kTracePacket, body_);
  out_(whole);
  body_.clear();
  interned_.clear();
}

std::uint64_t PerfettoPackets::interned(Numbers& numbers, std::uint32_t field, const std::string& text) {
  const auto [at, fresh] = numbers.try_emplace(text, numbers.size() + 1);
  if (fresh) {
    pbf_writer out(interned_);
    pbf_writer inner(out, field);
    inner.add_uint64(interned_data::kId, at->second);
    inner.add_string(interned_data::kText, text);
  }
  return at->second;
}

std::uint64_t PerfettoPackets::mapping(const std::string& module) {
  const auto [at, fresh] = mappings_.try_emplace(module, mappings_.size() + 1);
  if (fresh) {
    const std::uint64_t path = interned(mapping_paths_, interned_data::kMappingPaths, printable(module));
    pbf_writer out(interned_);
    pbf_writer inner(out, interned_data::kMappings);
    inner.add_uint64(mapping_field::kId, at->second);
    inner.add_uint64(mapping_field::kPath, path);
  }
  return at->second;
}

}  // namespace uscope::exporters
