// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The properties of this machine that decide whether a backend works. Files are looked up below a root, so that tests
// can present other machines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.h"

namespace uscope::tracer {

// The result of one check.
struct Check {
  std::string name;  // "kernel BTF"
  bool ok = false;
  std::string found;   // what was found: "/sys/kernel/btf/vmlinux, 5,123,456 bytes"
  std::string remedy;  // what to do if it is not ok
};

// A machine, as seen by the checks.
struct Host {
  std::string root;                // before every path: "" = this machine's own
  std::string release;             // uname -r
  std::uint64_t capabilities = 0;  // effective ones, bits by capability number; 0 if unknown
};

[[nodiscard]] Host this_host();
[[nodiscard]] bool exists(const Host& host, const std::string& path);
// Returns "" if there is no such file.
[[nodiscard]] std::string first_line(const Host& host, const std::string& path);
// Checks for Linux 6.1 or later.
[[nodiscard]] Check check_kernel(const Host& host);
// Returns "none", "integrity" or "confidentiality"; "" if the kernel has no lockdown.
[[nodiscard]] std::string lockdown_level(const Host& host);

// Other processes are identified by pids of the initial namespace, so /proc must show these.
[[nodiscard]] bool in_initial_pid_namespace(const Host& host);
// The mount namespace of this process, by its inode; 0: /proc does not say.
[[nodiscard]] std::uint32_t own_mount_space();
// Checks what the BPF programs need, except loading them, which is the decisive test.
[[nodiscard]] std::vector<Check> bpf_checks(const Host& host);
// Checks what the kernel module needs. Stops at the first check that makes the others pointless; the last one tells
// whether the module is loaded.
[[nodiscard]] std::vector<Check> kmod_checks(const Host& host);

// The name of the check of what this process may do.
inline constexpr std::string_view kPrivileges = "privileges";

// Adds the first failed check to an error, since that most likely explains it; a lack of privileges comes first.
[[nodiscard]] Error explained_by(Error failure, const std::vector<Check>& checks);

}  // namespace uscope::tracer
