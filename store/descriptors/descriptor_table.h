// One table of descriptors, as the kernel has it: of a process, or of all tasks that share it. Numbers, and what they
// stand for; what is not known is not there. Pure bookkeeping: when what happens is DescriptorTracker's to say.
//
// Calls that close, open and replace a number take effect at some time between their entry and their return, and those
// of several tasks overlap. So a call is begun and ended here, and what it opened is known from its end on, if the
// order of what happened to that number is certain by then. It is where a number that was known to be in use was closed
// while an opening call was under way: that call can only have got the number afterwards. It is not where a number was
// closed or replaced that an opening call under way may have got already.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <unordered_map>
#include <utility>

#include "support/persistent_map.h"

namespace uscope::store {

struct Descriptor {
  std::int64_t name = 0;       // row of `string`; negative: a socket's, by number (DescriptorTracker)
  std::uint64_t stamp = 0;     // when it was set: no two are alike, later ones are larger
  bool close_on_exec = false;  // when it was set
};

class DescriptorTable {
 public:
  // Memory is bounded: a table holds kMostOfOne descriptors at most, all together kMost; what is beyond is not known.
  static constexpr std::size_t kMostOfOne = std::size_t{1} << 16;
  static constexpr std::size_t kMost = std::size_t{1} << 19;

  // Null: not known. Valid until the next change.
  [[nodiscard]] const Descriptor* find(int fd) const;
  void set(int fd, const Descriptor& descriptor);
  void close_range(int first, int last);
  void set_close_on_exec(int first, int last, bool value);
  void forget();

  // A close, between its entry and its return. Tells whether it is `stray`: nothing was known to be there.
  [[nodiscard]] bool begin_close(int fd);
  void end_close(int fd, bool stray);
  // What gives a number that was free before. end_open: whether that number is now surely what this call opened.
  void begin_open(int fd) { begin(fd).openings++; }
  [[nodiscard]] bool end_open(int fd);
  // What puts something in the place of what was there: as above.
  void begin_replace(int fd);
  [[nodiscard]] bool end_replace(int fd);

  // Becomes a copy of what has been in the other one unchanged since `stamp`: a copy that the kernel made between then
  // and now has that.
  void take_copy(const DescriptorTable& other, std::uint64_t stamp);
  void drop_close_on_exec();

  // Which numbers change from here on, until was_changed() is of no more interest.
  void watch() { watchers_++; }
  [[nodiscard]] bool was_changed(int fd) const;
  void end_watch();

 private:
  // Two maps, so that an exec closes what it closes at once: of descriptors that stay, and of those that it closes.
  // Copies cost nothing: a server with thousands of descriptors may fork as often as it likes.
  using Entries = PersistentMap<int, Descriptor>;

  // Calls under way that concern a number.
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
  std::deque<std::pair<std::uint64_t, int>> latest_;  // stamp and number of what was set last, oldest first
  std::uint64_t forgotten_ = 0;                       // stamp of the last one that fell out of it
  std::unordered_map<int, UnderWay> under_way_;
  std::uint32_t watchers_ = 0;
  std::map<int, int> changed_;  // while it is watched: first and last number
};

}  // namespace uscope::store
