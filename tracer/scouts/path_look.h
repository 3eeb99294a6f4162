// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which files paths lead to now, again and again. A scout looks: a file server on the way may not answer. A file is
// opened only when its path leads to another one than at the look before, or if it was changed. A file on FUSE is not
// opened.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/regular_file.h"
#include "support/unique_fd.h"
#include "tracer/scouts/scouts.h"

namespace uscope::tracer {

class PathLook {
 public:
  struct Stamp {
    FileIdentity file;
    std::int64_t changed_s = 0;  // ctime
    std::int64_t changed_ns = 0;
    bool operator==(const Stamp&) const = default;
  };
  struct News {
    std::size_t path = 0;  // in the order of add()
    UniqueFd fd;           // of the file that it leads to; empty: of none that could be opened
  };

  // Without scouts, go_on() does all of it on the caller's thread.
  explicit PathLook(Scouts* scouts) : scouts_(scouts) {}

  void add(std::string path) { paths_.push_back({std::move(path), {}}); }
  [[nodiscard]] const std::string& path(std::size_t number) const { return paths_[number].text; }
  [[nodiscard]] std::size_t count() const { return paths_.size(); }
  // Begins a look, or goes on with one, without waiting. Returns true when it is over.
  bool go_on();
  // Of the look that is over; once.
  std::vector<News> take() { return std::exchange(news_, {}); }

 private:
  struct Path {
    std::string text;
    Stamp stamp;  // as of the last look
  };
  [[nodiscard]] std::vector<std::byte> request() const;
  void add(ScoutMessage& message);

  Scouts* scouts_;
  std::vector<Path> paths_;
  std::optional<Errand> errand_;
  std::vector<News> news_;
};

}  // namespace uscope::tracer
