// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/render/content_text.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <ctime>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/render/structure_text.h"
#include "cli/render/units.h"
#include "support/byte_reader.h"
#include "support/redactor.h"
#include "support/socket_address.h"
#include "support/text.h"
#include "syscalls/flag_names.h"
#include "syscalls/syscall_table.h"
#include "trace/names.h"

namespace uscope::cli {
namespace {

using analyzer::EventContent;
using analyzer::EventRow;
using analyzer::EventString;
using Holds = analyzer::EventContent::Holds;
using Source = analyzer::EventString::Source;

constexpr std::string_view kMore = "…";

ByteReader reader_of(std::string_view bytes) {
  return ByteReader(std::as_bytes(std::span(bytes)));
}

const EventContent* find_content(const EventRow& event, std::size_t arg, Holds holds) {
  const auto at = std::find_if(event.contents.begin(), event.contents.end(), [&](const EventContent& content) {
    return content.arg == static_cast<int>(arg) && content.holds == holds;
  });
  return at == event.contents.end() ? nullptr : &*at;
}

const EventContent* find_structure(const EventRow& event, std::size_t arg, Source source) {
  const auto at = std::find_if(event.contents.begin(), event.contents.end(), [&](const EventContent& content) {
    return content.arg == static_cast<int>(arg) && content.holds == Holds::kStructure && content.source == source;
  });
  return at == event.contents.end() ? nullptr : &*at;
}

std::string data_text(const EventContent& data) {
  if (!data.bytes) return in_quotes(kRedacted);
  return data_in_quotes(*data.bytes) + (data.cut ? std::string(kMore) : "");
}

// "[a, b]", or "[a, b, …]" if there were more.
std::string list_text(const std::vector<std::string>& items, bool cut) {
  std::string out;
  for (const std::string& item : items) out += (out.empty() ? "" : ", ") + item;
  if (cut) out += (out.empty() ? "" : ", ") + std::string(kMore);
  return "[" + out + "]";
}

// Each whole element of an array.
template <typename Element, typename Text>
std::vector<std::string> elements(std::string_view bytes, Text text) {
  std::vector<std::string> out;
  ByteReader in = reader_of(bytes);
  while (in.left() >= sizeof(Element)) {
    std::string item = text(in.fixed<Element>());
    if (!item.empty()) out.push_back(std::move(item));
  }
  return out;
}

std::string poll_text(std::string_view bytes, bool cut) {
  return list_text(elements<pollfd>(bytes,
                                    [](const pollfd& asked) {
                                      if (asked.fd < 0) return fmt::format("{{fd={}}}", asked.fd);
                                      const auto events = static_cast<std::uint16_t>(asked.events);
                                      return fmt::format("{{fd={}, events={}}}", asked.fd,
                                                         syscalls::flags_text(syscalls::poll_events(), events));
                                    }),
                   cut);
}

// Only those that are ready; the result says how many there are. Behind the copy's end there may be some of them.
std::string poll_found_text(const EventRow& event, const EventContent& found) {
  const auto ready = elements<pollfd>(*found.bytes, [](const pollfd& one) {
    if (one.revents == 0) return std::string();
    const auto events = static_cast<std::uint16_t>(one.revents);
    return fmt::format("{{fd={}, revents={}}}", one.fd, syscalls::flags_text(syscalls::poll_events(), events));
  });
  return list_text(ready, found.cut && std::cmp_less(ready.size(), event.result.value_or(0)));
}

std::vector<std::string> epoll_texts(std::string_view bytes) {
  return elements<epoll_event>(bytes, [](const epoll_event& event) {
    const std::uint64_t data = event.data.u64;  // a copy: the structure is packed
    return fmt::format("{{{}, {{u64={}}}}}", syscalls::flags_text(syscalls::epoll_events(), event.events), data);
  });
}

std::string timespec_text(const timespec& time, std::string_view fraction = "tv_nsec") {
  return fmt::format("{{tv_sec={}, {}={}}}", time.tv_sec, fraction, time.tv_nsec);
}

std::string file_time_text(const timespec& time) {
  if (time.tv_nsec == UTIME_NOW) return "UTIME_NOW";
  return time.tv_nsec == UTIME_OMIT ? "UTIME_OMIT" : timespec_text(time);
}

// As the macros of wait(2) would ask.
std::string status_text(int status) {
  if (WIFEXITED(status)) return fmt::format("[{{WIFEXITED(s) && WEXITSTATUS(s) == {}}}]", WEXITSTATUS(status));
  if (WIFSIGNALED(status)) {
    const char* core = WCOREDUMP(status) ? " && WCOREDUMP(s)" : "";
    return fmt::format("[{{WIFSIGNALED(s) && WTERMSIG(s) == {}{}}}]", signal_name(WTERMSIG(status)), core);
  }
  if (WIFCONTINUED(status)) return "[{WIFCONTINUED(s)}]";
  if (WIFSTOPPED(status)) return fmt::format("[{{WIFSTOPPED(s) && WSTOPSIG(s) == {}}}]", signal_name(WSTOPSIG(status)));
  return fmt::format("[{:#x}]", static_cast<unsigned>(status));
}

// The fields that waitid writes.
std::string siginfo_text(std::string_view bytes) {
  struct {
    std::int32_t signal, error, code, pad, pid;
    std::uint32_t user;
    std::int32_t status;
  } info{};
  ByteReader in = reader_of(bytes);
  info = in.fixed<decltype(info)>();
  if (info.signal == 0) return "{}";
  const bool exited = info.code == CLD_EXITED;
  return fmt::format("{{si_signo={}, si_code={}, si_pid={}, si_uid={}, si_status={}, …}}", signal_name(info.signal),
                     syscalls::flags_text(syscalls::child_codes(), static_cast<std::uint32_t>(info.code)), info.pid,
                     info.user, exited ? std::to_string(info.status) : signal_name(info.status));
}

std::string stat_text(std::string_view bytes) {
  ByteReader in = reader_of(bytes);
  const auto file = in.fixed<struct stat>();
  const std::string what = S_ISCHR(file.st_mode) || S_ISBLK(file.st_mode)
                               ? fmt::format("st_rdev=makedev({:#x}, {:#x})", major(file.st_rdev), minor(file.st_rdev))
                               : fmt::format("st_size={}", file.st_size);
  return fmt::format("{{st_mode={}, {}, …}}", mode_text(file.st_mode), what);
}

std::string statx_text(std::string_view bytes) {
  ByteReader in = reader_of(bytes);
  const auto file = in.fixed<struct statx>();
  const std::uint64_t size = file.stx_size;
  return fmt::format("{{stx_mask={}, stx_mode={}, stx_size={}, …}}",
                     syscalls::flags_text(*syscalls::flags_of("statx", 3), file.stx_mask), mode_text(file.stx_mode),
                     size);
}

// struct usc_vector as the store has it: cut behind the last length.
struct Buffers {
  std::uint64_t count = 0;
  std::uint64_t control = 0;
  std::uint32_t flags = 0;
  std::vector<std::uint64_t> lengths;  // of the first
};

Buffers buffers_of(std::string_view bytes) {
  Buffers out;
  ByteReader in = reader_of(bytes);
  out.count = in.fixed<std::uint64_t>();
  out.control = in.fixed<std::uint64_t>();
  out.flags = in.fixed<std::uint32_t>();
  in.fixed<std::uint32_t>();
  while (in.ok() && in.left() >= sizeof(std::uint64_t) && out.lengths.size() < out.count)
    out.lengths.push_back(in.fixed<std::uint64_t>());
  return out;
}

// The buffers with what is known of the bytes in them. `filled`: so many bytes the kernel has written, into the first
// buffers first; nothing: the program filled all of them.
std::string buffers_text(const Buffers& buffers, const EventContent* data, std::optional<std::uint64_t> filled) {
  std::vector<std::string> items;
  std::string_view bytes = data != nullptr && data->bytes ? std::string_view(*data->bytes) : std::string_view();
  for (const std::uint64_t length : buffers.lengths) {
    const std::uint64_t wanted = std::min(length, filled.value_or(length));
    const std::string_view here = bytes.substr(0, wanted);
    if (filled) *filled -= wanted;
    bytes.remove_prefix(here.size());
    std::string text = data != nullptr && !data->bytes ? in_quotes(kRedacted) : data_in_quotes(here);
    if (here.size() < wanted && (data == nullptr || data->bytes))
      text = (here.empty() ? "" : text) + std::string(kMore);
    items.push_back(fmt::format("{{iov_base={}, iov_len={}}}", text, length));
  }
  return list_text(items, buffers.count > buffers.lengths.size());
}

std::string vector_text(const EventRow& event, const EventContent& vector, char letter) {
  std::optional<std::uint64_t> filled;
  if (vector.source == Source::kKernel)
    filled = static_cast<std::uint64_t>(std::max<std::int64_t>(event.result.value_or(0), 0));
  const Buffers buffers = buffers_of(*vector.bytes);
  const EventContent* data = find_content(event, static_cast<std::size_t>(vector.arg), Holds::kData);
  std::string list = buffers_text(buffers, data, filled);
  if (letter == 'e' || letter == 'E') return list;
  return fmt::format("msg_iov={}, msg_iovlen={}, msg_controllen={}, msg_flags={}", list, buffers.count, buffers.control,
                     syscalls::flags_text(*syscalls::flags_of("recvmsg", 2), buffers.flags));
}

// A struct msghdr: the address is a string of its own.
std::string message_text(const EventRow& event, const EventContent& vector, char letter) {
  const auto name = std::find_if(event.strings.begin(), event.strings.end(), [&](const EventString& string) {
    return string.arg == vector.arg && string.source != Source::kDescriptor;
  });
  const std::string address =
      name == event.strings.end() ? "" : fmt::format("msg_name={{{}}}, ", escape_with(name->value, "{}"));
  return fmt::format("{{{}{}}}", address, vector_text(event, vector, letter));
}

// One of the messages of sendmmsg or recvmmsg, as far as it was kept.
std::string one_message_text(const usc_message& message, bool is_received) {
  const std::string_view address(message.address,
                                 std::min<std::size_t>(message.address_bytes, sizeof(message.address)));
  const std::string_view data(message.data, std::min<std::size_t>(message.data_bytes, sizeof(message.data)));
  std::string name;
  if (!address.empty())
    name = fmt::format("msg_name={{{}}}, ", escape_with(trace_text(socket_address_text(address)), "{}"));
  const std::uint64_t filled = is_received ? std::min<std::uint64_t>(message.length, message.first) : message.first;
  std::string text = data.empty() ? "" : data_in_quotes(data);
  if (data.size() < filled) text += kMore;
  std::string buffer = message.buffers == 0 ? "" : fmt::format("{{iov_base={}, iov_len={}}}", text, message.first);
  if (message.buffers > 1) buffer += ", …";
  const std::string length = is_received ? fmt::format(", msg_len={}", message.length) : "";
  return fmt::format("{{msg_hdr={{{}msg_iov=[{}], msg_iovlen={}}}{}}}", name, buffer, message.buffers, length);
}

std::string messages_text(const EventContent& content) {
  const bool is_received = content.source == Source::kKernel;
  return list_text(
      elements<usc_message>(*content.bytes,
                            [&](const usc_message& message) { return one_message_text(message, is_received); }),
      content.cut);
}

// "[110 => 24]": a length before the call and after it; "[24]" if it is the same, or if there is one of them alone.
std::string length_text(std::string_view bytes) {
  ByteReader in = reader_of(bytes);
  const auto before = in.fixed<std::uint32_t>();
  if (in.left() < sizeof(before)) return fmt::format("[{}]", before);
  const auto after = in.fixed<std::uint32_t>();
  return before == after ? fmt::format("[{}]", after) : fmt::format("[{} => {}]", before, after);
}

// "[0 3]": the descriptors of a set of select's, of which the call looks at so many bits.
std::string set_text(std::string_view bytes, std::int64_t count) {
  constexpr std::int64_t kByteBits = 8;
  std::string out;
  for (std::int64_t fd = 0; fd < std::min<std::int64_t>(count, kByteBits * std::ssize(bytes)); fd++) {
    const auto byte = static_cast<unsigned char>(bytes[static_cast<std::size_t>(fd / kByteBits)]);
    if ((byte >> fd % kByteBits & 1) != 0) out += (out.empty() ? "" : " ") + std::to_string(fd);
  }
  return "[" + out + "]";
}

std::string set_text(const EventRow& event, const EventContent& set) {
  return set_text(*set.bytes, static_cast<std::int32_t>(event.args[0].value_or(0)));
}

// The structure that a letter stands for; nothing for a letter that stands for none, or if not all of it is there.
std::optional<std::string> structure_text(const EventRow& event, const EventContent& content, char letter) {
  const std::string_view bytes = *content.bytes;
  const auto has = [&](std::size_t least) { return bytes.size() >= least; };
  ByteReader in = reader_of(bytes);
  switch (letter) {
    case 'e':
    case 'E':
      if (has(sizeof(std::uint64_t))) return vector_text(event, content, letter);
      break;
    case 'n':
    case 'N':
      if (has(sizeof(std::uint64_t))) return message_text(event, content, letter);
      break;
    case 'U':
      return content.source == Source::kKernel ? poll_found_text(event, content) : poll_text(bytes, content.cut);
    case 'y':
      if (has(sizeof(epoll_event))) return epoll_texts(bytes).front();
      break;
    case 'Y':
      return list_text(epoll_texts(bytes), content.cut);
    case 't':
    case 'T':
      if (has(sizeof(timespec))) return timespec_text(in.fixed<timespec>());
      break;
    case 'k':
      if (has(sizeof(timespec))) return timespec_text(in.fixed<timespec>(), "tv_usec");
      break;
    case 'h':
    case 'j':
      if (has(sizeof(itimerspec))) {
        const auto times = in.fixed<itimerspec>();
        if (letter == 'h')
          return fmt::format("[{}, {}]", file_time_text(times.it_interval), file_time_text(times.it_value));
        return fmt::format("{{it_interval={}, it_value={}}}", timespec_text(times.it_interval),
                           timespec_text(times.it_value));
      }
      break;
    case 'Q':
    case 'V':
      return messages_text(content);
    case 'Z':
      if (has(sizeof(std::uint32_t))) return length_text(bytes);
      break;
    case '1':
      return set_text(event, content);
    case 'c':
    case 'C':
    case 'R':
    case 'K':
    case 'L':
    case '8':
      return fixed_text(event, static_cast<std::size_t>(content.arg), bytes, content.cut);
    case '2':
    case '3':
    case '4':
    case '5':
      return array_text(event, static_cast<std::size_t>(content.arg), bytes, content.cut);
    case '6':
    case '7':
      return nodes_text(bytes, content.cut);
    case 'W':
      if (has(sizeof(int))) return status_text(in.fixed<int>());
      break;
    case 'I':
      return siginfo_text(bytes);
    case 'S':
      if (has(sizeof(struct stat))) return stat_text(bytes);
      break;
    case 'X':
      if (has(sizeof(struct statx))) return statx_text(bytes);
      break;
    case 'P':
      return list_text(elements<std::int32_t>(bytes, [](std::int32_t number) { return std::to_string(number); }),
                       false);
    default:
      break;
  }
  return std::nullopt;
}

// " (in [3], out [4])": the descriptors that a select found ready.
std::string ready_sets_text(const EventRow& event) {
  constexpr std::array<const char*, 3> kSets = {"in", "out", "except"};
  std::string out;
  for (std::size_t i = 0; i < kSets.size(); i++) {
    const EventContent* set = find_structure(event, i + 1, Source::kKernel);
    const std::string text = set != nullptr && set->bytes ? set_text(event, *set) : "[]";
    if (text != "[]") out += fmt::format("{}{} {}", out.empty() ? "" : ", ", kSets.at(i), text);
  }
  return out.empty() ? "" : " (" + out + ")";
}

char letter_of(const EventRow& event, int arg) {
  const auto abi = trace::abi_of_name(event.abi).value_or(USC_ABI_NATIVE);
  const auto letters = syscalls::syscall_arguments(abi, static_cast<std::uint32_t>(event.nr)).value_or("");
  return arg >= 0 && static_cast<std::size_t>(arg) < letters.size() ? letters[static_cast<std::size_t>(arg)] : '\0';
}

}  // namespace

std::optional<std::string> contents_text(const EventRow& event, std::size_t arg, char letter) {
  if (event.contents.empty()) return std::nullopt;
  if (letter == 'b' || letter == 'B') {
    const EventContent* data = find_content(event, arg, Holds::kData);
    if (data == nullptr) return std::nullopt;
    return data_text(*data);
  }
  // What a poll or a select was asked stands at its argument, what it found behind its result. Of a structure that the
  // kernel has filled, its contents.
  const EventContent* structure =
      letter == 'R' || letter == '8' ? find_structure(event, arg, Source::kKernel) : nullptr;
  if (structure == nullptr)
    structure = letter == 'U' || letter == '1' ? find_structure(event, arg, Source::kProgram)
                                               : find_content(event, arg, Holds::kStructure);
  if (structure == nullptr || !structure->bytes) return std::nullopt;
  return structure_text(event, *structure, letter);
}

std::string content_text(const EventRow& event, const EventContent& content) {
  if (content.holds == Holds::kData) return data_text(content);
  if (!content.bytes) return in_quotes(kRedacted);
  return structure_text(event, content, letter_of(event, content.arg)).value_or(hex_of(*content.bytes));
}

std::string found_text(const EventRow& event) {
  if (event.contents.empty()) return "";
  if (letter_of(event, 1) == '1') return ready_sets_text(event);
  if (letter_of(event, 0) != 'U') return "";
  const EventContent* found = find_structure(event, 0, Source::kKernel);
  if (found == nullptr || !found->bytes) return "";
  return fmt::format(" ({})", poll_found_text(event, *found));
}

}  // namespace uscope::cli
