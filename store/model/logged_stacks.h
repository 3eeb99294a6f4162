// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Stacks that go from the kernel to main(): of what another module logged (usc_logged) or a probe brought (usc_hit),
// kernel frames above a user stack. Each distinct pair is one stack; it stands behind the user stacks of a StackTable
// in the numbering of rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/model/stack_table.h"
#include "trace/ids.h"
#include "trace/raw_record.h"

namespace uscope::store {

using trace::LoggedStackNumber;

struct LoggedStack {
  StackNumber user;
  bool user_undefined = false;         // one was taken, and its definition is missing
  std::vector<trace::PlaceId> places;  // innermost first; none: could not be named
};

// What a usc_kernel_place says.
struct KernelPlace {
  std::string module;  // "vmlinux", "ext4"; "" for code made at run time
  std::uint64_t offset = 0;
  std::string function;
  std::optional<std::uint64_t> function_offset;
};

class LoggedStacks {
 public:
  // Those beyond it have no kernel frames in the store.
  static constexpr std::size_t kMost = std::size_t{1} << 18;

  void add(const trace::RawRecord& logged);
  void add_place(const trace::RawRecord& place);
  // Once all records have been added: user stacks have their numbers then.
  void finish(const StackTable& stacks);

  // None if the record has no kernel frames.
  [[nodiscard]] LoggedStackNumber find(const trace::RawRecord& logged) const;
  [[nodiscard]] std::size_t size() const { return stacks_.size(); }
  [[nodiscard]] const LoggedStack& stack(LoggedStackNumber number) const { return stacks_[number.value() - 1]; }
  // Null where the trace does not tell of it.
  [[nodiscard]] const KernelPlace* place(trace::PlaceId id) const;

 private:
  using Places = std::vector<trace::PlaceId>;
  using Key = std::pair<trace::StackId, Places>;

  static Key key_of(const trace::RawRecord& logged);

  std::map<Key, LoggedStackNumber> by_raw_;
  std::vector<LoggedStack> stacks_;
  std::map<trace::PlaceId, KernelPlace> places_;
};

// "ext4+0x1234 ext4_sync_file+0x10": nothing where it is none.
[[nodiscard]] std::optional<KernelPlace> parse_kernel_place(std::string_view text);

}  // namespace uscope::store
