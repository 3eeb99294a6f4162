// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The names of the programs whose calls are printed while tracing. A call may name an image, or a process that
// inherited its first one, at any later time, so none is ever forgotten: each takes some 20 bytes, and each different
// name its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "store/model/flat_map.h"
#include "trace/ids.h"

namespace uscope::cli {

class ProgramNames {
 public:
  static constexpr std::size_t kMostNames = 65536;

  // `most`: so many different names; images with further ones have none.
  explicit ProgramNames(std::size_t most = kMostNames) : most_(most) {}

  // `bytes`: its name, as the program gave it.
  void define(trace::ImageId image, std::string_view bytes);
  // A process's image before its first exec that is seen; the first one that is given stays.
  void inherit(trace::ProcessId process, trace::ImageId image);

  // The name of an image, of a process's first one if `image` is none; "" if it is not known.
  [[nodiscard]] const std::string& of(trace::ImageId image, trace::ProcessId process) const;
  [[nodiscard]] bool knows(trace::ImageId image, trace::ProcessId process) const;

  // Whether there was a name too many.
  [[nodiscard]] bool is_full() const { return is_full_; }

 private:
  [[nodiscard]] std::uint32_t find(trace::ImageId image, trace::ProcessId process) const;

  std::size_t most_;
  bool is_full_ = false;
  std::unordered_map<std::string, std::uint32_t> numbers_;  // of the names, from 1
  std::vector<const std::string*> names_;                   // keys of numbers_
  store::FlatMap<trace::ImageId, std::uint32_t> images_;
  store::FlatMap<trace::ProcessId, trace::ImageId> first_;
};

}  // namespace uscope::cli
