// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/session/record_plan.h"

#include <fmt/ranges.h>
#include <sys/utsname.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/render/units.h"
#include "cli/session/record_probes.h"
#include "cli/session/record_target.h"
#include "cli/terminal/text_width.h"
#include "descriptors/descriptor_calls.h"
#include "support/redactor.h"
#include "support/text.h"
#include "syscalls/call_traits.h"
#include "syscalls/structures.h"
#include "syscalls/syscall_table.h"
#include "tracer/host/host.h"
#include "tracer/recorder/recorder.h"
#include "uscope/futex.h"

namespace uscope::cli {
namespace {

// With contents, a call may take forty times the room.
constexpr std::uint32_t kContentsRingBytes = 64U << 20;

// Parses bytes: "10M", "1.5G", "4096".
Result<std::uint64_t> parse_size(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const std::string unit = end;
  double factor = 1;
  if (unit == "K" || unit == "k")
    factor = 1024.0;
  else if (unit == "M")
    factor = 1024.0 * 1024;
  else if (unit == "G")
    factor = 1024.0 * 1024 * 1024;
  else if (!unit.empty())
    factor = -1;
  constexpr double kMost = 9e18;
  constexpr std::size_t kShown = 40;
  if (end == text.c_str() || !(number > 0) || factor < 0 || !(number * factor < kMost))
    return Error{"not a size: " + shorten(text, kShown, Shrink::kMiddle), "give bytes, or a number with K, M or G"};
  return static_cast<std::uint64_t>(number * factor);
}

// Calls that change what descriptors and folders stand for are followed where `-e` leaves them out: the others' names
// depend on them.
bool is_followed(usc_abi abi, std::uint32_t nr) {
  return descriptors::descriptor_call(syscalls::syscall_name(abi, nr)) != descriptors::DescriptorCall::kNone;
}

// Whether a call takes a descriptor or a path: then its names depend on the others.
bool takes_names(usc_abi abi, std::uint32_t nr) {
  const auto letters = syscalls::syscall_arguments(abi, nr);
  return syscalls::object_args(abi, nr).any() ||
         (letters && std::string_view(*letters).find_first_of("dD") != std::string_view::npos);
}

bool any_takes_names(const syscalls::SyscallSet& calls) {
  for (const usc_abi abi : syscalls::kTableAbis)
    for (std::uint32_t nr = 0; nr < USC_SYSCALL_BITS; nr++)
      if (calls.tables[USC_CALL_TABLE(abi)][nr] && takes_names(abi, nr)) return true;
  return false;
}

// All calls that are about an object, as -e has them; a few of them are about none.
constexpr const char* kWithObjects = "%file,%desc,%network";

// With --path, calls that are about nothing are not recorded.
Result<void> leave_out_others(const RecordVerbOptions& options, const syscalls::SyscallSet& calls, usc_config& config) {
  if (options.paths.empty()) return {};
  if (options.no_strings)
    return Error{"--path chooses by names, and --no-strings asks for none", "leave one of the two out"};
  bool any = false;
  const auto narrow = [&](usc_abi abi, std::uint32_t nr, bool chosen, __u64& word) {
    if (!chosen) return;
    if (syscalls::object_args(abi, nr).any())
      any = true;
    else
      word &= ~(std::uint64_t{1} << nr % 64);
  };
  for (const usc_abi abi : syscalls::kTableAbis)
    for (std::uint32_t nr = 0; nr < USC_SYSCALL_BITS; nr++)
      narrow(abi, nr, calls.tables[USC_CALL_TABLE(abi)][nr], config.calls[USC_CALL_TABLE(abi)][nr / 64]);
  if (!any)
    return Error{"--path keeps calls on files and other objects, and -e " + options.calls + " names none of these",
                 "name calls that take a path or a descriptor, or leave -e out"};
  return {};
}

// Where a word of sizes stands in the configuration, which has each once. syscalls/structures.cpp has fewer words than
// there are places (record_plan_test).
__u8 structure_place(usc_config& config, std::uint64_t word) {
  std::size_t place = 0;
  while (place < USC_STRUCTURE_WORDS && config.structures[place] != word &&
         (place == 0 || config.structures[place] != 0))
    place++;
  if (place == USC_STRUCTURE_WORDS) return 0;
  config.structures[place] = word;
  return static_cast<__u8>(place);
}

// Futexes are recorded even without strings.
void choose_strings(const RecordVerbOptions& options, bool follows, usc_config& config) {
  if (!options.no_strings) config.string_bytes = options.string_bytes;
  config.data_bytes = options.data_bytes;
  config.argument_bytes = options.argument_bytes;
  const auto chosen = [&](usc_abi abi, std::uint32_t nr) {
    const std::uint64_t kinds = syscalls::syscall_strings(abi, nr, options.data_bytes != 0);
    if (options.no_strings) return kinds == usc_string_slot(0, USC_STRING_FUTEX) ? kinds : 0;
    const bool opens =
        descriptors::descriptor_call(syscalls::syscall_name(abi, nr)) == descriptors::DescriptorCall::kOpen;
    return kinds | (opens ? std::uint64_t{USC_CALL_OPENS} : 0) |
           (follows && is_followed(abi, nr) ? std::uint64_t{USC_CALL_FOLLOWED} : 0);
  };
  for (std::uint32_t nr = 0; nr < USC_SYSCALL_BITS; nr++)
    for (const usc_abi abi : syscalls::kTableAbis) {
      config.strings[USC_CALL_TABLE(abi)][nr] = chosen(abi, nr);
      config.structures_of[USC_CALL_TABLE(abi)][nr] = structure_place(config, syscalls::syscall_structures(abi, nr));
    }
}

// The command as the trace stores it.
std::vector<std::string> recorded_command(const RecordVerbOptions& options) {
  const Redactor redactor(options.redact);
  std::vector<std::string> out;
  for (const std::string& argument : options.command)
    out.push_back(redactor.hides(argument) ? std::string(kRedacted) : argument);
  if (options.no_strings && out.size() > 1) {
    out.resize(1);
    out.emplace_back("…");
  }
  return out;
}

}  // namespace

Result<tracer::RecordOptions> recorder_options(const RecordVerbOptions& options) {
  tracer::RecordOptions out;
  if (auto set = set_target(options, out); !set) return set.error();
  out.config.scope = {static_cast<__u32>(options.mode), options.budget};
  out.config.verify_every = options.verify_every;
  auto calls = syscalls::parse_syscall_set(options.calls);
  if (!calls) return calls.error();
  for (std::size_t nr = 0; nr < USC_SYSCALL_BITS; nr++) {
    for (std::size_t table = 0; table < calls->tables.size(); table++)
      if (calls->tables[table][nr]) out.config.calls[table][nr / 64] |= 1ull << nr % 64;
  }
  if (options.no_strings && options.data_bytes != 0)
    return Error{"--data records what calls carry, and --no-strings asks for no contents of memory",
                 "leave one of the two out"};
  if (calls->none() && options.targets.empty() && !options.signals)
    return Error{"-e " + options.calls + " leaves nothing to record",
                 options.takes_command ? "name other events: -t TARGET or --signals" : "name calls"};
  if (auto narrowed = leave_out_others(options, *calls, out.config); !narrowed) return narrowed.error();
  const bool follows = !options.no_strings && any_takes_names(*calls);
  choose_strings(options, follows, out.config);
  out.config.signals = options.signals ? 1 : 0;
  if (!options.no_strings) out.config.mount_space = tracer::own_mount_space();
  if (options.data_bytes != 0) out.sizes.ring_bytes = kContentsRingBytes;
  out.redact = options.redact;
  out.modules = {options.app_modules, options.excluded_modules};
  if (options.backend == "bpf") out.backend = tracer::BackendChoice::kBpf;
  if (!options.stap.empty() && options.backend == "bpf")
    return Error{"--stap needs the kernel module, and --backend bpf is asked for", "leave --backend out"};
  if (options.backend == "kmod" || !options.stap.empty()) out.backend = tracer::BackendChoice::kKmod;
  if (!options.duration.empty()) {
    auto duration = parse_duration(options.duration);
    if (!duration) return duration.error();
    if (*duration == 0)
      return Error{"--duration 0 leaves no time to trace", "give a time such as 10s, or leave it out"};
    out.duration_ns = static_cast<std::uint64_t>(*duration);
  }
  if (!options.until_stall.empty()) {
    auto duration = parse_duration(options.until_stall);
    if (!duration) return duration.error();
    constexpr std::int64_t kLeast = 1'000'000'000;  // younger waits are not looked at (tracer/futex/futex_watch.h)
    if (*duration < kLeast)
      return Error{"--until-stall is too short: " + options.until_stall,
                   "give at least 1s: shorter waits are not looked at"};
    out.stall_ns = static_cast<std::uint64_t>(*duration);
    if (!calls->tables[USC_CALLS_NATIVE][USC_FUTEX_NATIVE])
      return Error{"--until-stall looks at futex calls, which -e " + options.calls + " leaves out", "add futex to -e"};
  }
  if (!options.max_size.empty()) {
    auto size = parse_size(options.max_size);
    if (!size) return size.error();
    out.max_bytes = *size;
  }
  const auto joined = [](const std::vector<std::string>& list) {
    nlohmann::json array = nlohmann::json::array();
    for (const std::string& item : list) array.push_back(trace_text(item));
    return array.dump();
  };
  utsname system{};
  uname(&system);
  out.meta = {
      {"uscope_version", USCOPE_VERSION},
      {"host", trace_text(system.nodename)},
      {"kernel", std::string(system.sysname) + " " + system.release},
      {"mode", std::to_string(options.mode)},
      {"frames", std::to_string(options.budget)},
      {"calls", !options.paths.empty() && options.calls == "all" ? kWithObjects : options.calls},
      {"followed", !follows ? "" : fmt::format("{}", fmt::join(descriptors::all_descriptor_calls(), ","))},
      {"target", trace_text(Redactor(options.redact).hides(describe_target(options)) ? std::string(kRedacted)
                                                                                     : describe_target(options))},
      {"strings", std::to_string(out.config.string_bytes)},
      {"argument_bytes", std::to_string(out.config.argument_bytes)},
      {"mount_space", std::to_string(out.config.mount_space)},
      {"data", std::to_string(out.config.data_bytes)},
      {"signals", std::to_string(out.config.signals)},
      {"redact", joined(options.redact)},
      {"follow", options.follow},
      {"app_modules", joined(options.app_modules)},
      {"excluded_modules", joined(options.excluded_modules)},
      {"verify_every", std::to_string(options.verify_every)}};
  out.launch.setting = {!options.no_strings, options.environment, options.redact};
  if (!options.paths.empty()) out.meta.emplace_back("paths", joined(options.paths));
  if (!options.stap.empty()) out.meta.emplace_back("stap", trace_text(options.stap));
  if (!options.command.empty()) out.meta.emplace_back("command", joined(recorded_command(options)));
  if (auto set = set_probes(options, out); !set) return set.error();
  return out;
}

}  // namespace uscope::cli
