// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/render/call_text.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "analyzer/read/catalog.h"
#include "cli/render/content_text.h"
#include "cli/render/hit_text.h"
#include "cli/render/signal_text.h"
#include "cli/render/units.h"
#include "support/text.h"
#include "syscalls/argument_reading.h"
#include "syscalls/flag_names.h"
#include "syscalls/syscall_table.h"
#include "trace/names.h"

namespace uscope::cli {
namespace {

using analyzer::EventRow;
using analyzer::EventString;

// The kernel's restart codes. Programs never see them: the call was made again, or its thread ended. A call that a
// handler made fail has EINTR instead (core/calls/calls.h).
const char* restart_text(std::int64_t result) {
  switch (result) {
    case -512:
      return "ERESTARTSYS (to be restarted)";
    case -513:
      return "ERESTARTNOINTR (to be restarted)";
    case -514:
      return "ERESTARTNOHAND (to be restarted)";
    case -516:
      return "ERESTART_RESTARTBLOCK (to be restarted)";
    default:
      return nullptr;
  }
}

usc_abi abi_of(const std::string& name) {
  return trace::abi_of_name(name).value_or(USC_ABI_NATIVE);
}

constexpr std::string_view kCut = "…";

// `"argum"…` of an argument that is cut.
std::string list_item_text(std::string_view item, bool may_be_cut) {
  const bool is_cut = may_be_cut && item.ends_with(kCut);
  if (is_cut) item.remove_suffix(kCut.size());
  return printable_in_quotes(std::string(item)) + (is_cut ? std::string(kCut) : "");
}

// `["echo","a b"]` as `["echo", "a b"]`; `["echo","a b…",null]`, which was cut, as `["echo", "a b"…, …]`, with the last
// ones behind it.
std::string json_list_text(const std::string& json) {
  const auto list = nlohmann::json::parse(json, nullptr, false);
  if (!list.is_array()) return printable_in_quotes(json);
  std::string out;
  for (std::size_t i = 0; i < list.size(); i++) {
    if (!out.empty()) out += ", ";
    const bool is_cut = i + 1 < list.size() && list[i + 1].is_null();
    out += list[i].is_string() ? list_item_text(list[i].get<std::string>(), is_cut) : std::string(kCut);
  }
  return "[" + out + "]";
}

std::string string_text(char letter, const EventString& string) {
  if (string.source == EventString::Source::kDescriptor) return fmt::format("<{}>", escape_with(string.value, "<>"));
  switch (letter) {
    case 'a':
    case 'A':
      return fmt::format("{{{}}}", escape_with(string.value, "{}"));
    case 'n':
    case 'N':
      return fmt::format("{{msg_name={{{}}}}}", escape_with(string.value, "{}"));
    case 'v':
      return json_list_text(string.value);
    default:
      return printable_in_quotes(string.value);
  }
}

constexpr std::size_t kMostDescriptors = 32;  // shown of a list

// "5</etc/hostname>"
std::string descriptor_text(const analyzer::EventDescriptor& one) {
  return std::to_string(one.fd) + (one.name ? fmt::format("<{}>", escape_with(*one.name, "<>")) : "");
}

bool is_passed(const analyzer::EventDescriptor& one) {
  return one.wants == "passed" || one.wants == "pidfd";
}

// "{cmsg_type=SCM_RIGHTS, cmsg_data=[5, 6]}": of the descriptors of one argument that messages of one kind carry, those
// of several messages together; "" if there is none.
std::string passed_text(const EventRow& event, std::size_t arg, std::string_view wants, std::string_view type) {
  std::string list;
  std::size_t count = 0;
  for (const analyzer::EventDescriptor& one : event.descriptors)
    if (one.arg == static_cast<int>(arg) && one.wants == wants && ++count <= kMostDescriptors)
      list += (count > 1 ? ", " : "") + descriptor_text(one);
  if (count == 0) return "";
  if (count > kMostDescriptors) list += ", …";
  return fmt::format("{{cmsg_type={}, cmsg_data=[{}]}}", type, list);
}

// The descriptors that messages carry, put into the text of the messages, which ends with a brace or is empty.
std::string with_passed(const EventRow& event, std::size_t arg, std::string text) {
  std::string list = passed_text(event, arg, "passed", "SCM_RIGHTS");
  const std::string pidfd = passed_text(event, arg, "pidfd", "SCM_PIDFD");
  if (!list.empty() && !pidfd.empty()) list += ", ";
  list += pidfd;
  if (list.empty()) return text;
  const std::string control = fmt::format("msg_control=[{}]}}", list);
  if (!text.ends_with('}')) return "{" + control;
  text.pop_back();
  return text + ", " + control;
}

// A set as a look found it: "[5<pipe:[123]> read, 7]"; nothing if none is known for this argument. The three sets of
// select are told apart by the argument.
std::optional<std::string> descriptors_text(const EventRow& event, std::size_t arg) {
  const bool has_kinds = event.call != "select" && event.call != "pselect6";
  std::string out;
  std::size_t count = 0;
  for (const analyzer::EventDescriptor& one : event.descriptors) {
    if (one.arg != static_cast<int>(arg) || is_passed(one) || ++count > kMostDescriptors) continue;
    if (count > 1) out += ", ";
    out += descriptor_text(one);
    if (has_kinds) out += " " + one.wants;
  }
  if (count == 0) return std::nullopt;
  return "[" + out + (count > kMostDescriptors ? ", …]" : "]");
}

// What a look found: "[2 parts, 65536 bytes]".
std::string buffers_summary(const analyzer::EventBuffers& buffers) {
  return fmt::format("[{} part{}, {} byte{}]", buffers.parts, buffers.parts == 1 ? "" : "s", buffers.bytes,
                     buffers.bytes == 1 ? "" : "s");
}

using Reading = syscalls::ArgumentReading;
using syscalls::kernel_bits;

std::array<std::int64_t, 6> numbers_of(const EventRow& event) {
  std::array<std::int64_t, 6> args{};
  for (std::size_t i = 0; i < args.size(); i++) args[i] = event.args[i].value_or(0);
  return args;
}

std::optional<Reading> reading_of(const EventRow& event) {
  return syscalls::argument_reading(
      {abi_of(event.abi), static_cast<std::uint32_t>(event.nr), event.call, numbers_of(event)});
}

constexpr unsigned kPageShift = 12;

// makedev(0x1, 0x3), of what mknod takes: 12 bits of the major number between two parts of the minor one.
std::string device_text(std::uint32_t device) {
  constexpr unsigned kMajorShift = 8;
  constexpr std::uint32_t kMajorMask = 0xfff;
  constexpr unsigned kHighMinorShift = 12;
  const std::uint32_t minor = (device & 0xffU) | (device >> kHighMinorShift & 0xfff00U);
  return fmt::format("makedev({:#x}, {:#x})", device >> kMajorShift & kMajorMask, minor);
}

// One argument by its letter in syscalls/syscalls.def.
std::string argument_text(char kind, std::int64_t value) {
  constexpr std::int64_t kAtFdcwd = -100;
  const auto number = static_cast<std::int32_t>(value);  // the upper half of an int's register is undefined
  switch (kind) {
    case 'd':
    case 'i':
      return std::to_string(number);
    case 'D':
      return number == kAtFdcwd ? "AT_FDCWD" : std::to_string(number);
    case 'u':
      return std::to_string(static_cast<std::uint32_t>(value));
    case 'l':
      return std::to_string(value);
    case 'z':
      return std::to_string(static_cast<std::uint64_t>(value));
    case 'g': {
      const std::string name = signal_name(number);
      return name.starts_with("SIG") ? name : std::to_string(number);
    }
    case 'm':
      return mode_text(static_cast<std::uint32_t>(kernel_bits(kind, value)));
    case 'J':
      return std::to_string(kernel_bits(kind, value));
    case 'M':
      return device_text(static_cast<std::uint32_t>(value));
    case 'O':
      return hex_or_zero(static_cast<std::uint64_t>(value) << kPageShift);
    case 'o':
    case '8':
    case 'f':
    case 'F':
      return hex_or_zero(kernel_bits(kind, value));
    default:
      return value == 0 ? "NULL" : hex_number(static_cast<std::uint64_t>(value));
  }
}

// The number of two arguments that are its halves; of another one, that argument.
std::int64_t whole_number(const EventRow& event, std::size_t arg, std::string_view letters) {
  const std::int64_t value = event.args[arg].value_or(0);
  if (event.abi != trace::abi_name(USC_ABI_COMPAT)) return value;
  std::optional<std::size_t> other;
  if (arg + 1 < letters.size() && letters[arg + 1] == 'H') other = arg + 1;
  if (arg > 0 && letters[arg - 1] == 'G') other = arg - 1;
  if (!other) return value;
  const auto high = static_cast<std::uint64_t>(event.args[*other].value_or(0));
  return static_cast<std::int64_t>(high << 32 | (static_cast<std::uint64_t>(value) & 0xffffffffU));
}

// How many arguments are meaningful: some calls use their last ones only with certain flags.
std::size_t meaningful(const EventRow& event, std::size_t count) {
  const auto word = [&](std::size_t i) { return static_cast<std::uint32_t>(event.args[i].value_or(0)); };
  const auto open_takes = [&](std::size_t flags) {
    constexpr unsigned kWithMode = O_CREAT | (O_TMPFILE & ~O_DIRECTORY);
    return (word(flags) & kWithMode) != 0 ? count : flags + 1;
  };
  const auto node_takes = [&](std::size_t mode) {
    return S_ISCHR(word(mode)) || S_ISBLK(word(mode)) ? count : mode + 1;
  };
  if (event.call == "open") return open_takes(1);
  if (event.call == "openat") return open_takes(2);
  if (event.call == "mq_open") return (word(1) & O_CREAT) != 0 ? count : 2;
  if (event.call == "membarrier") return (word(1) & MEMBARRIER_CMD_FLAG_CPU) != 0 ? count : 2;
  if (event.call == "mknod") return node_takes(1);
  if (event.call == "mknodat") return node_takes(2);
  if (event.call == "mremap") return (word(3) & MREMAP_FIXED) != 0 ? count : 4;
  return count;
}

// The values of an event that is no call; their meaning is unknown.
std::string values_text(const EventRow& event) {
  std::string out;
  for (const auto& value : event.args) out += (out.empty() ? "" : ", ") + std::to_string(value.value_or(0));
  return out;
}

// "QCMD(Q_QUOTAON, USRQUOTA)": a command and a type of quota in one number.
std::string quota_text(std::uint32_t command) {
  constexpr unsigned kTypeBits = 8;
  return fmt::format("QCMD({}, {})", syscalls::flags_text(syscalls::quota_commands(), command >> kTypeBits),
                     syscalls::flags_text(syscalls::quota_types(), command & ((1U << kTypeBits) - 1)));
}

// "FUTEX_OP_ADD<<28|1<<12|FUTEX_OP_CMP_GT<<24|0": what FUTEX_WAKE_OP does to the second futex, and what it compares
// that with.
std::string futex_operation_text(std::uint32_t word) {
  constexpr std::uint32_t kShifts = 0x80000000;  // the operand is the number of a bit
  constexpr std::uint32_t kNumber = 0xfff;
  return fmt::format(
      "{}{}<<28|{}<<12|{}<<24|{}", (word & kShifts) != 0 ? "FUTEX_OP_OPARG_SHIFT<<28|" : "",
      syscalls::flags_text(syscalls::futex_operations(), word >> 28 & 7U), hex_or_zero(word >> 12 & kNumber),
      syscalls::flags_text(syscalls::futex_comparisons(), word >> 24 & 0xfU), hex_or_zero(word & kNumber));
}

// "_IOC(_IOC_READ|_IOC_WRITE, 0x54, 0x1, 0x10)": a command of a device that has no name here. The older ones are plain
// numbers.
std::string device_command_text(std::uint32_t command) {
  constexpr unsigned kTypeShift = 8;
  constexpr unsigned kSizeShift = 16;
  constexpr unsigned kDirectionShift = 30;
  constexpr std::uint32_t kSizeMask = 0x3fff;
  constexpr std::array<const char*, 4> kDirections = {"_IOC_NONE", "_IOC_WRITE", "_IOC_READ", "_IOC_READ|_IOC_WRITE"};
  if (command >> kTypeShift == 0) return hex_or_zero(command);
  return fmt::format("_IOC({}, {}, {}, {})", kDirections.at(command >> kDirectionShift),
                     hex_or_zero(command >> kTypeShift & 0xffU), hex_or_zero(command & 0xffU),
                     hex_or_zero(command >> kSizeShift & kSizeMask));
}

bool returns_address(std::string_view call) {
  return call == "mmap" || call == "brk" || call == "mremap" || call == "shmat" || call == "mmap2";
}

// What is known of an argument beside its value: contents, a text, what a look found; nothing if that is not all of it.
std::optional<std::string> pointed_text(const EventRow& event, std::size_t i, char letter) {
  // Of a set of descriptors, what a look found has their names.
  if (letter == '1')
    if (auto descriptors = descriptors_text(event, i)) return descriptors;
  if (auto contents = contents_text(event, i, letter)) return with_passed(event, i, *contents);
  if (letter != 'd')
    if (auto descriptors = descriptors_text(event, i)) return descriptors;
  const auto string = std::find_if(event.strings.begin(), event.strings.end(), [&](const EventString& s) {
    return s.arg == static_cast<int>(i) && s.source != EventString::Source::kDescriptor;
  });
  const bool has_string = string != event.strings.end();
  const bool has_buffers = event.buffers && event.buffers->arg == static_cast<int>(i);
  std::string out = with_passed(event, i, has_string ? string_text(letter, *string) : std::string());
  if (!has_string && !has_buffers && out.empty()) return std::nullopt;
  if (has_buffers) out += (out.empty() ? "" : " ") + buffers_summary(*event.buffers);
  return out;
}

// An argument that is a number, by its name where it has one, and the descriptor's name behind it.
std::string number_text(const EventRow& event, const Reading& reading, std::size_t i, char letter) {
  const std::int64_t value = whole_number(event, i, reading.letters);
  const std::uint64_t bits = kernel_bits(letter, value);
  const syscalls::FlagSet* set = syscalls::names_of_argument(reading, numbers_of(event), i);
  std::string out =
      set && syscalls::has_name(*set, bits) ? syscalls::flags_text(*set, bits) : argument_text(letter, value);
  if (reading.call == "ioctl" && i == 1 && !syscalls::has_name(*set, bits))
    out = device_command_text(static_cast<std::uint32_t>(bits));
  if (reading.call.starts_with("quotactl") && i == syscalls::command_place(reading.call))
    out = quota_text(static_cast<std::uint32_t>(bits));
  if (reading.command && reading.command->command == "FUTEX_WAKE_OP" && i == 5)
    out = futex_operation_text(static_cast<std::uint32_t>(bits));
  const auto named = std::find_if(event.strings.begin(), event.strings.end(), [&](const EventString& s) {
    return s.arg == static_cast<int>(i) && s.source == EventString::Source::kDescriptor;
  });
  if (named != event.strings.end()) out += string_text(letter, *named);
  if (const auto descriptors = descriptors_text(event, i)) out += " " + *descriptors;
  return out;
}

}  // namespace

bool is_call(const EventRow& event) {
  return event.source == trace::source_name(USC_SOURCE_SYSCALL);
}

std::string arguments_text(const EventRow& event) {
  if (event.signal) return signal_info_text(*event.signal);
  if (analyzer::is_of_probes(event.source)) return hit_arguments_text(event);
  if (!is_call(event)) return values_text(event);
  const Reading reading = reading_of(event).value_or(Reading{"oooooo", event.call});
  const std::size_t count = meaningful(event, reading.letters.size());
  std::string out;
  bool is_first = true;
  for (std::size_t i = 0; i < count && i < event.args.size() && event.args[i]; i++) {
    const char letter = reading.letters[i];
    if (letter == 'H' || letter == 'G' || letter == '-') continue;
    if (!is_first) out += ", ";
    is_first = false;
    const auto pointed = pointed_text(event, i, letter);
    out += pointed ? *pointed : number_text(event, reading, i, letter);
  }
  return out;
}

namespace {

// A result that is no error.
std::string value_text(const EventRow& event) {
  const std::int64_t result = *event.result;
  if (returns_address(event.call)) return hex_number(static_cast<std::uint64_t>(result));
  if (event.call == "umask") return mode_text(static_cast<std::uint32_t>(result));
  const bool gets_flags = syscalls::syscall_wide_name(abi_of(event.abi), event.call) == "fcntl";
  if (gets_flags && static_cast<std::uint32_t>(event.args[1].value_or(0)) == F_GETFL)
    return fmt::format("{} ({})", hex_or_zero(static_cast<std::uint64_t>(result)),
                       syscalls::flags_text(*syscalls::flags_of("open", 1), static_cast<std::uint64_t>(result)));
  return std::to_string(result) + found_text(event);
}

}  // namespace

std::string result_text(const EventRow& event) {
  if (event.how == "open") return "? (has not returned)";
  if (event.how == "killed") return "? (killed inside)";
  if (event.how == "attached" && !event.dur_ns) return "? (was inside when tracing began, has not returned)";
  if (!event.result) return "?";
  if (const char* restart = restart_text(*event.result)) return fmt::format("? {}", restart);
  if (event.error.empty()) return value_text(event);
  const char* meaning = strerrordesc_np(static_cast<int>(-*event.result));
  std::string text = "-1 " + event.error;
  if (meaning) text += fmt::format(" ({})", meaning);
  if (event.how == "no_entry") text += " [denied before the call was entered]";
  return text;
}

}  // namespace uscope::cli
