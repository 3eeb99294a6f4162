// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The messages of a profile may stand in any order but that of the strings, whose numbers count them. So each sample is
// written as its group comes, after the strings, functions, mappings and locations that are new in it.
//
// Addresses are those of the modules' files, so that those of two modules overlap: a mapping names the file, and no
// range. Names are those of uscope, and pprof is told that it need not look for any.
#include "exporters/profiles/pprof.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/read/query.h"
#include "analyzer/read/stack_reader.h"
#include "exporters/missing.h"
#include "exporters/profiles/gzip.h"
#include "support/text.h"

namespace uscope::exporters {
namespace {

using analyzer::StackFrame;
using protozero::pbf_writer;

// Numbers of fields in profile.proto, by message.
namespace profile {
enum : protozero::pbf_tag_type {
  kSampleType = 1,
  kSample = 2,
  kMapping = 3,
  kLocation = 4,
  kFunction = 5,
  kString = 6,
  kTimeNanos = 9,
  kDurationNanos = 10,
  kComment = 13,
  kDefaultSampleType = 14
};
}
namespace value_type {
enum : protozero::pbf_tag_type { kType = 1, kUnit = 2 };
}
namespace sample {
enum : protozero::pbf_tag_type { kLocation = 1, kValue = 2, kLabel = 3 };
}
namespace label {
enum : protozero::pbf_tag_type { kKey = 1, kText = 2 };
}
namespace mapping {
enum : protozero::pbf_tag_type {
  kId = 1,
  kFile = 5,
  kBuildId = 6,
  kHasFunctions = 7,
  kHasFiles = 8,
  kHasLines = 9,
  kHasInlined = 10
};
}
namespace location {
enum : protozero::pbf_tag_type { kId = 1, kMapping = 2, kAddress = 3, kLine = 4 };
}
namespace line {
enum : protozero::pbf_tag_type { kFunction = 1, kLine = 2 };
}
namespace function {
enum : protozero::pbf_tag_type { kId = 1, kName = 2, kSystemName = 3, kFile = 4 };
}

class PprofWriter {
 public:
  PprofWriter(const Bytes& out, std::unordered_map<std::string, std::string> build_ids)
      : gzip_(out), build_ids_(std::move(build_ids)) {
    (void)string("");  // the format's first string
  }

  // Writes one message of the profile, which `fill` makes.
  template <typename Fill>
  void message(protozero::pbf_tag_type field, const Fill& fill) {
    body_.clear();
    pbf_writer inner(body_);
    fill(inner);
    std::string whole;
    pbf_writer(whole).add_message(field, body_);
    gzip_.write(whole);
  }

  void number(protozero::pbf_tag_type field, std::int64_t value) {
    std::string whole;
    pbf_writer(whole).add_int64(field, value);
    gzip_.write(whole);
  }

  // The number of a text, which is made safe to show.
  std::int64_t string(const std::string& raw) {
    const auto [at, fresh] = strings_.try_emplace(printable(raw), static_cast<std::int64_t>(strings_.size()));
    if (fresh) {
      std::string whole;
      pbf_writer(whole).add_string(profile::kString, at->first);
      gzip_.write(whole);
    }
    return at->second;
  }

  // Makes this module the profile's first, which pprof takes for the program.
  void program(const std::string& module) { (void)mapping_of(module); }

  // A place that is no code: `[no stack]`.
  std::uint64_t words_location(const std::string& words) { return location_of({"", 0, {{words, "", 0}}}); }

  // The place that is one physical frame: the calls inlined there, innermost first, and the function.
  std::uint64_t frame_location(const std::vector<StackFrame>& frames, std::size_t first, std::size_t end) {
    std::vector<Line> lines;
    for (std::size_t i = first; i < end; i++) lines.push_back({frames[i].function, frames[i].file, frames[i].line});
    const StackFrame& frame = frames[first];
    return location_of({frame.module, static_cast<std::uint64_t>(frame.rel_pc), std::move(lines)});
  }

  void finish() { gzip_.finish(); }

 private:
  struct Line {
    std::string function;
    std::string file;
    std::int64_t line = 0;
    auto operator<=>(const Line&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 sees a pointer
  };
  // One address can have several lists of lines: where a thread is and where a call returns to are looked up one byte
  // apart, and code can take the place of other code.
  struct Place {
    std::string module;
    std::uint64_t address = 0;
    std::vector<Line> lines;
    auto operator<=>(const Place&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 sees a pointer
  };

  std::uint64_t location_of(const Place& place) {
    const auto [at, fresh] = locations_.try_emplace(place, locations_.size() + 1);
    const std::uint64_t id = at->second;
    if (!fresh) return id;
    const std::uint64_t of_mapping = mapping_of(place.module);
    std::vector<std::pair<std::uint64_t, std::int64_t>> numbers;
    numbers.reserve(place.lines.size());
    for (const Line& one : place.lines) numbers.emplace_back(function_of(one), one.line);
    message(profile::kLocation, [&](pbf_writer& out) {
      out.add_uint64(location::kId, id);
      if (of_mapping != 0) out.add_uint64(location::kMapping, of_mapping);
      out.add_uint64(location::kAddress, place.address);
      for (const auto& [function_id, number] : numbers) {
        pbf_writer inner(out, location::kLine);
        inner.add_uint64(line::kFunction, function_id);
        inner.add_int64(line::kLine, number);
      }
    });
    return id;
  }

  std::uint64_t function_of(const Line& one) {
    const auto key = std::make_pair(string(one.function), string(one.file));
    const auto [at, fresh] = functions_.try_emplace(key, functions_.size() + 1);
    const std::uint64_t id = at->second;
    if (fresh)
      message(profile::kFunction, [&](pbf_writer& out) {
        out.add_uint64(function::kId, id);
        out.add_int64(function::kName, key.first);
        out.add_int64(function::kSystemName, key.first);
        out.add_int64(function::kFile, key.second);
      });
    return id;
  }

  std::uint64_t mapping_of(const std::string& module) {
    if (module.empty()) return 0;
    const auto [at, fresh] = mappings_.try_emplace(module, mappings_.size() + 1);
    const std::uint64_t id = at->second;
    if (!fresh) return id;
    const auto found = build_ids_.find(module);
    const std::int64_t file = string(module);
    const std::int64_t build_id = string(found == build_ids_.end() ? "" : found->second);
    message(profile::kMapping, [&](pbf_writer& out) {
      out.add_uint64(mapping::kId, id);
      out.add_int64(mapping::kFile, file);
      out.add_int64(mapping::kBuildId, build_id);
      for (const auto has : {mapping::kHasFunctions, mapping::kHasFiles, mapping::kHasLines, mapping::kHasInlined})
        out.add_bool(has, true);
    });
    return id;
  }

  Gzip gzip_;
  std::string body_;
  std::unordered_map<std::string, std::string> build_ids_;  // by path
  std::unordered_map<std::string, std::int64_t> strings_;
  std::map<Place, std::uint64_t> locations_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint64_t> functions_;
  std::unordered_map<std::string, std::uint64_t> mappings_;
};

// By path; of paths that are those of several files, none.
Result<std::unordered_map<std::string, std::string>> read_build_ids(const store::Database& database) {
  std::unordered_map<std::string, std::string> out;
  auto done = analyzer::each_row(
      database,
      "SELECT path, min(build_id) FROM module GROUP BY path HAVING count(*) = 1 AND min(build_id) IS NOT NULL",
      [&](const analyzer::SqlRow& row) { out.emplace(analyzer::text(row, 0), analyzer::text(row, 1)); });
  if (!done) return done.error();
  return out;
}

// Innermost first, as the format wants them.
Result<std::vector<std::uint64_t>> locations_of(PprofWriter& writer, analyzer::StackReader& stacks,
                                                const StackGroup& group) {
  std::vector<std::uint64_t> out;
  if (group.stack) {
    auto read = stacks.frames(*group.stack);
    if (!read) return read.error();
    const std::vector<StackFrame>& frames = **read;
    for (std::size_t first = 0; first < frames.size();) {
      std::size_t end = first + 1;
      while (end < frames.size() && frames[end].position == frames[first].position) end++;
      out.push_back(writer.frame_location(frames, first, end));
      first = end;
    }
  }
  if (const std::string mark = group.mark(); !mark.empty()) out.push_back(writer.words_location(mark));
  return out;
}

void write_sample(PprofWriter& writer, const StackGroup& group, const std::vector<TimeOf>& times,
                  const std::vector<std::uint64_t>& locations,
                  const std::vector<std::pair<std::int64_t, std::int64_t>>& labels) {
  std::vector<std::int64_t> values{static_cast<std::int64_t>(group.events)};
  for (const TimeOf time : times)
    values.push_back(static_cast<std::int64_t>(group.time_ns.at(static_cast<std::size_t>(time))));
  writer.message(profile::kSample, [&](pbf_writer& out) {
    out.add_packed_uint64(sample::kLocation, locations.begin(), locations.end());
    out.add_packed_int64(sample::kValue, values.begin(), values.end());
    for (const auto& [key, text] : labels) {
      pbf_writer inner(out, sample::kLabel);
      inner.add_int64(label::kKey, key);
      inner.add_int64(label::kText, text);
    }
  });
}

void write_types(PprofWriter& writer, const std::vector<TimeOf>& times) {
  const auto type = [&](const char* name, const char* unit) {
    const std::int64_t kind = writer.string(name);
    const std::int64_t in = writer.string(unit);
    writer.message(profile::kSampleType, [&](pbf_writer& out) {
      out.add_int64(value_type::kType, kind);
      out.add_int64(value_type::kUnit, in);
    });
  };
  type("events", "count");
  for (const TimeOf time : times) type(time_name(time).key, "nanoseconds");
  const bool sampled = std::find(times.begin(), times.end(), TimeOf::kRunning) != times.end();
  const std::int64_t usual = writer.string(sampled ? time_name(TimeOf::kRunning).key : "events");
  writer.number(profile::kDefaultSampleType, usual);
}

Result<void> write_facts(PprofWriter& writer, const store::Database& database, const analyzer::Catalog& catalog,
                         const ProfileTotals& totals) {
  std::vector<std::string> lines{recording_text(catalog)};
  auto missing = missing_by_cause(database);
  if (!missing) return missing.error();
  for (const Missing& one : *missing) lines.push_back(one.text());
  if (missing->empty()) lines.emplace_back("nothing is lost");
  if (totals.without_time > 0)
    lines.push_back(
        fmt::format("{} of {} have no duration (never returned, or not calls), so they are not in the profiles of time",
                    group_digits(totals.without_time), plural(totals.events, "event")));
  for (const std::string& text : lines) writer.number(profile::kComment, writer.string(text));
  if (const auto began = catalog.since_1970(0)) writer.number(profile::kTimeNanos, *began);
  writer.number(profile::kDurationNanos, analyzer::difference(catalog.end_ns, catalog.start_ns));
  return {};
}

}  // namespace

Result<ProfileTotals> write_pprof(const store::Database& database, const analyzer::Catalog& catalog,
                                  const ProfileOptions& options, const Bytes& out) {
  auto build_ids = read_build_ids(database);
  if (!build_ids) return build_ids.error();
  auto stacks = analyzer::StackReader::create(database);
  if (!stacks) return stacks.error();
  const std::vector<TimeOf> times = times_of(catalog);
  PprofWriter writer(out, std::move(*build_ids));
  write_types(writer, times);
  auto named = analyzer::each_row(database, "SELECT path FROM module WHERE class = 'app' ORDER BY id LIMIT 1",
                                  [&](const analyzer::SqlRow& row) { writer.program(analyzer::text(row, 0)); });
  if (!named) return named.error();
  ProfileTotals totals;
  const LevelNames names(catalog);
  auto done =
      for_each_group(database, catalog, options.filter, options.levels, [&](const StackGroup& group) -> Result<void> {
        totals.events += group.events;
        totals.without_time += group.events - group.timed;
        auto locations = locations_of(writer, *stacks, group);
        if (!locations) return locations.error();
        std::vector<std::pair<std::int64_t, std::int64_t>> labels;
        names.before(group, options.levels, [&](const char* level, const std::string& text) {
          labels.emplace_back(writer.string(level), writer.string(text));
        });
        if (const std::string call = names.behind(group, options.levels); !call.empty())
          labels.emplace_back(writer.string("call"), writer.string(call));
        write_sample(writer, group, times, *locations, labels);
        return {};
      });
  if (!done) return done.error();
  if (auto facts = write_facts(writer, database, catalog, totals); !facts) return facts.error();
  writer.finish();
  return totals;
}

}  // namespace uscope::exporters
