// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// As the kernel decides it (kernel/signal.c, siginfo_layout): a code between SI_USER and SI_KERNEL belongs to the
// signal; any other says by itself what there is.
#include "trace/signal_info.h"

#include <linux/audit.h>

#include <array>
#include <csignal>

namespace uscope::trace {
namespace {

constexpr std::array<std::string_view, USC_SIGNAL_RESULT_COUNT> kResults{
#define USC_X(constant, name, meaning) name,
#include "uscope/lists/signal_result.def"
#undef USC_X
};

std::int64_t low(std::uint64_t word) {
  return static_cast<std::int32_t>(word);
}

std::int64_t high(std::uint64_t word) {
  return static_cast<std::int32_t>(word >> 32);
}

bool is_fault(int number) {
  return number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE || number == SIGTRAP;
}

void add_sender(const usc_signal& signal, SignalInfo& out) {
  out.pid = low(signal.info[0]);
  out.uid = static_cast<std::uint32_t>(signal.info[0] >> 32);
}

void add_poll(const usc_signal& signal, SignalInfo& out) {
  out.band = static_cast<std::int64_t>(signal.info[0]);
  out.fd = low(signal.info[1]);
}

// A code of the signal's own.
void add_own(const usc_signal& signal, SignalInfo& out) {
  if (is_fault(signal.number)) {
    out.address = static_cast<std::int64_t>(signal.info[0]);
  } else if (signal.number == SIGCHLD) {
    add_sender(signal, out);
    out.status = low(signal.info[1]);
  } else if (signal.number == SIGSYS) {
    out.address = static_cast<std::int64_t>(signal.info[0]);
    if (signal.info[1] >> 32 == USC_AUDIT_ARCH) out.syscall = low(signal.info[1]);
  } else {
    add_poll(signal, out);
  }
}

}  // namespace

SignalInfo signal_info(const usc_signal& signal) {
  SignalInfo out;
  if ((signal.flags & USC_SIGNAL_NO_INFO) != 0) return out;
  if (signal.code > SI_USER && signal.code < SI_KERNEL) {
    add_own(signal, out);
  } else if (signal.code == SI_KERNEL && is_fault(signal.number)) {
    out.address = static_cast<std::int64_t>(signal.info[0]);
  } else if (signal.code == SI_TIMER) {
    out.timer = low(signal.info[0]);
    out.overrun = high(signal.info[0]);
    out.value = static_cast<std::int64_t>(signal.info[1]);
  } else if (signal.code == SI_SIGIO) {
    add_poll(signal, out);
  } else if (signal.code != SI_KERNEL) {
    add_sender(signal, out);
    if (signal.code < 0 && signal.code != SI_TKILL) out.value = static_cast<std::int64_t>(signal.info[1]);
  }
  return out;
}

usc_event event_of_signal(const usc_signal& signal) {
  const bool delivered = (signal.flags & USC_SIGNAL_DELIVERED) != 0;
  usc_event event{};
  event.head = signal.head;
  event.entry_ns = signal.head.time;
  event.stack = signal.stack;
  event.image = signal.image;
  event.source = USC_SOURCE_SIGNAL;
  event.kind = signal.number | (delivered ? 0 : USC_SIGNAL_KIND_SENT);
  event.how = delivered ? USC_HOW_DELIVERED : USC_HOW_SENT;
  event.flags = USC_EVENT_NO_RESULT;
  return event;
}

std::string_view signal_result_name(std::uint32_t result) {
  return result < kResults.size() ? kResults[result] : "";
}

}  // namespace uscope::trace
