// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The numbers by which records name things, each kind a type of its own: a task's number is no process's number, and
// neither is a pid. Records (include/uscope) hold plain integers; code that decodes a record makes ids of them, and
// code that writes one takes value(). 0 is no id. An id costs what its integer costs.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>

#include "uscope/record.h"

namespace uscope::trace {

// `Kind` is a tag that only tells the types apart. `Number` is the integer in which the id is held.
template <typename Kind, std::integral Number = std::uint32_t>
class Id {
 public:
  constexpr Id() = default;
  // Only from integers that fit, so that no id is cut to another one.
  template <std::integral From>
  requires(!std::same_as<From, bool> && sizeof(From) <= sizeof(Number)) explicit constexpr Id(From number)
      : number_(static_cast<Number>(number)) {}

  [[nodiscard]] constexpr Number value() const { return number_; }
  // True if this is an id.
  explicit constexpr operator bool() const { return number_ != 0; }
  friend constexpr auto operator<=>(Id, Id) = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 sees a pointer

  friend std::string to_string(Id id) { return std::to_string(id.number_); }
  template <typename Traits>
  friend std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, Id id) {
    return out << id.number_;
  }

 private:
  Number number_ = 0;
};

// Serials, which the kernel side gives out once in a trace.
using TaskId = Id<struct TaskKind>;        // a thread
using ProcessId = Id<struct ProcessKind>;  // not its pid, which another process may get later
using MmId = Id<struct MmKind>;            // an address space
using ImageId = Id<struct ImageKind>;      // what a process executes, from one exec to the next
using FileId = Id<struct FileKind>;        // a file that was mapped
using StackId = Id<struct StackKind>;      // a user stack; several ids may be one stack (store/model/stack_table.h)
using PlaceId = Id<struct PlaceKind>;      // a place in the kernel's code

// A distinct stack with kernel frames, of usc_logged; from 1 (store/model/logged_stacks.h).
using LoggedStackNumber = Id<struct LoggedStackKind>;

constexpr FileId kNoFile{USC_FILE_NONE};  // memory without a file
constexpr FileId kVdsoFile{USC_FILE_VDSO};
constexpr FileId kFirstFile{USC_FILE_FIRST};

// Returns the file of a frame (uscope/records/frame_word.h); kNoFile of one that is in none.
[[nodiscard]] inline FileId file_of(std::uint64_t frame) {
  return FileId(usc_frame_file(frame));
}

// A text and the contents of a call, as an interner numbers them (trace/texts.h), from 1.
using TextId = Id<struct TextKind, std::uint64_t>;
using ContentId = Id<struct ContentKind, std::uint64_t>;

// The integer of an id, and an integer itself.
template <typename Kind, typename Number>
[[nodiscard]] constexpr Number number_of(Id<Kind, Number> id) {
  return id.value();
}
template <std::integral Number>
[[nodiscard]] constexpr Number number_of(Number number) {
  return number;
}

// A key of two 32-bit ids or integers, ordered by the first, then the second.
template <typename First, typename Second>
struct IdPair {
  static_assert(sizeof(First) == sizeof(std::uint32_t) && sizeof(Second) == sizeof(std::uint32_t));
  First first{};
  Second second{};
  friend constexpr auto operator<=>(const IdPair&, const IdPair&) = default;  // NOLINT(modernize-use-nullptr): as above
};

}  // namespace uscope::trace

template <typename Kind, typename Number>
struct std::hash<uscope::trace::Id<Kind, Number>> {
  std::size_t operator()(uscope::trace::Id<Kind, Number> id) const noexcept { return std::hash<Number>()(id.value()); }
};

template <typename First, typename Second>
struct std::hash<uscope::trace::IdPair<First, Second>> {
  std::size_t operator()(const uscope::trace::IdPair<First, Second>& pair) const noexcept {
    using uscope::trace::number_of;
    return std::hash<std::uint64_t>()(std::uint64_t{number_of(pair.first)} << 32 |
                                      std::uint32_t{number_of(pair.second)});
  }
};
