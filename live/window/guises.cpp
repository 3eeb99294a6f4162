// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "live/window/guises.h"

#include <string_view>
#include <tuple>

#include "trace/raw_record.h"

namespace uscope::live {

void Guises::take(const usc_guise& record) {
  guises_[trace::ImageId(record.guise)] = {trace::TaskId(record.head.task), trace::ImageId(record.image),
                                           record.head.time, record.uid,
                                           std::string(trace::fixed_text(record.name, sizeof(record.name)))};
}

const Guises::Guise* Guises::find(trace::ImageId serial) const {
  const auto at = guises_.find(serial);
  return at == guises_.end() ? nullptr : &at->second;
}

trace::ImageId Guises::image_of(trace::ImageId serial) const {
  const Guise* guise = find(serial);
  return guise == nullptr ? serial : guise->image;
}

void Guises::forget(std::uint64_t before_ns, const std::set<trace::ImageId>& in_use,
                    const std::function<bool(trace::TaskId)>& known) {
  std::map<trace::TaskId, std::set<std::uint64_t>> former;  // the last times of each task before then
  for (const auto& [serial, guise] : guises_) {
    if (guise.time >= before_ns) continue;
    auto& times = former[guise.task];
    times.insert(guise.time);
    if (times.size() > kFormerNames) times.erase(times.begin());
  }
  std::erase_if(guises_, [&](const auto& entry) {
    const auto& [serial, guise] = entry;
    if (in_use.count(serial) != 0) return false;
    return !known(guise.task) || (guise.time < before_ns && guise.time < *former[guise.task].begin());
  });
}

std::unordered_map<trace::ImageId, trace::ImageId> Guises::firsts() const {
  std::unordered_map<trace::ImageId, trace::ImageId> firsts;
  std::map<std::tuple<trace::TaskId, trace::ImageId, std::uint32_t, std::string_view>, trace::ImageId> known;
  for (const auto& [serial, guise] : guises_) {
    const auto [at, is_new] = known.try_emplace({guise.task, guise.image, guise.uid, guise.name}, serial);
    if (!is_new) firsts.emplace(serial, at->second);
  }
  return firsts;
}

std::unordered_map<trace::ImageId, trace::ImageId> Guises::merge_beyond_shares() {
  std::unordered_map<trace::ImageId, trace::ImageId> merged;
  if (guises_.size() <= kMostGuiseNames) return merged;
  std::map<trace::TaskId, std::size_t> counts;
  for (const auto& [serial, guise] : guises_) counts[guise.task] = 0;
  const std::size_t share = std::max(kFormerNames, kMostGuiseNames / counts.size());
  std::map<std::tuple<trace::TaskId, trace::ImageId, std::uint32_t>, trace::ImageId> known;
  for (auto& [serial, guise] : guises_) {
    if (++counts[guise.task] <= share) continue;
    const trace::ImageId first = known.try_emplace({guise.task, guise.image, guise.uid}, serial).first->second;
    if (first != serial || guise.name != kNoName) merged.emplace(serial, first);
    guise.name = kNoName;
  }
  return merged;
}

}  // namespace uscope::live
