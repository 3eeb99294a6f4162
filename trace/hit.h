// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a usc_hit, a usc_logged and a usc_kind say: the event that each of the first two is, and the names of kinds and
// of their arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "uscope/record.h"

namespace uscope::trace {

// An event of any source, in memory.
struct Event : usc_event {
  Event() : Event(usc_event{}) {}
  explicit Event(const usc_event& event) : usc_event(event) {}

  std::uint8_t unread = 0;  // of a hit: as in usc_hit

  [[nodiscard]] bool is_read(std::size_t arg) const { return (unread >> arg & 1U) == 0; }
};

// Sources whose events are hits of probes, and their kinds usc_kind: all but three. Those of later versions are theirs.
[[nodiscard]] constexpr bool is_of_probes(std::uint32_t source) {
  return source != USC_SOURCE_SYSCALL && source != USC_SOURCE_LOGGED && source != USC_SOURCE_SIGNAL;
}

// The event that a hit is, but for its kernel frames.
[[nodiscard]] Event event_of_hit(const usc_hit& hit);
// The event that a usc_logged is, but for its kernel frames: its values are the arguments, and how = logged.
[[nodiscard]] Event event_of_logged(const usc_logged& logged);

struct KindArgument {
  std::string name;
  std::string type;  // as C has it: "int", "const char *"; empty: not told
};

// Texts are a trace's (support/text.h).
struct KindText {
  std::string name;
  std::vector<KindArgument> arguments;  // event.a0, a1, …
  std::string result_type;              // of functions with their returns; empty: not told
};

// A kind is told once more if the type of what its functions return is known: that is the type of the only argument
// there, which has this name. No parameter is called so, and readers of before take no notice of it.
constexpr std::string_view kResultName = "return";

// Of what lies behind the fixed part of a usc_kind.
[[nodiscard]] KindText kind_text(std::string_view texts);

// The kinds that a trace tells of. Memory is bounded: those beyond it have numbers for names.
class KindTable {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 16U;
  static constexpr std::size_t kMostBytes = std::size_t{32} << 20U;

  // Of a kind that is told twice the first one holds, but for the result's type, which the second one tells.
  void add(const usc_kind& kind, std::string_view texts);
  // Null where the trace does not tell of it. The pointer holds as long as the table.
  [[nodiscard]] const KindText* find(std::uint8_t source, std::uint32_t kind) const;
  [[nodiscard]] std::size_t size() const { return kinds_.size(); }

 private:
  std::map<std::pair<std::uint8_t, std::uint32_t>, KindText> kinds_;
  std::size_t bytes_ = 0;  // of their texts
};

}  // namespace uscope::trace
