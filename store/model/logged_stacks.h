// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Stacks that go from the kernel to main(): what another module logged (usc_logged), kernel frames above a user stack.
// Each distinct pair is one stack; it stands behind the user stacks of a StackTable in the numbering of rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/model/stack_table.h"
#include "trace/raw_record.h"

namespace uscope::store {

struct LoggedStack {
  std::uint32_t user = 0;             // number in the StackTable; 0 = none
  bool user_undefined = false;        // one was taken, and its definition is missing
  std::vector<std::uint32_t> places;  // of usc_kernel_place, innermost first; 0 = could not be named
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

  // From 1; 0: the record has no kernel frames.
  [[nodiscard]] std::uint32_t find(const trace::RawRecord& logged) const;
  [[nodiscard]] std::size_t size() const { return stacks_.size(); }
  [[nodiscard]] const LoggedStack& stack(std::uint32_t number) const { return stacks_[number - 1]; }
  // Null where the trace does not tell of it.
  [[nodiscard]] const KernelPlace* place(std::uint32_t number) const;

 private:
  using Key = std::pair<std::uint32_t, std::vector<std::uint32_t>>;  // id or number of the user stack, places

  static Key key_of(const trace::RawRecord& logged);

  std::map<Key, std::uint32_t> by_raw_;  // to numbers
  std::vector<LoggedStack> stacks_;
  std::map<std::uint32_t, KernelPlace> places_;
};

// "ext4+0x1234 ext4_sync_file+0x10": nothing where it is none.
[[nodiscard]] std::optional<KernelPlace> parse_kernel_place(std::string_view text);

}  // namespace uscope::store
