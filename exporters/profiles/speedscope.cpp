// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// JSON has no order of keys, so the profiles come first, each from a pass of its own over the groups, and the frames
// that they have met come last. Within a profile the stacks are written as they come, and their weights are kept.
#include "exporters/profiles/speedscope.h"

#include <fmt/core.h>

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/read/stack_reader.h"
#include "exporters/missing.h"
#include "support/text.h"

namespace uscope::exporters {
namespace {

using Weight = std::function<std::uint64_t(const StackGroup&)>;

std::string json_text(const std::string& raw) {
  return nlohmann::json(printable(raw)).dump();
}

class SpeedscopeWriter {
 public:
  explicit SpeedscopeWriter(const Bytes& out) : out_(out) {}

  void write(const std::string& text) const { out_(text); }

  // The number of a frame by its name and file; no file for what is no code.
  std::size_t frame(const std::string& name, const std::string& file) {
    const auto [at, fresh] = numbers_.try_emplace({name, file}, numbers_.size());
    if (fresh)
      frames_ += (at->second == 0 ? "" : ",\n") +
                 (file.empty() ? fmt::format("{{\"name\":{}}}", json_text(name))
                               : fmt::format("{{\"name\":{},\"file\":{}}}", json_text(name), json_text(file)));
    return at->second;
  }

  [[nodiscard]] const std::string& frames() const { return frames_; }

 private:
  const Bytes& out_;
  std::map<std::pair<std::string, std::string>, std::size_t> numbers_;
  std::string frames_;  // as JSON
};

// One profile under construction. Of one without a weight nothing is written, but for the first.
class Profile {
 public:
  Profile(SpeedscopeWriter& writer, std::string name, const char* unit, bool& first)
      : writer_(writer), name_(std::move(name)), unit_(unit), first_(first) {}

  // `frames`: outermost first.
  void add(const std::vector<std::size_t>& frames, std::uint64_t weight) {
    if (weight == 0) return;
    if (weights_.empty()) begin();
    std::string text = weights_.empty() ? "[" : ",\n[";
    for (const std::size_t& number : frames) text += (&number == &frames.front() ? "" : ",") + std::to_string(number);
    writer_.write(text + "]");
    weights_.push_back(weight);
  }

  void finish() {
    if (weights_.empty() && !first_) return;
    if (weights_.empty()) begin();
    first_ = false;
    writer_.write("],\n\"weights\":[");
    for (std::size_t i = 0; i < weights_.size(); i++) writer_.write((i == 0 ? "" : ",") + std::to_string(weights_[i]));
    const std::uint64_t total = std::accumulate(weights_.begin(), weights_.end(), std::uint64_t{0});
    writer_.write(fmt::format("],\"startValue\":0,\"endValue\":{}}}", total));
  }

 private:
  void begin() {
    writer_.write(fmt::format("{}{{\"type\":\"sampled\",\"name\":{},\"unit\":\"{}\",\"samples\":[\n",
                              first_ ? "" : ",\n", json_text(name_), unit_));
  }

  SpeedscopeWriter& writer_;
  std::string name_;
  const char* unit_;
  bool& first_;
  std::vector<std::uint64_t> weights_;
};

class Groups {
 public:
  Groups(const store::Database& database, const analyzer::Catalog& catalog, const ProfileOptions& options,
         analyzer::StackReader stacks, SpeedscopeWriter& writer)
      : database_(database), catalog_(catalog), options_(options), stacks_(std::move(stacks)), writer_(writer) {}

  Result<ProfileTotals> add_all(Profile& profile, const Weight& weight) {
    ProfileTotals totals;
    auto done = for_each_group(database_, catalog_, options_.filter, options_.levels,
                               [&](const StackGroup& group) -> Result<void> {
                                 totals.events += group.events;
                                 totals.without_time += group.events - group.timed;
                                 if (weight(group) == 0) return {};
                                 auto frames = frames_of(group);
                                 if (!frames) return frames.error();
                                 profile.add(*frames, weight(group));
                                 return {};
                               });
    if (!done) return done.error();
    return totals;
  }

 private:
  // Outermost first.
  Result<std::vector<std::size_t>> frames_of(const StackGroup& group) {
    std::vector<std::size_t> out;
    const LevelNames names(catalog_);
    names.before(group, options_.levels,
                 [&](const char*, const std::string& name) { out.push_back(writer_.frame(name, "")); });
    if (const std::string mark = group.mark(); !mark.empty()) out.push_back(writer_.frame(mark, ""));
    if (group.stack) {
      auto read = stacks_.frames(*group.stack);
      if (!read) return read.error();
      for (auto frame = (*read)->rbegin(); frame != (*read)->rend(); ++frame)
        out.push_back(writer_.frame(frame->function, frame->file.empty() ? frame->module : frame->file));
    }
    if (const std::string call = names.behind(group, options_.levels); !call.empty())
      out.push_back(writer_.frame(call, ""));
    return out;
  }

  const store::Database& database_;
  const analyzer::Catalog& catalog_;
  const ProfileOptions& options_;
  analyzer::StackReader stacks_;
  SpeedscopeWriter& writer_;
};

}  // namespace

Result<ProfileTotals> write_speedscope(const store::Database& database, const analyzer::Catalog& catalog,
                                       const ProfileOptions& options, const Bytes& out) {
  auto stacks = analyzer::StackReader::create(database);
  if (!stacks) return stacks.error();
  auto missing = missing_by_cause(database);
  if (!missing) return missing.error();
  SpeedscopeWriter writer(out);
  Groups groups(database, catalog, options, std::move(*stacks), writer);
  std::string name = recording_text(catalog);
  if (!missing->empty()) name += " (INCOMPLETE: see the profile \"lost\")";
  writer.write(
      fmt::format("{{\"$schema\":\"https://www.speedscope.app/"
                  "file-format-schema.json\",\"exporter\":\"uscope\",\"name\":{},\n\"profiles\":[",
                  json_text(name)));
  bool first = true;
  Profile events(writer, "events", "none", first);
  auto totals = groups.add_all(events, [](const StackGroup& group) { return group.events; });
  if (!totals) return totals.error();
  events.finish();
  for (const TimeOf time : times_of(catalog)) {
    Profile profile(writer, time_name(time).words, "nanoseconds", first);
    auto done = groups.add_all(
        profile, [time](const StackGroup& group) { return group.time_ns.at(static_cast<std::size_t>(time)); });
    if (!done) return done.error();
    profile.finish();
  }
  Profile lost(writer, "lost", "none", first);
  for (const Missing& one : *missing) lost.add({writer.frame(one.text(), "")}, one.count);
  lost.finish();
  writer.write("],\n\"shared\":{\"frames\":[" + writer.frames() + "]}}\n");
  return *totals;
}

}  // namespace uscope::exporters
