// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/render/signal_text.h"

#include <fmt/core.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/render/json.h"
#include "support/text.h"
#include "syscalls/errno_names.h"
#include "syscalls/signal_names.h"
#include "syscalls/syscall_table.h"

namespace uscope::cli {
namespace {

using analyzer::EventSignal;

// As values of struct sigaction.
constexpr std::int64_t kDefaultAction = 0;
constexpr std::int64_t kIgnored = 1;

std::string name_of(const EventSignal& signal) {
  const std::string name = syscalls::signal_name(signal.number);
  return name.empty() ? fmt::format("signal {}", signal.number) : name;
}

// A child's exit status, or the signal by which it ended or stopped.
std::string child_status_text(const EventSignal& signal, std::int64_t status) {
  const std::string name = signal.code == CLD_EXITED ? "" : syscalls::signal_name(static_cast<int>(status));
  return name.empty() ? std::to_string(status) : name;
}

// A thread as it stands before its events: "name[pid/tid]"; a process without a tid.
std::string task_text(const std::string& name, std::int64_t pid, std::optional<std::int64_t> tid) {
  const std::string shown = name.empty() ? "?" : printable(name);
  return tid ? fmt::format("{}[{}/{}]", shown, pid, *tid) : fmt::format("{}[{}]", shown, pid);
}

std::string address_text(std::int64_t address) {
  return address == 0 ? "NULL" : hex_number(static_cast<std::uint64_t>(address));
}

// What became of it, if it is not simply on its way.
std::string outcome_text(const EventSignal& signal) {
  std::string out;
  if (signal.blocked) out += ", blocked";
  if (signal.result == "ignored") return ", ignored";
  if (signal.result == "pending") return out + ", pending already";
  if (signal.result == "overflow") return ", lost: the queue is full";
  if (signal.result == "no_data") return out + ", without its data: the queue is full";
  return out;
}

std::string handler_text(const EventSignal& signal) {
  if (signal.handler == kDefaultAction) return "default action";
  if (signal.handler == kIgnored) return "ignored";
  std::string out = "handler " + hex_number(static_cast<std::uint64_t>(signal.handler));
  if (!signal.handler_function.empty()) out += "<" + printable(signal.handler_function) + ">";
  return out;
}

// Nothing but its number is known of a signal that has ended its process at once (include/uscope/core/tasks/signals.h).
bool ended_at_once(const EventSignal& signal) {
  return signal.delivered && signal.handler == kDefaultAction && signal.code == SI_USER && !signal.info.pid;
}

}  // namespace

std::string signal_info_text(const EventSignal& signal) {
  if (ended_at_once(signal)) return "";
  const trace::SignalInfo& info = signal.info;
  std::string out = "si_code=" + syscalls::signal_code_name(signal.number, signal.code);
  const auto add = [&out](const char* field, const std::optional<std::int64_t>& value) {
    if (value) out += fmt::format(", {}={}", field, *value);
  };
  add("si_pid", info.pid);
  add("si_uid", info.uid);
  if (info.status) out += ", si_status=" + child_status_text(signal, *info.status);
  add("si_timerid", info.timer);
  add("si_overrun", info.overrun);
  if (info.value)
    out += fmt::format(", si_int={}, si_ptr={}", static_cast<std::int32_t>(*info.value), address_text(*info.value));
  if (info.address)
    out += fmt::format(", {}={}", info.syscall ? "si_call_addr" : "si_addr", address_text(*info.address));
  if (info.syscall)
    out += ", si_syscall=" + syscalls::syscall_name(USC_ABI_NATIVE, static_cast<std::uint32_t>(*info.syscall));
  add("si_fd", info.fd);
  if (info.band) out += fmt::format(", si_band={}", hex_number(static_cast<std::uint64_t>(*info.band)));
  return out;
}

std::string signal_text(const EventSignal& signal) {
  if (ended_at_once(signal)) return fmt::format("--- {} ends the process ---", name_of(signal));
  const std::string start = fmt::format("--- {} {{{}}}", name_of(signal), signal_info_text(signal));
  if (signal.delivered) return fmt::format("{} {} ---", start, handler_text(signal));
  const std::string by =
      signal.sender_pid ? task_text(signal.sender, *signal.sender_pid, signal.sender_tid) : "the kernel";
  return fmt::format("{} sent by {} to {}{} ---", start, by,
                     task_text(signal.receiver, signal.receiver_pid, signal.receiver_tid), outcome_text(signal));
}

nlohmann::ordered_json signal_json(const EventSignal& signal) {
  const trace::SignalInfo& info = signal.info;
  const bool has_code = !ended_at_once(signal);
  nlohmann::ordered_json sent;
  nlohmann::ordered_json delivered;
  if (signal.delivered) {
    const bool has_handler = signal.handler != kDefaultAction && signal.handler != kIgnored;
    delivered = {
        {"action", has_handler ? "handler" : (signal.handler == kIgnored ? "ignored" : "default")},
        {"handler", has_handler ? nlohmann::ordered_json(hex_number(static_cast<std::uint64_t>(signal.handler)))
                                : nlohmann::ordered_json()},
        {"function", json_value(signal.handler_function)}};
  } else {
    sent = {{"result", json_value(signal.result)},
            {"blocked", signal.blocked},
            {"by_kernel", !signal.sender_pid},
            {"sender_pid", json_value(signal.sender_pid)},
            {"sender_tid", signal.sender_pid ? nlohmann::ordered_json(signal.sender_tid) : nlohmann::ordered_json()},
            {"sender", json_value(signal.sender)},
            {"receiver_pid", signal.receiver_pid},
            {"receiver_tid", json_value(signal.receiver_tid)},
            {"receiver", json_value(signal.receiver)}};
  }
  return {{"name", json_value(name_of(signal))},
          {"number", signal.number},
          {"code", has_code ? nlohmann::ordered_json(signal.code) : nlohmann::ordered_json()},
          {"code_name", has_code ? nlohmann::ordered_json(syscalls::signal_code_name(signal.number, signal.code))
                                 : nlohmann::ordered_json()},
          {"pid", json_value(info.pid)},
          {"uid", json_value(info.uid)},
          {"status", json_value(info.status)},
          {"value", json_value(info.value)},
          {"address", info.address ? nlohmann::ordered_json(hex_number(static_cast<std::uint64_t>(*info.address)))
                                   : nlohmann::ordered_json()},
          {"sent", sent},
          {"delivered", delivered}};
}

}  // namespace uscope::cli
