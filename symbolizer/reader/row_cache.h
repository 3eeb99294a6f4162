// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Keeps unwind rows on disk between runs, so that a file's tables are built once. A cache that cannot be used (no
// folder, an unsafe folder, a full disk) only costs time: rows are then built again. Several threads may call get() at
// once.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "support/result.h"
#include "symbolizer/reader/elf_reader.h"
#include "symbolizer/rows/row_builder.h"

namespace uscope::symbolizer {

// Counters since the cache was created.
struct RowCacheStats {
  std::uint64_t hits = 0;     // read from disk
  std::uint64_t shared = 0;   // equal to the table of another file that is still held
  std::uint64_t built = 0;    // not found, or found damaged
  std::uint64_t damaged = 0;  // found, but refused and removed
};

class RowCache {
 public:
  static constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20;

  // Creates `folder` (mode 0700) if it does not exist. It is used only if it is a folder, not a link, owned by root or
  // by this process's user, and writable by no other user; otherwise trouble() gives the reason. Above `most_bytes` the
  // least recently used entries are removed, when the first entry is written and then after each sixteenth of
  // `most_bytes`.
  explicit RowCache(std::string folder, std::uint64_t most_bytes = kMostBytes);

  // /var/cache/uscope for root; $XDG_CACHE_HOME/uscope or ~/.cache/uscope for others.
  [[nodiscard]] static std::string default_folder();

  // The rows of the file behind `fd` (read with pread; the caller keeps it), from the cache, or built by `reader` and
  // stored there. Files of one owner with equal rows share one table as long as it is held anywhere. `name` is for
  // messages.
  Result<std::shared_ptr<const UnwindTable>> get(int fd, const std::string& name, ElfReader& reader = direct_reader());
  Result<std::shared_ptr<const UnwindTable>> get(int fd, const std::string& name, FileReading& reading);

  // Call it only while no other thread is in get().
  [[nodiscard]] const RowCacheStats& stats() const { return stats_; }
  [[nodiscard]] const std::string& trouble() const { return trouble_; }  // empty: in use

 private:
  [[nodiscard]] std::string entry_path(const std::string& key) const;
  std::shared_ptr<const UnwindTable> find_held(const std::string& key);
  std::shared_ptr<const UnwindTable> hold(const std::string& key, std::shared_ptr<const UnwindTable> table);
  void count(std::uint64_t RowCacheStats::*what);
  Result<UnwindTable> load(const std::string& key, const Digest& digest, const std::string& name, FileReading& reading);
  bool read_entry(const std::string& path, UnwindTable& table);
  [[nodiscard]] std::uint64_t write_entry(const std::string& path, const UnwindTable& table) const;  // its bytes
  void trim_now_and_then(std::uint64_t written);
  void trim() const;

  std::string folder_;
  std::uint64_t most_bytes_;
  std::string trouble_;
  std::mutex guard_;              // protects all members below
  std::uint64_t until_trim_ = 0;  // bytes that may be written before the folder is scanned again
  RowCacheStats stats_;
  std::unordered_map<std::string, std::weak_ptr<const UnwindTable>> held_;  // by key
};

}  // namespace uscope::symbolizer
