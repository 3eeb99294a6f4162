// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/targets/tracepoints.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>
#include <tuple>
#include <utility>

#include "uscope/probes.h"

namespace uscope::tracer {
namespace {

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// The number behind "size:" in "\tfield:int a;\toffset:8;\tsize:4;\tsigned:1;"
std::optional<std::int64_t> number_behind(std::string_view line, std::string_view key) {
  const std::size_t at = line.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view digits = line.substr(at + key.size());
  std::int64_t number = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), number).ec != std::errc()) return std::nullopt;
  return number;
}

struct Field {
  ProbeArgument argument;
  bool is_readable = false;
};

// How it is read. False: it is neither a number nor a text.
bool find_value(ProbeArgument& argument, bool is_list, std::int64_t size) {
  if (argument.type == "__data_loc char[]" || argument.type == "__rel_loc char[]") {
    argument.is_string = true;
    argument.bytes = 4;
    return true;
  }
  if (is_list) {
    argument.is_string = argument.type.starts_with("char[");
    return argument.is_string;
  }
  if (size != 1 && size != 2 && size != 4 && size != 8) return false;
  if (argument.type.starts_with("__data_loc") || argument.type.starts_with("__rel_loc")) return false;
  argument.bytes = static_cast<std::uint8_t>(size);
  return true;
}

std::optional<Field> parse_field(std::string_view line) {
  constexpr std::string_view kField = "field:";
  line = trimmed(line);
  if (!line.starts_with(kField)) return std::nullopt;
  std::string_view declared = trimmed(line.substr(kField.size(), line.find(';') - kField.size()));
  // "char comm[16]" is named comm and has the type char[16].
  std::string_view length;
  if (declared.ends_with(']')) {
    const std::size_t open = declared.rfind('[');
    if (open == std::string_view::npos) return std::nullopt;
    // Of "__data_loc char[] name" the brackets stand before the name.
    length = declared.substr(open);
    declared = declared.substr(0, open);
  }
  const std::size_t blank = declared.find_last_of(" *");
  if (blank == std::string_view::npos || blank + 1 >= declared.size()) return std::nullopt;
  Field field;
  ProbeArgument& out = field.argument;
  out.name = std::string(declared.substr(blank + 1));
  out.type = std::string(trimmed(declared.substr(0, blank + 1))) + std::string(length);
  out.from = ProbeArgument::From::kRecord;
  const auto offset = number_behind(line, "offset:");
  const auto size = number_behind(line, "size:");
  if (out.name.starts_with("common_") || !offset || !size) return std::nullopt;
  out.offset = *offset;
  out.is_signed = number_behind(line, "signed:").value_or(0) != 0;
  field.is_readable = find_value(out, !length.empty(), *size);
  return field;
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

Result<std::string> tracefs_folder(const Host& host) {
  for (const char* folder : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"})
    if (exists(host, std::string(folder) + "/events")) return host.root + folder;
  if (exists(host, "/sys/kernel/tracing"))
    return Error{"the kernel's tracepoints cannot be looked up: tracefs is not mounted, or not readable",
                 "run as root, or mount it: mount -t tracefs tracefs /sys/kernel/tracing"};
  return Error{"this kernel has no tracefs, by which tracepoints are looked up",
               "it takes a kernel with CONFIG_TRACING"};
}

Result<std::vector<TracepointName>> tracepoints(const std::string& folder) {
  std::vector<TracepointName> names;
  std::error_code error;
  for (const auto& system : std::filesystem::directory_iterator(folder + "/events", error)) {
    if (!system.is_directory()) continue;
    std::error_code of_system;
    for (const auto& event : std::filesystem::directory_iterator(system.path(), of_system)) {
      // `ftrace` has descriptions of the tracer's own records, which cannot be turned on.
      std::error_code ignored;
      if (event.is_directory() && std::filesystem::exists(event.path() / "enable", ignored))
        names.push_back({system.path().filename().string(), event.path().filename().string()});
    }
  }
  if (error) return Error{"cannot read " + folder + "/events: " + error.message(), "run as root"};
  std::sort(names.begin(), names.end(), [](const TracepointName& a, const TracepointName& b) {
    return std::tie(a.system, a.event) < std::tie(b.system, b.event);
  });
  return names;
}

Result<Probe> read_tracepoint(const std::string& folder, const TracepointName& name) {
  const std::string path = folder + "/events/" + name.system + "/" + name.event;
  Probe probe;
  probe.source = USC_SOURCE_TRACEPOINT;
  probe.system = name.system;
  probe.event = name.event;
  probe.name = name.system + ":" + name.event;
  const std::string id = text_of(path + "/id");
  if (std::from_chars(id.data(), id.data() + id.size(), probe.event_id).ec != std::errc())
    return Error{"cannot read " + path + "/id", "run as root"};
  TracepointFields fields = parse_tracepoint_format(text_of(path + "/format"));
  probe.arguments = std::move(fields.arguments);
  probe.not_kept = what_is_not_kept(fields.too_many, fields.unreadable);
  // What calls are given lies in the program's memory; other pointers are the kernel's.
  if (name.system == "syscalls")
    for (ProbeArgument& argument : probe.arguments) argument.is_string |= argument.type == "const char *";
  return probe;
}

TracepointFields parse_tracepoint_format(std::string_view format) {
  TracepointFields fields;
  while (!format.empty()) {
    const std::size_t end = format.find('\n');
    if (auto field = parse_field(format.substr(0, end))) {
      if (!field->is_readable)
        fields.unreadable.push_back(std::move(field->argument.name));
      else if (fields.arguments.size() == USC_PROBE_ARGUMENTS)
        fields.too_many.push_back(std::move(field->argument.name));
      else
        fields.arguments.push_back(std::move(field->argument));
    }
    if (end == std::string_view::npos) break;
    format.remove_prefix(end + 1);
  }
  return fields;
}

std::string what_is_not_kept(const std::vector<std::string>& too_many, const std::vector<std::string>& unreadable,
                             WhyUnreadable why) {
  const auto sentence = [](const std::vector<std::string>& names, const char* reason) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text.empty() ? text : fmt::format("{} {} not kept: {}", text, names.size() == 1 ? "is" : "are", reason);
  };
  const std::string first = sentence(too_many, "an event holds six arguments");
  const std::string second = sentence(unreadable, unreadable.size() == 1 ? why.one : why.several);
  return first + (first.empty() || second.empty() ? "" : "; ") + second;
}

}  // namespace uscope::tracer
