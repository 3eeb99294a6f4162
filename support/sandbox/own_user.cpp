// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The first half of a draw collects what is taken, as ranges; the second subtracts it from what this user namespace
// has, and draws from the rest. Between draw and use only a process with CAP_SETUID over the number could take it, and
// would have to guess one in 2^31.
#include "support/sandbox/own_user.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <random>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "support/unique_fd.h"

namespace uscope {
namespace {

constexpr std::uint64_t kAll = std::uint64_t{1} << 32;
constexpr std::uint64_t kReserved = kAll - 65536;  // -1 is no number, and some systems have a nobody near it
constexpr std::uint64_t kUpperHalf = std::uint64_t{1} << 31;
constexpr std::array<IdRange, 3> kPreferred{{{kUpperHalf, kReserved}, {65536, kUpperHalf}, {1, 65534}}};

std::string text_of(int folder, const char* path) {
  const UniqueFd file(openat(folder, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  std::string text;
  std::array<char, 4096> part{};
  ssize_t got = 0;
  while (file && (got = read(file.get(), part.data(), part.size())) > 0)
    text.append(part.data(), static_cast<std::size_t>(got));
  return text;
}

std::vector<IdRange> joined(std::vector<IdRange> ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const IdRange& a, const IdRange& b) { return a.first < b.first; });
  std::vector<IdRange> out;
  for (const IdRange& range : ranges) {
    if (range.first >= range.end) continue;
    if (!out.empty() && range.first <= out.back().end)
      out.back().end = std::max(out.back().end, range.end);
    else
      out.push_back(range);
  }
  return out;
}

// What two lists of ranges have in common.
std::vector<IdRange> common(const std::vector<IdRange>& some, const std::vector<IdRange>& others) {
  std::vector<IdRange> out;
  for (const IdRange& one : some)
    for (const IdRange& other : others) {
      const IdRange both{std::max(one.first, other.first), std::min(one.end, other.end)};
      if (both.first < both.end) out.push_back(both);
    }
  return out;
}

std::vector<IdRange> complement(const std::vector<IdRange>& ranges) {
  std::vector<IdRange> out;
  std::uint64_t at = 0;
  for (const IdRange& range : ranges) {
    if (range.first > at) out.push_back({at, range.first});
    at = std::max(at, range.end);
  }
  if (at < kAll) out.push_back({at, kAll});
  return out;
}

void append(std::vector<IdRange>& to, const std::vector<IdRange>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

// A process in another user namespace can take any number that this maps. (If it maps all of them, in however many
// lines, root's is among them, and then no number is safe from it.)
void add_map(std::vector<IdRange>& taken, const std::string& map, const std::string& own) {
  if (map == own) return;
  for (const IdRange& range : joined(parse_id_map(map).outside))
    if (range.first > 0 || range.end < kReserved) taken.push_back(range);
}

// Empty if it cannot be told.
std::string user_namespace(int process) {
  std::array<char, 64> name{};
  const ssize_t length = readlinkat(process, "ns/user", name.data(), name.size());
  return length > 0 ? std::string(name.data(), static_cast<std::size_t>(length)) : "";
}

std::vector<IdRange> taken_by_processes(const std::string& users, const std::string& groups) {
  std::vector<IdRange> taken;
  std::set<std::string> known;  // user namespaces whose maps have been read
  const std::unique_ptr<DIR, int (*)(DIR*)> all(opendir("/proc"), closedir);
  while (const dirent* entry = all ? readdir(all.get()) : nullptr) {
    if (entry->d_name[0] < '0' || entry->d_name[0] > '9') continue;
    const UniqueFd process(openat(dirfd(all.get()), entry->d_name, O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!process) continue;
    append(taken, ids_in_status(text_of(process.get(), "status")));
    const std::string space = user_namespace(process.get());
    if (space.empty() || known.insert(space).second) {
      add_map(taken, text_of(process.get(), "uid_map"), users);
      add_map(taken, text_of(process.get(), "gid_map"), groups);
    }
    if (taken.size() > 65536) taken = joined(std::move(taken));
  }
  return taken;
}

std::uint32_t draw(const std::vector<IdRange>& free) {
  std::uint64_t count = 0;
  for (const IdRange& range : free) count += range.end - range.first;
  std::random_device random;
  std::uint64_t at = std::uniform_int_distribution<std::uint64_t>(0, count - 1)(random);
  for (const IdRange& range : free) {
    const std::uint64_t size = range.end - range.first;
    if (at < size) return static_cast<std::uint32_t>(range.first + at);
    at -= size;
  }
  return 0;
}

// Whether any thread, and not only a process's first one, has it as its real user: the kernel knows.
bool has_threads(std::uint32_t user) {
  errno = 0;
  return getpriority(PRIO_USER, user) != -1 || errno != ESRCH;
}

}  // namespace

IdMap parse_id_map(const std::string& text) {
  IdMap map;
  std::istringstream lines(text);
  std::uint64_t inside = 0;
  std::uint64_t outside = 0;
  std::uint64_t count = 0;
  while (lines >> inside >> outside >> count) {
    map.inside.push_back({inside, inside + count});
    map.outside.push_back({outside, outside + count});
  }
  return map;
}

std::vector<IdRange> ids_in_status(const std::string& status) {
  std::vector<IdRange> ids;
  for (const std::string_view name : {"\nUid:", "\nGid:", "\nGroups:"}) {
    const std::size_t at = status.find(name);
    if (at == std::string::npos) continue;
    const std::size_t begin = at + name.size();
    std::istringstream line(status.substr(begin, status.find('\n', begin) - begin));
    for (std::uint64_t id = 0; line >> id;) ids.push_back({id, id + 1});
  }
  return ids;
}

std::vector<IdRange> ids_given_away(const std::string& text) {
  std::vector<IdRange> ids;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    std::replace(line.begin(), line.end(), ':', ' ');
    std::istringstream numbers(line.substr(colon));
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    if (numbers >> first >> count) ids.push_back({first, first + count});
  }
  return ids;
}

std::vector<IdRange> free_ids(std::vector<IdRange> mapped, std::vector<IdRange> taken) {
  const std::vector<IdRange> left = common(joined(std::move(mapped)), complement(joined(std::move(taken))));
  for (const IdRange& preferred : kPreferred)
    if (std::vector<IdRange> free = common(left, {preferred}); !free.empty()) return free;
  return {};
}

Result<std::uint32_t> draw_own_user() {
  const std::string users = text_of(AT_FDCWD, "/proc/self/uid_map");
  const std::string groups = text_of(AT_FDCWD, "/proc/self/gid_map");
  std::vector<IdRange> taken = taken_by_processes(users, groups);
  append(taken, ids_given_away(text_of(AT_FDCWD, "/etc/subuid")));
  append(taken, ids_given_away(text_of(AT_FDCWD, "/etc/subgid")));
  const auto free = free_ids(common(parse_id_map(users).inside, parse_id_map(groups).inside), std::move(taken));
  constexpr int kDraws = 16;
  for (int i = 0; i < kDraws && !free.empty(); i++)
    if (const std::uint32_t user = draw(free); !has_threads(user)) return user;
  return Error{"this user namespace has no user number that no process uses, for the processes that read files",
               "map more numbers into it (/etc/subuid), or run uscope outside of it; it needs /proc, too"};
}

}  // namespace uscope
