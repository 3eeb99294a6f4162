// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "syscalls/signal_names.h"

#include <algorithm>
#include <csignal>
#include <span>

#include "syscalls/errno_names.h"
#include "uscope/record.h"

namespace uscope::syscalls {
namespace {

struct CodeName {
  int code;
  const char* name;
};

#define N(name) \
  { name, #name }
// Codes that every signal may have.
constexpr CodeName kAnySignal[] = {N(SI_USER),  N(SI_KERNEL),  N(SI_QUEUE), N(SI_TIMER),   N(SI_MESGQ),
                                   N(SI_TKILL), N(SI_ASYNCIO), N(SI_SIGIO), N(SI_ASYNCNL), N(SI_DETHREAD)};
constexpr CodeName kIll[] = {N(ILL_ILLOPC), N(ILL_ILLOPN), N(ILL_ILLADR), N(ILL_ILLTRP),
                             N(ILL_PRVOPC), N(ILL_PRVREG), N(ILL_COPROC), N(ILL_BADSTK)};
constexpr CodeName kFpe[] = {N(FPE_INTDIV), N(FPE_INTOVF), N(FPE_FLTDIV), N(FPE_FLTOVF),
                             N(FPE_FLTUND), N(FPE_FLTRES), N(FPE_FLTINV), N(FPE_FLTSUB)};
constexpr CodeName kSegv[] = {N(SEGV_MAPERR), N(SEGV_ACCERR), N(SEGV_BNDERR), N(SEGV_PKUERR)};
constexpr CodeName kBus[] = {N(BUS_ADRALN), N(BUS_ADRERR), N(BUS_OBJERR), N(BUS_MCEERR_AR), N(BUS_MCEERR_AO)};
constexpr CodeName kTrap[] = {N(TRAP_BRKPT), N(TRAP_TRACE)};
constexpr CodeName kChild[] = {N(CLD_EXITED),  N(CLD_KILLED),  N(CLD_DUMPED),
                               N(CLD_TRAPPED), N(CLD_STOPPED), N(CLD_CONTINUED)};
constexpr CodeName kPoll[] = {N(POLL_IN), N(POLL_OUT), N(POLL_MSG), N(POLL_ERR), N(POLL_PRI), N(POLL_HUP)};
// linux/seccomp.h
constexpr CodeName kSys[] = {{1, "SYS_SECCOMP"}, {2, "SYS_USER_DISPATCH"}};
#undef N

std::span<const CodeName> codes_of(int number) {
  switch (number) {
    case SIGILL:
      return kIll;
    case SIGFPE:
      return kFpe;
    case SIGSEGV:
      return kSegv;
    case SIGBUS:
      return kBus;
    case SIGTRAP:
      return kTrap;
    case SIGCHLD:
      return kChild;
    case SIGIO:
      return kPoll;
    case SIGSYS:
      return kSys;
    default:
      return {};
  }
}

constexpr int kLastSignal = 64;

}  // namespace

std::string signal_kind_name(std::uint32_t kind) {
  const bool sent = (kind & USC_SIGNAL_KIND_SENT) != 0;
  const auto number = static_cast<int>(kind & ~USC_SIGNAL_KIND_SENT);
  std::string name = signal_name(number);
  if (name.empty()) name = "signal_" + std::to_string(number);
  return name + (sent ? " sent" : " delivered");
}

std::vector<std::string> kinds_of_signal(const std::string& name) {
  std::vector<std::string> kinds;
  for (int number = 1; number <= kLastSignal; number++) {
    if (name != kAllSignals && signal_name(number) != name) continue;
    const auto kind = static_cast<std::uint32_t>(number);
    kinds.push_back(signal_kind_name(kind | USC_SIGNAL_KIND_SENT));
    kinds.push_back(signal_kind_name(kind));
  }
  return kinds;
}

bool asks_for_signals(std::string_view set) {
  if (set.starts_with('!')) return false;  // leaves out all that is behind it
  for (bool more = true; more;) {
    const std::size_t comma = set.find(',');
    if (set.substr(0, comma) == kAllSignals) return true;
    more = comma != std::string_view::npos;
    if (more) set.remove_prefix(comma + 1);
  }
  return false;
}

std::string signal_code_name(int number, int code) {
  for (const std::span<const CodeName> codes : {codes_of(number), std::span<const CodeName>(kAnySignal)}) {
    const auto* const found =
        std::find_if(codes.data(), codes.data() + codes.size(), [code](const CodeName& c) { return c.code == code; });
    if (found != codes.data() + codes.size()) return found->name;
  }
  return std::to_string(code);
}

}  // namespace uscope::syscalls
