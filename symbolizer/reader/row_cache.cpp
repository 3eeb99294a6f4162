// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One file for each key, named by the SHA-256 of everything that rows depend on. An entry is written under another name
// and renamed, so that it is there completely or not at all; it is used only after its own SHA-256 and check_rows()
// have passed. Limits: an entry's age is the time of its last use, so the oldest are dropped even if they are the most
// expensive to build; two writers of one entry both write it, and the later one stays.
#include "symbolizer/reader/row_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <vector>

#include "support/unique_fd.h"
#include "symbolizer/elf/sha256.h"
#include "symbolizer/reader/file_owner.h"
#include "symbolizer/rows/row_bytes.h"

namespace uscope::symbolizer {
namespace {

constexpr std::uint32_t kFormat = 18;  // changes with the layout below and with every change of a rule's meaning
constexpr std::uint64_t kMagic = 0x53574f5243535521;  // "!USCROWS"
constexpr std::uint64_t kMostEntryBytes = std::uint64_t{1} << 30;

constexpr const char* kSuffix = ".rows";

// An entry: this header, then rows, index and rules.
struct EntryHeader {
  std::uint64_t magic = kMagic;
  std::uint32_t format = kFormat;
  RowCounts counts;
  RowStats stats;
  Digest digest{};  // of the statistics and of everything after the header
};

std::string hex(const Digest& digest) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : digest) {
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

Digest content_digest(const UnwindTable& table) {
  Sha256 hash;
  hash.add(&table.stats, sizeof(table.stats));
  for (const auto part : parts_of(table)) hash.add(part.data(), part.size());
  return hash.finish();
}

bool read_whole(int fd, void* into, std::size_t bytes) {
  auto* at = static_cast<char*>(into);
  while (bytes > 0) {
    const ssize_t got = read(fd, at, bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

bool write_whole(int fd, const void* from, std::size_t bytes) {
  const auto* at = static_cast<const char*>(from);
  while (bytes > 0) {
    const ssize_t got = write(fd, at, bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

// Returns "" if the folder can be trusted.
std::string folder_trouble(const std::string& folder) {
  struct stat status {};
  if (lstat(folder.c_str(), &status) != 0) return "cannot be looked at: " + std::string(std::strerror(errno));
  if (!S_ISDIR(status.st_mode)) return "is not a folder";
  if (status.st_uid != 0 && status.st_uid != geteuid()) return "belongs to another user";
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "can be written by others";
  return "";
}

}  // namespace

std::string RowCache::entry_path(const std::string& key) const {
  return folder_ + "/" + key + kSuffix;
}

std::string RowCache::default_folder() {
  if (geteuid() == 0) return "/var/cache/uscope";
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0')
    return std::string(cache) + "/uscope";
  const char* home = std::getenv("HOME");
  return std::string(home != nullptr ? home : "/nonexistent") + "/.cache/uscope";
}

RowCache::RowCache(std::string folder, std::uint64_t most_bytes) : folder_(std::move(folder)), most_bytes_(most_bytes) {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::path(folder_).parent_path();
  if (!parent.empty()) std::filesystem::create_directories(parent, error);
  if (mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST)
    trouble_ = "cannot be made: " + std::string(std::strerror(errno));
  else
    trouble_ = folder_trouble(folder_);
}

Result<std::shared_ptr<const UnwindTable>> RowCache::get(int fd, const std::string& name, ElfReader& reader) {
  return get(fd, name, *reader.open(fd, name));
}

Result<std::shared_ptr<const UnwindTable>> RowCache::get(int fd, const std::string& name, FileReading& reading) {
  const auto digest = reading.digest();
  if (!digest) return digest.error();
  // A file that takes over its reader can make it report the digest of another file of the same owner.
  const std::string owner = owner_of(fd);
  Sha256 hash;
  hash.add(&kFormat, sizeof(kFormat));
  hash.add(digest->data(), digest->size());
  hash.add(owner.data(), owner.size());
  const std::string key = hex(hash.finish());
  if (auto table = find_held(key)) return table;
  auto loaded = load(key, *digest, name, reading);
  if (!loaded) return loaded.error();
  return hold(key, std::make_shared<const UnwindTable>(std::move(*loaded)));
}

std::shared_ptr<const UnwindTable> RowCache::find_held(const std::string& key) {
  const std::lock_guard lock(guard_);
  auto table = held_[key].lock();
  if (table) stats_.shared++;
  return table;
}

// Returns the table that another thread built for the same file in the meantime, if any.
std::shared_ptr<const UnwindTable> RowCache::hold(const std::string& key, std::shared_ptr<const UnwindTable> table) {
  const std::lock_guard lock(guard_);
  std::weak_ptr<const UnwindTable>& held = held_[key];
  if (auto other = held.lock()) return other;
  held = table;
  return table;
}

void RowCache::count(std::uint64_t RowCacheStats::*what) {
  const std::lock_guard lock(guard_);
  (stats_.*what)++;
}

Result<UnwindTable> RowCache::load(const std::string& key, const Digest& digest, const std::string& name,
                                   FileReading& reading) {
  UnwindTable table;
  if (trouble_.empty() && read_entry(entry_path(key), table)) {
    count(&RowCacheStats::hits);
    return table;
  }
  auto built = reading.rows(RowDetail::kStack);
  if (!built) return built;
  count(&RowCacheStats::built);
  // The file was written in the meantime: these rows may describe the new content, and would be stored for the old one.
  const auto still = reading.digest();
  if (!still) return still.error();
  if (*still != digest) return Error{name + ": changed while its unwind information was read", ""};
  if (trouble_.empty()) trim_now_and_then(write_entry(entry_path(key), *built));
  return built;
}

bool RowCache::read_entry(const std::string& path, UnwindTable& table) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd) return false;
  EntryHeader header;
  struct stat status {};
  bool good = fstat(fd.get(), &status) == 0 && read_whole(fd.get(), &header, sizeof(header)) &&
              header.magic == kMagic && header.format == kFormat;
  const std::uint64_t bytes = header.counts.bytes();
  good = good && bytes <= kMostEntryBytes && static_cast<std::uint64_t>(status.st_size) == sizeof(header) + bytes;
  if (good) {
    make_room(table, header.counts);
    table.stats = header.stats;
    for (const auto part : parts_of(table)) good = good && read_whole(fd.get(), part.data(), part.size());
    good = good && content_digest(table) == header.digest && check_rows(table);
  }
  if (!good) {
    count(&RowCacheStats::damaged);
    (void)unlink(path.c_str());
    table = {};
    return false;
  }
  (void)futimens(fd.get(), nullptr);  // trim() uses this time; no harm if it is not permitted
  return true;
}

std::uint64_t RowCache::write_entry(const std::string& path, const UnwindTable& table) const {
  std::string temporary = path + ".XXXXXX";
  const UniqueFd fd(mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd) return 0;
  EntryHeader header;
  header.counts = counts_of(table);
  header.stats = table.stats;
  header.digest = content_digest(table);
  bool whole = write_whole(fd.get(), &header, sizeof(header));
  for (const auto part : parts_of(table)) whole = whole && write_whole(fd.get(), part.data(), part.size());
  if (!whole || rename(temporary.c_str(), path.c_str()) != 0) (void)unlink(temporary.c_str());
  return sizeof(header) + header.counts.bytes();
}

// Not at each entry: for a program with a thousand new libraries, the folder would be scanned a thousand times.
void RowCache::trim_now_and_then(std::uint64_t written) {
  const std::lock_guard lock(guard_);
  if (written < until_trim_) {
    until_trim_ -= written;
    return;
  }
  trim();
  until_trim_ = most_bytes_ / 16;
}

void RowCache::trim() const {
  struct Entry {
    std::filesystem::path path;
    std::filesystem::file_time_type used;
    std::uint64_t bytes = 0;
  };
  std::vector<Entry> entries;
  std::uint64_t total = 0;
  std::error_code error;
  for (const auto& item : std::filesystem::directory_iterator(folder_, error)) {
    std::error_code trouble;
    // Entries, and incomplete ones of a killed writer; never files of others.
    if (item.path().filename().string().find(kSuffix) == std::string::npos) continue;
    const std::uint64_t bytes = item.file_size(trouble);
    if (trouble) continue;
    entries.push_back({item.path(), item.last_write_time(trouble), bytes});
    total += bytes;
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& left, const Entry& right) { return left.used < right.used; });
  for (const Entry& entry : entries) {
    if (total <= most_bytes_) break;
    if (std::filesystem::remove(entry.path, error)) total -= entry.bytes;
  }
}

}  // namespace uscope::symbolizer
