// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One table of descriptors, as in the kernel: of a process, or of all tasks that share it. It maps numbers to what they
// stand for; unknown descriptors are absent. Pure bookkeeping: DescriptorTracker decides when things happen.
//
// Calls that close, open and replace a number take effect at some time between their entry and their return, and calls
// of several tasks overlap. So a call is begun and ended here, and what it opened is known from its end on, if the
// order of events on that number is certain by then. It is certain if a number known to be in use was closed while an
// opening call was in progress: that call can only have got the number afterwards. It is not certain if a number was
// closed or replaced that an opening call in progress may already have got.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <unordered_map>
#include <utility>

#include "descriptors/mount_spaces.h"
#include "support/persistent_map.h"
#include "trace/ids.h"

namespace uscope::descriptors {

// An event, by the number that whoever reads the trace gives it.
using EventId = trace::Id<struct EventKind, std::uint64_t>;

// An open file description, as open(2) calls it: each call that opens something makes one; dup(), fork(), a message and
// pidfd_getfd() give further descriptors of it. From 1, as they were met.
using OpenFileId = trace::Id<struct OpenFileKind, std::uint64_t>;

// What a descriptor refers to, whatever its name. Descriptors with equal ids are of one open file. Those with two ids
// are of two open files, unless one of them is unsure.
struct OpenFile {
  OpenFileId id{};      // none: nothing is known of it
  bool unsure = false;  // it was open before, or came from elsewhere: it may have another id, too
  FoundFile file{};     // which file was opened, as fstat() has it; ino 0: the trace does not tell
};

struct Descriptor {
  trace::TextId name;          // none if it is not known, or of a socket
  std::uint64_t stamp = 0;     // when it was set: unique, and later ones are larger
  bool close_on_exec = false;  // when it was set
  std::uint32_t socket = 0;    // DescriptorTracker's number of it, from 1; 0 = no socket, or not one of these
  trace::ProcessId process{};  // of a pidfd, if it is known
  bool is_folder = false;      // it was opened as one
  std::uint32_t space = 0;     // of a file: MountSpaces::tag_of() its path when it was opened
  OpenFile open_file{};        // none of a socket: DescriptorTracker has it
  EventId opened{};            // the call that opened it; none: it was open before, or the call is no event
  trace::ProcessId opener{};   // whose call that was
};

class DescriptorTable {
 public:
  // Memory is bounded: a table holds at most kMostOfOne descriptors, all tables together kMost; further ones are
  // unknown.
  static constexpr std::size_t kMostOfOne = std::size_t{1} << 16;
  static constexpr std::size_t kMost = std::size_t{1} << 19;

  // Returns null if unknown. Valid until the next change.
  [[nodiscard]] const Descriptor* find(int fd) const;
  void set(int fd, const Descriptor& descriptor);
  // Visits those that an exec closes; all; those with these numbers.
  template <typename Visitor>
  void each_closed_by_exec(Visitor visit) const {
    closed_by_exec_.each(visit);
  }
  template <typename Visitor>
  void each(Visitor visit) const {
    kept_.each(visit);
    closed_by_exec_.each(visit);
  }
  template <typename Visitor>
  void each_between(int first, int last, Visitor visit) const {
    for (const Entries* entries : {&kept_, &closed_by_exec_})
      for (const Entries::Entry* next = entries->at_or_after(first); next != nullptr && next->key <= last;
           next = next->key == last ? nullptr : entries->at_or_after(next->key + 1))
        visit(next->key, next->value);
  }
  void close_range(int first, int last);
  void set_close_on_exec(int first, int last, bool value);
  void forget();

  // A close, between its entry and its return. Returns whether it is `stray`: no descriptor was known there.
  [[nodiscard]] bool begin_close(int fd);
  void end_close(int fd, bool stray);
  // Calls that return a number that was free before. end_open() returns whether the number is certainly what this call
  // opened.
  void begin_open(int fd) { begin(fd).openings++; }
  [[nodiscard]] bool end_open(int fd);
  // Calls that replace what was there; as above.
  void begin_replace(int fd);
  [[nodiscard]] bool end_replace(int fd);

  // Becomes a copy of everything in `other` that is unchanged since `stamp`: a copy that the kernel made between then
  // and now has the same.
  void take_copy(const DescriptorTable& other, std::uint64_t stamp);
  void drop_close_on_exec();

  // Records which numbers change from here on, until end_watch().
  void watch() { watchers_++; }
  [[nodiscard]] bool was_changed(int fd) const;
  void end_watch();

 private:
  // Two maps, so that an exec closes its descriptors at once: one of descriptors that stay, one of those that it
  // closes. Copies cost nothing: a server with thousands of descriptors may fork as often as it likes.
  using Entries = PersistentMap<int, Descriptor>;

  // Calls in progress that concern a number.
  struct UnderWay {
    std::uint32_t openings = 0;
    std::uint32_t closes = 0;
    std::uint32_t strays = 0;
    std::uint32_t replacements = 0;
    bool unclear = false;  // for all of them
    [[nodiscard]] bool none() const { return openings + closes + strays + replacements == 0; }
  };

  UnderWay& begin(int fd);
  bool end(int fd, std::uint32_t UnderWay::*kind);
  [[nodiscard]] bool holds_any(int first, int last) const;
  void cut(int first, int last);
  void note_change(int first, int last);

  Entries kept_;
  Entries closed_by_exec_;
  std::deque<std::pair<std::uint64_t, int>> latest_;  // stamp and number of the latest settings, oldest first
  std::uint64_t forgotten_ = 0;                       // stamp of the last entry that fell out of it
  std::unordered_map<int, UnderWay> under_way_;
  std::uint32_t watchers_ = 0;
  std::map<int, int> changed_;  // while watched: first and last number
};

}  // namespace uscope::descriptors
