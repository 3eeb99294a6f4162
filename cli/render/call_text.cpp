// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/render/call_text.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
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
#include "syscalls/flag_names.h"
#include "syscalls/syscall_table.h"
#include "trace/names.h"

namespace uscope::cli {
namespace {

using analyzer::EventRow;
using analyzer::EventString;

// The kernel's restart codes: programs never see them, since the call is restarted or returns EINTR.
const char* restart_name(std::int64_t result) {
  switch (result) {
    case -512:
      return "ERESTARTSYS";
    case -513:
      return "ERESTARTNOINTR";
    case -514:
      return "ERESTARTNOHAND";
    case -516:
      return "ERESTART_RESTARTBLOCK";
    default:
      return nullptr;
  }
}

usc_abi abi_of(const std::string& name) {
  return trace::abi_of_name(name).value_or(USC_ABI_X86_64);
}

constexpr std::string_view kCut = "…";

// `"argum"…` of an argument that is cut.
std::string list_item_text(std::string_view item, bool may_be_cut) {
  const bool is_cut = may_be_cut && item.ends_with(kCut);
  if (is_cut) item.remove_suffix(kCut.size());
  return printable_in_quotes(std::string(item)) + (is_cut ? std::string(kCut) : "");
}

// `["echo","a b"]` as `["echo", "a b"]`; `["echo","a b…",null]`, which was cut, as `["echo", "a b"…, …]`.
std::string json_list_text(const std::string& json) {
  const auto list = nlohmann::json::parse(json, nullptr, false);
  if (!list.is_array()) return printable_in_quotes(json);
  std::string out;
  for (std::size_t i = 0; i < list.size(); i++) {
    if (!out.empty()) out += ", ";
    const bool is_cut = i + 2 == list.size() && list.back().is_null();
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

// A set as a look found it: "[5<pipe:[123]> read, 7]"; nothing if none is known for this argument. The three sets of
// select are told apart by the argument.
std::optional<std::string> descriptors_text(const EventRow& event, std::size_t arg) {
  constexpr std::size_t kMostShown = 32;
  const bool has_kinds = event.call != "select" && event.call != "pselect6";
  std::string out;
  std::size_t count = 0;
  for (const analyzer::EventDescriptor& one : event.descriptors) {
    if (one.arg != static_cast<int>(arg) || ++count > kMostShown) continue;
    if (count > 1) out += ", ";
    out += std::to_string(one.fd);
    if (one.name) out += fmt::format("<{}>", escape_with(*one.name, "<>"));
    if (has_kinds) out += " " + one.wants;
  }
  if (count == 0) return std::nullopt;
  return "[" + out + (count > kMostShown ? ", …]" : "]");
}

// What a look found: "[2 parts, 65536 bytes]".
std::string buffers_summary(const analyzer::EventBuffers& buffers) {
  return fmt::format("[{} part{}, {} byte{}]", buffers.parts, buffers.parts == 1 ? "" : "s", buffers.bytes,
                     buffers.bytes == 1 ? "" : "s");
}

const syscalls::FlagSet* set_of(const EventRow& event, std::size_t arg) {
  const auto word = [&](std::size_t i) { return static_cast<std::uint32_t>(event.args[i].value_or(0)); };
  if (event.call == "fcntl" && arg == 2) return syscalls::flags_of_fcntl(word(1));
  if ((event.call == "setsockopt" || event.call == "getsockopt") && arg == 2) return syscalls::flags_of_option(word(1));
  return syscalls::flags_of(event.call, arg);
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
    case 'g':
      return signal_name(number);
    case 'm':
      return mode_text(static_cast<std::uint32_t>(value));
    case 'o':
      return value == 0 ? "0" : hex_number(static_cast<std::uint64_t>(value));
    case 'f':
      return number == 0 ? "0" : hex_number(static_cast<std::uint32_t>(value));
    default:
      return value == 0 ? "NULL" : hex_number(static_cast<std::uint64_t>(value));
  }
}

// The number of two arguments that are its halves; of another one, that argument.
std::int64_t whole_number(const EventRow& event, std::size_t arg, std::optional<std::string_view> kinds) {
  const std::int64_t value = event.args[arg].value_or(0);
  const bool has_halves = event.abi == "i386" && kinds && arg + 1 < kinds->size() && (*kinds)[arg + 1] == 'H';
  if (!has_halves) return value;
  const auto high = static_cast<std::uint64_t>(event.args[arg + 1].value_or(0));
  return static_cast<std::int64_t>(high << 32 | (static_cast<std::uint64_t>(value) & 0xffffffffU));
}

// How many arguments are meaningful: some calls use their last ones only with certain flags.
std::size_t meaningful(const EventRow& event, std::size_t count) {
  const auto word = [&](std::size_t i) { return static_cast<std::uint32_t>(event.args[i].value_or(0)); };
  const auto open_takes = [&](std::size_t flags) {
    const bool creates = (word(flags) & O_CREAT) != 0 || (word(flags) & O_TMPFILE) == O_TMPFILE;
    return creates ? count : flags + 1;
  };
  if (event.call == "open" || event.call == "mq_open") return event.call == "open" ? open_takes(1) : count;
  if (event.call == "openat") return open_takes(2);
  if (event.call == "fcntl") {
    const std::uint32_t command = word(1);
    const bool alone = command == F_GETFD || command == F_GETFL || command == F_GETOWN || command == F_GETSIG ||
                       command == F_GETLEASE || command == F_GETPIPE_SZ || command == F_GET_SEALS;
    return alone ? 2 : count;
  }
  if (event.call == "futex") {
    const std::uint32_t op = word(1) & FUTEX_CMD_MASK;
    if (op == FUTEX_WAKE || op == FUTEX_UNLOCK_PI || op == FUTEX_TRYLOCK_PI) return 3;
    return op == FUTEX_WAIT ? 4 : count;
  }
  if (event.call == "mremap") return (word(3) & MREMAP_FIXED) != 0 ? count : 4;
  return count;
}

// The values of an event that is no call; their meaning is unknown.
std::string values_text(const EventRow& event) {
  std::string out;
  for (const auto& value : event.args) out += (out.empty() ? "" : ", ") + std::to_string(value.value_or(0));
  return out;
}

bool returns_address(std::string_view call) {
  return call == "mmap" || call == "brk" || call == "mremap" || call == "shmat" || call == "mmap2";
}

}  // namespace

bool is_call(const EventRow& event) {
  return event.source == trace::source_name(USC_SOURCE_SYSCALL);
}

std::string arguments_text(const EventRow& event) {
  if (event.signal) return signal_info_text(*event.signal);
  if (analyzer::is_of_probes(event.source)) return hit_arguments_text(event);
  if (!is_call(event)) return values_text(event);
  const auto kinds = syscalls::syscall_arguments(abi_of(event.abi), static_cast<std::uint32_t>(event.nr));
  const std::size_t count = kinds ? meaningful(event, kinds->size()) : event.args.size();
  std::string out;
  for (std::size_t i = 0; i < count && i < event.args.size(); i++) {
    if (!event.args[i]) break;
    const char letter = kinds ? (*kinds)[i] : 'p';
    if (letter == 'H') continue;
    if (i) out += ", ";
    const auto string = std::find_if(event.strings.begin(), event.strings.end(),
                                     [&](const EventString& s) { return s.arg == static_cast<int>(i); });
    if (const auto contents = contents_text(event, i, letter)) {
      out += *contents;
      continue;
    }
    const auto descriptors = descriptors_text(event, i);
    if (descriptors && letter != 'd') {
      out += *descriptors;
      continue;
    }
    const bool has_string = string != event.strings.end();
    const bool is_descriptor = has_string && string->source == EventString::Source::kDescriptor;
    const bool has_buffers = event.buffers && event.buffers->arg == static_cast<int>(i);
    if (has_string && !is_descriptor) out += string_text(letter, *string) + (has_buffers ? " " : "");
    if (has_buffers) out += buffers_summary(*event.buffers);
    if (has_buffers || (has_string && !is_descriptor)) continue;
    const syscalls::FlagSet* set = letter == 'D' ? nullptr : set_of(event, i);
    out += set ? syscalls::flags_text(*set, static_cast<std::uint32_t>(*event.args[i]))
               : argument_text(letter, whole_number(event, i, kinds));
    if (is_descriptor) out += string_text(letter, *string);
    if (descriptors) out += " " + *descriptors;
  }
  return out;
}

std::string result_text(const EventRow& event) {
  if (event.how == "open") return "? (has not returned)";
  if (event.how == "killed") return "? (killed inside)";
  if (event.how == "attached" && !event.dur_ns) return "? (was inside when tracing began, has not returned)";
  if (!event.result) return "?";
  if (const char* restart = restart_name(*event.result)) return fmt::format("? {} (to be restarted)", restart);
  if (event.error.empty())
    return returns_address(event.call) ? hex_number(static_cast<std::uint64_t>(*event.result))
                                       : std::to_string(*event.result) + found_text(event);
  const char* meaning = strerrordesc_np(static_cast<int>(-*event.result));
  std::string text = "-1 " + event.error;
  if (meaning) text += fmt::format(" ({})", meaning);
  if (event.how == "no_entry") text += " [denied before the call was entered]";
  return text;
}

}  // namespace uscope::cli
