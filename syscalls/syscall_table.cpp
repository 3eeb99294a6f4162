// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "syscalls/syscall_table.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <vector>

#include "support/nearest.h"
#include "syscalls/structures.h"

namespace uscope::syscalls {
namespace {

constexpr std::uint16_t NONE = 0;
constexpr std::uint16_t FILE = kClassFile;
constexpr std::uint16_t PROCESS = kClassProcess;
constexpr std::uint16_t NETWORK = kClassNetwork;
constexpr std::uint16_t DESC = kClassDesc;
constexpr std::uint16_t MEMORY = kClassMemory;
constexpr std::uint16_t SIGNAL = kClassSignal;
constexpr std::uint16_t IPC = kClassIpc;
constexpr std::uint16_t WAIT = kClassWait;
constexpr std::uint16_t SYNC = kClassSync;

struct Call {
  std::uint32_t nr;
  std::uint16_t classes;
  std::string_view name;
  std::string_view arguments;
};

constexpr Call kNativeCalls[] = {
#define USC_SYSCALL(nr, name, classes, arguments) {nr, classes, name, arguments},
#include "syscalls/syscalls.def"
};
constexpr Call kCompatCalls[] = {
#define USC_SYSCALL_COMPAT(nr, name, classes) {nr, classes, name, ""},
#include "syscalls/syscalls.def"
};
constexpr Call kVariantCalls[] = {
#define USC_SYSCALL_VARIANT(nr, name) {nr, NONE, name, ""},
#include "syscalls/syscalls.def"
};

constexpr std::pair<std::string_view, std::uint16_t> kClasses[] = {
    {"file", FILE},     {"process", PROCESS}, {"network", NETWORK}, {"desc", DESC}, {"memory", MEMORY},
    {"signal", SIGNAL}, {"ipc", IPC},         {"wait", WAIT},       {"sync", SYNC},
};

// One ABI's calls, by number and by name.
class Table {
 public:
  template <std::size_t N>
  explicit Table(const Call (&calls)[N]) {
    for (const Call& call : calls) {
      by_number_.emplace(call.nr, &call);
      by_name_.emplace(call.name, &call);
    }
  }

  [[nodiscard]] const Call* at(std::uint32_t nr) const {
    const auto found = by_number_.find(nr);
    return found == by_number_.end() ? nullptr : found->second;
  }

  [[nodiscard]] const Call* named(std::string_view name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
  }

 private:
  std::unordered_map<std::uint32_t, const Call*> by_number_;
  std::unordered_map<std::string_view, const Call*> by_name_;
};

const Table& native_table() {
  static const Table table(kNativeCalls);
  return table;
}

const Table& compat_table() {
  static const Table table(kCompatCalls);
  return table;
}

const Table& variant_table() {
  static const Table table(kVariantCalls);
  return table;
}

// Whether an ABI has the native numbers, but for some of its own: x32.
constexpr bool is_variant(usc_abi abi) {
  return abi != USC_ABI_NATIVE && abi != USC_ABI_COMPAT;
}

// The entry with the name of a call; for a variant's own numbers one without classes and arguments.
const Call* named_entry(usc_abi abi, std::uint32_t nr) {
  if (abi == USC_ABI_COMPAT) return compat_table().at(nr);
  nr = USC_PLAIN_NUMBER(abi, nr);
  const Call* own = is_variant(abi) ? variant_table().at(nr) : nullptr;
  return own != nullptr ? own : native_table().at(nr);
}

// The entry with classes and arguments.
const Call* full_entry(usc_abi abi, std::uint32_t nr) {
  const Call* call = named_entry(abi, nr);
  if (call == nullptr || abi == USC_ABI_NATIVE) return call;
  return is_variant(abi) ? native_table().named(call->name) : call;
}

// Calls whose arguments are not those of the native call of their name.
struct OtherArguments {
  usc_abi abi;
  std::string_view name;
  std::string_view arguments;
};

constexpr OtherArguments kOtherArguments[] = {
#define USC_OTHER_ARGUMENTS(abi, name, arguments) {USC_ABI_##abi, name, arguments},
#if defined(__x86_64__)
#include "syscalls/x86_64/other_arguments.def"
#endif
#undef USC_OTHER_ARGUMENTS
};

// The 64-bit call of a 32-bit one's name, also where that names the width of its numbers.
const Call* wide_entry(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kOthers[] = {
      {"fstatat64", "newfstatat"},       {"oldstat", "stat"},           {"oldlstat", "lstat"}, {"_newselect", "select"},
      {"ugetrlimit", "getrlimit"},       {"fadvise64_64", "fadvise64"}, {"mmap2", "mmap"},     {"waitpid", "wait4"},
      {"sigprocmask", "rt_sigprocmask"}, {"oldfstat", "fstat"}};
  if (const Call* same = native_table().named(name)) return same;
  for (const auto& [narrow, wide] : kOthers)
    if (name == narrow) return native_table().named(wide);
  for (const std::string_view width : {"_time64", "64", "32"})
    if (name.ends_with(width)) return native_table().named(name.substr(0, name.size() - width.size()));
  return nullptr;
}

struct StringKind {
  std::string_view letters;
  bool on_demand;
};

constexpr StringKind kStringKinds[] = {
#define USC_X(name, text, letters, at_entry, by_kernel, holds, on_demand, meaning) {letters, (on_demand) != 0},
#include "uscope/lists/string_kind.def"
#undef USC_X
};

static_assert(
    [] {
      for (char letter = '0'; letter <= 'z'; letter++) {
        std::size_t kinds = 0;
        for (const StringKind& kind : kStringKinds)
          kinds += kind.letters.find(letter) != std::string_view::npos ? 1 : 0;
        if (kinds > 2) return false;
      }
      return true;
    }(),
    "usc_config has two kinds for an argument");

// Whether 32-bit programs have another layout of what the kernel side reads.
bool differs_in_compat(std::uint32_t kind) {
  return kind == USC_STRING_TIME || kind == USC_STRING_TIME_OUT || kind == USC_STRING_TIMES ||
         kind == USC_STRING_SIGINFO || kind == USC_STRING_STAT || kind == USC_STRING_DEVICE ||
         kind == USC_STRING_DEVICE_OUT;
}

// Whether the size of a kind's structures is in usc_config.
bool is_fixed(std::uint32_t kind) {
  return kind == USC_STRING_FIXED || kind == USC_STRING_FIXED_OUT ||
         (kind >= USC_STRING_ARRAY && kind <= USC_STRING_LIST_OUT);
}

// The kinds of an argument's letter, in their slots. `sizes`: syscall_structures().
std::uint64_t string_slots(usc_abi abi, std::uint64_t sizes, std::size_t arg, char letter, bool contents) {
  std::uint64_t slots = 0;
  auto slot = static_cast<std::uint32_t>(arg);
  for (std::uint32_t kind = 0; kind < USC_STRING_KIND_COUNT && slot < USC_STRING_SLOTS; kind++) {
    if (kStringKinds[kind].letters.find(letter) == std::string_view::npos) continue;
    if (kStringKinds[kind].on_demand && (!contents || (abi == USC_ABI_COMPAT && differs_in_compat(kind)))) continue;
    if (is_fixed(kind) && usc_structure_bytes(sizes, static_cast<std::uint32_t>(arg)) == 0) continue;
    slots |= usc_string_slot(slot, kind);
    slot += USC_STRING_ARGS;
  }
  return slots;
}

// "did you mean openat, openat2?"; how classes are written where nothing is near.
std::string suggestion(std::string_view item) {
  std::vector<std::string> names;
  for (const Call& call : kNativeCalls) names.emplace_back(call.name);
  for (const Call& call : kCompatCalls)
    if (native_table().named(call.name) == nullptr) names.emplace_back(call.name);
  for (const auto& [name, mask] : kClasses) names.push_back("%" + std::string(name));
  const std::string meant = did_you_mean(item, names);
  return meant.empty() ? "give names of system calls, %file, %process, %network, %desc, %memory, %signal, %ipc, %wait, "
                         "%sync, all or none"
                       : meant;
}

void add_class(std::uint16_t mask, SyscallSet& set) {
  for (const Call& call : kNativeCalls)
    if ((call.classes & mask) != 0) set.tables[USC_CALLS_NATIVE].set(call.nr);
  for (const Call& call : kCompatCalls)
    if ((call.classes & mask) != 0) set.tables[USC_CALLS_COMPAT].set(call.nr);
}

constexpr std::string_view kNoCalls = "none";

// Adds what one item names.
Result<void> add_item(std::string_view item, SyscallSet& set) {
  if (item.empty())
    return Error{"an empty name in a set of system calls", "write names with single commas between them"};
  if (item == "all") {
    for (auto& table : set.tables) table.set();
    return {};
  }
  for (const auto& [name, mask] : kClasses) {
    if (item.front() != '%' || item.substr(1) != name) continue;
    add_class(mask, set);
    return {};
  }
  const Call* call64 = native_table().named(item);
  const Call* call32 = compat_table().named(item);
  if (call64 != nullptr) set.tables[USC_CALLS_NATIVE].set(call64->nr);
  if (call32 != nullptr) set.tables[USC_CALLS_COMPAT].set(call32->nr);
  if (call64 != nullptr || call32 != nullptr) return {};
  const std::string_view what = item.front() == '%' ? "class of system calls" : "system call";
  return Error{"'" + std::string(item) + "' is not a " + std::string(what), suggestion(item)};
}

}  // namespace

std::string syscall_name(usc_abi abi, std::uint32_t nr) {
  const Call* call = named_entry(abi, nr);
  if (call != nullptr) return std::string(call->name);
  return "syscall_" + std::to_string(USC_PLAIN_NUMBER(abi, nr));
}

std::optional<std::uint32_t> syscall_number(usc_abi abi, std::string_view name) {
  const Call* call = is_variant(abi) ? variant_table().named(name) : nullptr;
  if (call == nullptr) call = abi == USC_ABI_COMPAT ? compat_table().named(name) : native_table().named(name);
  if (call == nullptr) return std::nullopt;
  return call->nr;
}

std::uint16_t syscall_classes(usc_abi abi, std::uint32_t nr) {
  const Call* call = full_entry(abi, nr);
  return call == nullptr ? NONE : call->classes;
}

std::uint16_t syscall_classes(std::string_view name) {
  const Call* call = native_table().named(name);
  if (call == nullptr) call = compat_table().named(name);
  return call == nullptr ? NONE : call->classes;
}

std::optional<std::string_view> syscall_arguments(usc_abi abi, std::uint32_t nr) {
  const Call* call = named_entry(abi, nr);
  if (call != nullptr && abi != USC_ABI_NATIVE) {
    for (const OtherArguments& other : kOtherArguments)
      if (other.abi == abi && other.name == call->name) return other.arguments;
    call = abi == USC_ABI_COMPAT ? wide_entry(call->name) : native_table().named(call->name);
  }
  if (call == nullptr) return std::nullopt;
  return call->arguments;
}

std::string_view syscall_wide_name(usc_abi abi, std::string_view name) {
  const Call* call = abi == USC_ABI_COMPAT ? wide_entry(name) : nullptr;
  return call == nullptr ? name : call->name;
}

std::uint64_t syscall_strings(usc_abi abi, std::uint32_t nr, bool contents) {
  if (USC_PLAIN_NUMBER(abi, nr) >= kSyscallNumbers) return 0;
  const std::string_view letters = syscall_arguments(abi, nr).value_or("");
  std::uint64_t slots = 0;
  const std::uint64_t sizes = syscall_structures(abi, nr);
  for (std::size_t arg = 0; arg < letters.size(); arg++) slots |= string_slots(abi, sizes, arg, letters[arg], contents);
  return slots;
}

bool SyscallSet::none() const {
  return std::all_of(tables.begin(), tables.end(), [](const auto& table) { return table.none(); });
}

bool SyscallSet::contains(usc_abi abi, std::uint32_t nr) const {
  if (is_variant(abi)) {
    const Call* call = full_entry(abi, nr);
    nr = call != nullptr ? call->nr : USC_PLAIN_NUMBER(abi, nr);
  }
  const auto& numbers = tables.at(USC_CALL_TABLE(abi));
  // The last number is no call's: its bit tells whether calls without a name are in the set.
  return numbers[std::min<std::size_t>(nr, kSyscallNumbers - 1)];
}

std::vector<std::string_view> syscall_class_names() {
  std::vector<std::string_view> names;
  for (const auto& [name, bits] : kClasses) names.push_back(name);
  return names;
}

Result<SyscallSet> parse_syscall_set(const std::string& text) {
  const bool inverted = text.starts_with('!');
  bool may_be_empty = false;
  SyscallSet in;
  SyscallSet out;
  std::string_view rest(text);
  if (inverted) rest.remove_prefix(1);
  for (bool more = true; more;) {
    const std::size_t comma = rest.find(',');
    std::string_view item = rest.substr(0, comma);
    more = comma != std::string_view::npos;
    if (more) rest.remove_prefix(comma + 1);
    const bool excluded = inverted || item.starts_with('!');
    if (item.starts_with('!')) item.remove_prefix(1);
    if (item == kNoCalls && !excluded) {
      may_be_empty = true;
      continue;
    }
    const Result<void> added = add_item(item, excluded ? out : in);
    if (!added) return added.error();
  }
  if (inverted) {
    for (auto& table : in.tables) table.set();
  }
  for (std::size_t table = 0; table < in.tables.size(); table++) in.tables[table] &= ~out.tables[table];
  if (in.none() && !may_be_empty)
    return Error{"'" + text + "' names no system call", "a leading ! leaves out everything behind it"};
  return in;
}

}  // namespace uscope::syscalls
