// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "descriptors/mount_spaces.h"

#include <algorithm>

#include "support/text.h"

namespace uscope::descriptors {

void MountSpaces::know(std::string_view path, const FoundFile& file) {
  const auto [known, is_new] = mapped_.try_emplace(std::string(base_name(path)), file);
  if (!is_new && known->second != file) known->second.reset();
}

bool MountSpaces::is_everywhere(const FoundFile& file, std::string_view path) const {
  const auto known = mapped_.find(std::string(base_name(path)));
  return known != mapped_.end() && known->second == file;
}

std::uint32_t MountSpaces::note(trace::ProcessId process, const std::string& path, std::uint32_t space,
                                const FoundFile& file) {
  of_process_[process] = space;
  if (places_.size() >= kMostPaths && places_.count(path) == 0) return 0;
  std::vector<Place>& places = places_[path];
  const auto here =
      std::find_if(places.begin(), places.end(), [space](const Place& place) { return place.space == space; });
  if (here != places.end()) {
    here->file = file;
    return here->tag;
  }
  const auto same =
      std::find_if(places.begin(), places.end(), [&file](const Place& place) { return place.file == file; });
  std::uint32_t tag = space == home_ ? 0 : space;
  if (same != places.end())
    tag = same->tag;
  else if (is_everywhere(file, path))
    tag = 0;
  if (places.size() < kMostOfPath) places.push_back({space, tag, file});
  return tag;
}

std::uint32_t MountSpaces::tag_of(const std::string& path, std::uint32_t space) const {
  const auto at = places_.find(path);
  if (at == places_.end()) return 0;
  const auto here =
      std::find_if(at->second.begin(), at->second.end(), [space](const Place& place) { return place.space == space; });
  return here == at->second.end() ? 0 : here->tag;
}

std::uint32_t MountSpaces::space_of(trace::ProcessId process) const {
  const auto at = of_process_.find(process);
  return at == of_process_.end() ? 0 : at->second;
}

}  // namespace uscope::descriptors
