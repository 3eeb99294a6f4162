// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One path in several mount namespaces may lead to several files. The kernel side says which file an opening call
// found, from the first opening on in another namespace than the tracer's (USC_STRING_OPENED). A path has a tag in each
// namespace: paths with one tag lead to one file, as far as is known. The tag is 0 in the tracer's own namespace, and
// where nothing was opened by the path; in another one it is that namespace's inode, unless the same file was found
// there as in a namespace before. What replaces a file at its path is the same object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/ids.h"

namespace uscope::descriptors {

struct FoundFile {
  std::uint64_t dev = 0;
  std::uint64_t ino = 0;
  bool operator==(const FoundFile&) const = default;
};

class MountSpaces {
 public:
  static constexpr std::size_t kMostPaths = std::size_t{1} << 16;  // further ones have no tags
  static constexpr std::size_t kMostOfPath = 64;

  void set_home(std::uint32_t space) { home_ = space; }
  [[nodiscard]] bool is_home(std::uint32_t space) const { return space == home_; }
  // A file that some process maps as code: if there is no other one of its name, it is the same in every namespace.
  void know(std::string_view path, const FoundFile& file);
  [[nodiscard]] bool empty() const { return of_process_.empty(); }

  // A process has opened this file by an absolute path in this namespace. Returns the path's tag there.
  std::uint32_t note(trace::ProcessId process, const std::string& path, std::uint32_t space, const FoundFile& file);
  [[nodiscard]] std::uint32_t tag_of(const std::string& path, std::uint32_t space) const;
  // The namespace in which a process opened a file last; 0: not known.
  [[nodiscard]] std::uint32_t space_of(trace::ProcessId process) const;

 private:
  struct Place {
    std::uint32_t space = 0;
    std::uint32_t tag = 0;
    FoundFile file;
  };

  [[nodiscard]] bool is_everywhere(const FoundFile& file, std::string_view path) const;

  std::uint32_t home_ = 0;
  std::unordered_map<std::string, std::optional<FoundFile>> mapped_;  // by base name; nothing: there are several
  std::unordered_map<std::string, std::vector<Place>> places_;
  std::unordered_map<trace::ProcessId, std::uint32_t> of_process_;
};

}  // namespace uscope::descriptors
