// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Copies of other programs' files, one behind the other in one file of uscope's own. A file of somebody else is open
// only while it is read: as long as it is, its file system cannot be unmounted, and its space is not free once it is
// deleted. Many copies take one descriptor, and no memory but what the kernel caches.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "support/result.h"
#include "support/unique_fd.h"

namespace uscope {

// Returns a file in memory with so many bytes of another one; empty if they cannot be read.
[[nodiscard]] UniqueFd copy_to_memory(int fd, std::uint64_t offset, std::uint64_t bytes);

// One of the copies. Valid as long as it exists, also in a forked process.
class KeptCopy {
 public:
  KeptCopy(std::shared_ptr<const UniqueFd> all, std::uint64_t offset, std::uint64_t bytes)
      : all_(std::move(all)), offset_(offset), bytes_(bytes) {}

  // Returns a file in memory with the content; empty if there is no memory, or no descriptor.
  [[nodiscard]] UniqueFd open() const { return copy_to_memory(all_->get(), offset_, bytes_); }

  // Where it lies, for another process that gets the descriptor.
  [[nodiscard]] int all() const { return all_->get(); }
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  std::shared_ptr<const UniqueFd> all_;
  std::uint64_t offset_;
  std::uint64_t bytes_;
};

struct CopyLimits {
  std::uint64_t of_one = std::uint64_t{128} << 20;
  std::uint64_t of_all = std::uint64_t{512} << 20;
  std::uint64_t in_memory = std::uint64_t{64} << 20;  // in place of the former
  std::uint64_t share_of_free = 4;  // a copy takes at most this part of what is free where the copies are
};

// Usable by several threads at once.
class KeptCopies {
 public:
  // Opens an empty file for reading and writing that nobody else has; called for the first copy.
  using Begin = std::function<Result<UniqueFd>()>;

  // Without `begin` the copies are in memory.
  explicit KeptCopies(Begin begin = {}, CopyLimits limits = {}) : begin_(std::move(begin)), limits_(limits) {}

  // Copies what a file has now. Nothing if a limit is reached, or it cannot be read or written.
  [[nodiscard]] std::optional<KeptCopy> add(int fd);

 private:
  [[nodiscard]] std::optional<std::uint64_t> reserve(std::uint64_t bytes);
  void give_back(std::uint64_t offset, std::uint64_t bytes);

  Begin begin_;
  const CopyLimits limits_;
  std::mutex guard_;  // of all below
  bool begun_ = false;
  std::shared_ptr<const UniqueFd> all_;
  std::uint64_t end_ = 0;
};

}  // namespace uscope
