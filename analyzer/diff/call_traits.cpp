// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/diff/call_traits.h"

#include <cerrno>

#include "analyzer/read/usual_error.h"
#include "syscalls/call_traits.h"
#include "trace/names.h"

namespace uscope::analyzer {

namespace {

// "poll" for "i386:poll", but not for "stap:poll", which is no call.
std::string_view without_abi(std::string_view kind) {
  const std::size_t colon = kind.find(':');
  const bool has_abi = colon != std::string_view::npos && trace::abi_of_name(kind.substr(0, colon));
  return has_abi ? kind.substr(colon + 1) : kind;
}

}  // namespace

bool is_call_kind(std::string_view kind) {
  const std::size_t colon = kind.find(':');
  if (colon == std::string_view::npos) return true;
  for (std::uint32_t source = 0; source < USC_SOURCE_COUNT; source++)
    if (source != USC_SOURCE_SYSCALL && trace::source_name(source) == kind.substr(0, colon)) return false;
  return true;
}

bool waits(std::string_view kind) {
  return syscalls::waits(without_abi(kind));
}

syscalls::Transfer transfer_of_kind(std::string_view kind) {
  return syscalls::transfer_of(without_abi(kind));
}

bool waits_for_tasks(std::string_view kind) {
  const std::string_view call = without_abi(kind);
  return call == "wait4" || call == "waitid" || call == "waitpid" || call.starts_with("futex");
}

bool is_passing(std::string_view kind, std::int64_t error) {
  if (error == EAGAIN || error == EINTR || error == EINPROGRESS || error == EALREADY) return true;
  return error == ETIMEDOUT && waits(kind);
}

bool is_telling(std::string_view kind, std::int64_t error) {
  return !is_passing(kind, error) && !is_usual_error(without_abi(kind), error);
}

bool is_consequence(std::string_view kind) {
  const std::string_view source = trace::source_name(USC_SOURCE_OFFCPU);
  return kind.starts_with(source) && kind.substr(source.size()).starts_with(':');
}

}  // namespace uscope::analyzer
