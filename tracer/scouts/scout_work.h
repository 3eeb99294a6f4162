// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The work of a scout (scouts.h): what it is asked, and how it answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/byte_reader.h"
#include "support/unique_fd.h"

namespace uscope::tracer {

struct ScoutMessage {
  std::vector<std::byte> bytes;
  std::vector<UniqueFd> fds;
};

// The interface of a scout's work. A scout ends with the tracer.
class ScoutDesk {
 public:
  virtual ~ScoutDesk() = default;
  [[nodiscard]] virtual ScoutMessage& request() = 0;
  // Called before a step that may not return; the tracer sees the last number (Errand::at).
  virtual void goes_to(std::uint32_t number) = 0;
  virtual void answer(std::span<const std::byte> bytes, std::span<const int> fds = {}) = 0;
  // This scout holds something whose release may block for ever: it does no further work after this.
  virtual void be_last() = 0;
};

using ScoutWork = void (*)(ScoutDesk& desk);

// Runs the work on the caller's thread, and returns its answers.
std::vector<ScoutMessage> run_here(ScoutWork work, std::span<const std::byte> request, std::span<const int> fds = {});

// For requests and answers: plain data and runs of bytes, one after the other.
class ScoutWriter {
 public:
  template <typename T>
  ScoutWriter& put(const T& value) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  ScoutWriter& put_bytes(std::span<const std::byte> bytes) {
    put(std::uint64_t{bytes.size()});
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  ScoutWriter& put_text(std::string_view text) { return put_bytes(std::as_bytes(std::span(text))); }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

// Reads them back; after the end, and after a run that is longer than what is left, it returns zeroes and empty runs.
class ScoutReader {
 public:
  explicit ScoutReader(std::span<const std::byte> bytes) : in_(bytes) {}
  template <typename T>
  T get() {
    return in_.fixed<T>();
  }
  std::span<const std::byte> get_bytes() { return std::as_bytes(in_.bytes(get<std::uint64_t>())); }
  std::string get_text() { return std::string(in_.text(get<std::uint64_t>())); }
  [[nodiscard]] bool empty() const { return in_.left() == 0; }

 private:
  ByteReader in_;
};

}  // namespace uscope::tracer
