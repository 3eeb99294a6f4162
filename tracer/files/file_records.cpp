// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/files/file_records.h"

#include <algorithm>
#include <span>

#include "support/clock.h"
#include "trace/record_builder.h"

namespace uscope::tracer {
namespace {

constexpr std::size_t kMostSegments = 64;
constexpr std::size_t kMostBuildIdBytes = 64;
constexpr std::size_t kMostPathBytes = 8192;
constexpr std::size_t kMostTroubleBytes = 1024;

template <typename Values>
auto first_of(const Values& values, std::size_t most) {
  return std::span(values).first(std::min<std::size_t>(values.size(), most));
}

}  // namespace

Result<void> write_file(trace::RecordSink& sink, trace::FileId serial, const File& file) {
  if (!file.announced) {
    usc_file known{};
    known.head.time = monotonic_ns();
    known.file = serial.value();
    known.key = file.key;
    known.links = 1;
    if (auto done = sink.append_own(known); !done) return done;
  }
  const auto segments = first_of(file.facts.exec_segments, kMostSegments);
  const auto build_id = first_of(file.facts.build_id, kMostBuildIdBytes);
  const auto path = first_of(file.path, kMostPathBytes);
  const auto trouble = first_of(file.trouble, kMostTroubleBytes);
  usc_file_info info{};
  info.head.time = monotonic_ns();
  info.file = serial.value();
  info.classes = file.classes;
  info.rows = file.figures.rows;
  info.rules = file.figures.rules;
  info.row_bytes = static_cast<__u32>(std::min<std::size_t>(file.figures.bytes, UINT32_MAX));
  info.segments = static_cast<__u16>(segments.size());
  info.build_id_bytes = static_cast<__u16>(build_id.size());
  info.path_bytes = static_cast<__u16>(path.size());
  info.error = static_cast<__u16>(file.open_error);
  info.trouble_bytes = static_cast<__u16>(trouble.size());
  info.state = static_cast<__u8>(file.state);
  trace::RecordBuilder<usc_file_info> record(info);
  for (const symbolizer::Segment& from : segments) {
    const usc_segment segment = {from.offset, from.size, from.address};
    record.add_values(std::span(&segment, 1));
  }
  record.add_values(build_id).add(path).add(trouble);
  return sink.append_own(std::move(record));
}

}  // namespace uscope::tracer
