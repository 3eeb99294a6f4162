// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/backend/load_failure.h"

#include <bpf/libbpf.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "tracer/host/host.h"

namespace uscope::tracer {
namespace {

constexpr std::size_t kMostLog = 16384;

thread_local std::string kept_log;

int collect_message(libbpf_print_level level, const char* format, va_list arguments) {
  if (level == LIBBPF_DEBUG) return 0;
  char* made = nullptr;
  const int bytes = vasprintf(&made, format, arguments);
  if (bytes < 0) return 0;
  const std::unique_ptr<char, decltype(&std::free)> text(made, std::free);
  kept_log.append(text.get(), static_cast<std::size_t>(bytes));
  if (kept_log.size() > kMostLog) kept_log.erase(0, kept_log.size() - kMostLog);
  return 0;
}

bool says_nothing(std::string_view line) {
  if (line.empty()) return true;
  constexpr std::array<std::string_view, 4> kBegins = {"processed ", "-- END", "-- BEGIN", "libbpf: failed to load"};
  if (std::any_of(kBegins.begin(), kBegins.end(), [&](std::string_view begin) { return line.rfind(begin, 0) == 0; }))
    return true;
  return line.rfind("libbpf: prog '", 0) == 0 &&
         (line.find("failed to load: -") != std::string_view::npos || line.find("-- BEGIN") != std::string_view::npos);
}

}  // namespace

void collect_libbpf_log() {
  kept_log.clear();
  libbpf_set_print(collect_message);
}

const std::string& libbpf_log() {
  return kept_log;
}

std::string decisive_line(std::string_view log) {
  while (!log.empty()) {
    while (!log.empty() && log.back() == '\n') log.remove_suffix(1);
    const std::size_t at = log.rfind('\n');
    const std::string_view line = at == std::string_view::npos ? log : log.substr(at + 1);
    if (!says_nothing(line)) return std::string(line);
    log = at == std::string_view::npos ? std::string_view{} : log.substr(0, at);
  }
  return {};
}

const char* bpf_remedy(int number) {
  if (number == ENOMEM)
    return "raise the memory limit of the control group that uscope runs in (memory.max; MemoryMax= in a unit of "
           "systemd)";
  return "run as root, or with CAP_BPF, CAP_PERFMON and CAP_SYS_ADMIN; `uscope doctor` says more";
}

Error load_failure(int number, std::string_view log, const std::vector<Check>& checks) {
  Error failure = errno_error("cannot load the BPF programs", number, bpf_remedy(number));
  if (const std::string line = decisive_line(log); !line.empty()) failure.what += " (" + line + ")";
  // Whatever else the log says, such as that a map was asked for once more without BTF.
  if (number == ENOMEM) return failure;
  // A locked-down kernel takes bpf_probe_read_kernel and its kin away: the verifier does not know these functions then.
  const bool no_reading = log.find("unknown func bpf_probe_read") != std::string_view::npos ||
                          log.find("cannot use helper bpf_probe_read") != std::string_view::npos;
  if (no_reading)
    return {failure.what + ": the kernel is locked down: programs may not read its memory",
            "boot without lockdown=confidentiality (Secure Boot may set it)"};
  if (number == EPERM || number == EACCES) return explained_by(failure, checks);
  const bool no_types = log.find("BTF") != std::string_view::npos;
  if (no_types) return explained_by(failure, checks);
  failure.remedy = "`uscope doctor` says more; with the kernel module (--backend kmod) no programs are loaded";
  return failure;
}

}  // namespace uscope::tracer
