// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/elf/file_writes.h"

#include <cstdint>
#include <utility>

namespace uscope::symbolizer {
namespace {

std::pair<std::int64_t, std::int64_t> moment(const timespec& time) {
  return {time.tv_sec, time.tv_nsec};
}

std::pair<std::int64_t, std::int64_t> changed(const usc_file_key& key) {
  return {key.ctime_sec, std::int64_t{key.ctime_nsec}};
}

bool has_size(const struct stat& status, const usc_file_key& key) {
  return static_cast<std::uint64_t>(status.st_size) == key.size;
}

}  // namespace

bool is_untouched(const struct stat& status, const usc_file_key& key) {
  return has_size(status, key) && moment(status.st_ctim) == changed(key);
}

bool is_unwritten(const struct stat& status, const usc_file_key& key) {
  return has_size(status, key) && moment(status.st_mtim) <= changed(key);
}

}  // namespace uscope::symbolizer
