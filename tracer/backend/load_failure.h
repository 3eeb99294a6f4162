// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Why the kernel refused the BPF programs, from what libbpf printed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/result.h"
#include "tracer/host/host.h"

namespace uscope::tracer {

// From now on this thread's messages of libbpf, the verifier's log among them, are kept instead of printed: the last
// 16 KiB.
void collect_libbpf_log();
[[nodiscard]] const std::string& libbpf_log();

// The last line that says something: not how much was processed, nor that loading has failed. "" = none.
[[nodiscard]] std::string decisive_line(std::string_view log);

// What to do about an errno number of a BPF call: more memory, or more privileges.
[[nodiscard]] const char* bpf_remedy(int number);

// What to do where probes are refused for want of privileges.
constexpr const char* kProbePrivileges = "run as root, or with CAP_BPF, CAP_PERFMON and CAP_SYS_ADMIN";

// The failure to load with errno `number`. Where the log names a helper that the kernel keeps from programs, that is
// lockdown; what `checks` find missing explains a refusal of permission, and nothing else.
[[nodiscard]] Error load_failure(int number, std::string_view log, const std::vector<Check>& checks);

}  // namespace uscope::tracer
