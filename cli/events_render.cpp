#include "cli/events_render.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

#include "cli/json.h"
#include "cli/units.h"
#include "store/syscall_table.h"
#include "support/text.h"

namespace uscope::cli {
namespace {

using analyzer::EventRow;
using analyzer::StackFrame;

std::string hex(std::int64_t value) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(value));
  return text.data();
}

// The kernel's restart codes: no program sees them, the call is made again or becomes EINTR.
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

std::string result_text(const EventRow& event) {
  if (event.how == "open") return "? (has not returned)";
  if (event.how == "killed") return "? (killed inside)";
  if (event.how == "attached" && !event.dur_ns) return "? (was inside when tracing began, has not returned)";
  if (!event.result) return "?";
  if (const char* restart = restart_name(*event.result)) return std::string("? ") + restart + " (to be restarted)";
  if (event.error.empty()) return std::to_string(*event.result);
  const char* meaning = strerrordesc_np(static_cast<int>(-*event.result));
  std::string text = "-1 " + event.error;
  if (meaning) text += " (" + std::string(meaning) + ")";
  if (event.how == "no_entry") text += " [denied before the call was entered]";
  return text;
}

usc_abi abi_of(const std::string& name) {
  if (name == "i386") return USC_ABI_I386;
  return name == "x32" ? USC_ABI_X32 : USC_ABI_X86_64;
}

// One argument by its letter in store/syscalls.def.
std::string argument_text(char kind, std::int64_t value) {
  constexpr std::int64_t kAtFdcwd = -100;
  const auto number = static_cast<std::int32_t>(value);  // an int's register may hold anything above
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
    case 'm': {
      std::array<char, 24> octal{};
      std::snprintf(octal.data(), octal.size(), "%#o", static_cast<unsigned>(number));
      return octal.data();
    }
    case 'f':
      return number == 0 ? "0" : hex(static_cast<std::uint32_t>(value));
    default:
      return value == 0 ? "NULL" : hex(value);
  }
}

// The arguments that the call takes, as they stood in the registers; of pointers to strings that were read, the
// strings. All registers of a call that no table knows.
std::string arguments_text(const EventRow& event) {
  const auto kinds = store::syscall_arguments(abi_of(event.abi), static_cast<std::uint32_t>(event.nr));
  std::string out;
  for (std::size_t i = 0; i < event.args.size(); i++) {
    if (!event.args[i] || (kinds && i >= kinds->size())) break;
    if (i) out += ", ";
    const auto string = std::find_if(event.strings.begin(), event.strings.end(),
                                     [&](const analyzer::EventString& s) { return s.arg == static_cast<int>(i); });
    if (string != event.strings.end())
      out += "\"" + escape_terminal(string->value) + "\"";
    else
      out += argument_text(kinds ? (*kinds)[i] : 'p', *event.args[i]);
  }
  return out;
}

}  // namespace

std::string event_text(const EventRow& event) {
  std::string out = std::to_string(event.pid) + "/" + std::to_string(event.tid) + " " + seconds(event.ts_ns) + " " +
                    escape_terminal(event.call);
  if (event.abi != "x86_64" && !event.abi.empty()) out += "[" + escape_terminal(event.abi) + "]";
  out += "(" + arguments_text(event) + ") = " + result_text(event);
  if (event.dur_ns) out += " <" + human_duration(static_cast<double>(*event.dur_ns)) + ">";
  return out + "\n";
}

std::string frames_text(const std::vector<StackFrame>& frames, const std::string& ended) {
  std::string out;
  for (const StackFrame& frame : frames) {
    out += " > " + escape_terminal(frame.module) + "(" + escape_terminal(frame.function);
    out += frame.inlined ? " [inlined])" : "+" + hex(frame.function_offset) + ")";
    out += " [" + hex(frame.rel_pc) + "]";
    if (frame.kernel) out += " [kernel]";
    if (!frame.file.empty()) out += " " + escape_terminal(frame.file);
    if (!frame.file.empty() && frame.line > 0) out += ":" + std::to_string(frame.line);
    out += "\n";
  }
  if (frames.empty()) return " > (no stack)\n";
  if (ended != "root") out += " > (" + escape_terminal(ended) + ")\n";
  return out;
}

nlohmann::ordered_json event_json(const EventRow& event) {
  nlohmann::ordered_json args = nlohmann::ordered_json::array();
  for (const auto& arg : event.args) args.push_back(arg ? nlohmann::ordered_json(hex(*arg)) : nullptr);
  nlohmann::ordered_json strings = nlohmann::ordered_json::array();
  for (const auto& string : event.strings)
    strings.push_back({{"arg", string.arg}, {"value", json_value(string.value)}, {"late", string.late}});
  return {{"id", event.id},
          {"ts_ns", event.ts_ns},
          {"dur_ns", json_value(event.dur_ns)},
          {"how", json_value(event.how)},
          {"pid", event.pid},
          {"tid", event.tid},
          {"process", json_value(event.process)},
          {"thread", json_value(event.thread)},
          {"call", json_value(event.call)},
          {"abi", json_value(event.abi)},
          {"nr", event.nr},
          {"result", json_value(event.result)},
          {"error", json_value(event.error)},
          {"args", args},
          {"strings", strings},
          {"stack_id", json_value(event.stack_id)},
          {"depth", event.depth},
          {"ended", json_value(event.ended)},
          {"trigger", json_value(event.trigger)},
          {"trigger_module", json_value(event.trigger_module)},
          {"trigger_fallback", event.trigger_fallback}};
}

nlohmann::ordered_json frames_json(const std::vector<StackFrame>& frames) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const StackFrame& frame : frames)
    list.push_back({{"position", frame.position},
                    {"inline_depth", frame.inline_depth},
                    {"space", frame.kernel ? "kernel" : "user"},
                    {"inlined", frame.inlined},
                    {"module", json_value(frame.module)},
                    {"function", json_value(frame.function)},
                    {"function_offset", frame.function_offset},
                    {"rel_pc", frame.rel_pc},
                    {"file", json_value(frame.file)},
                    {"line", frame.line}});
  return list;
}

}  // namespace uscope::cli
