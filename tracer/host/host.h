// This machine, as far as it decides whether a backend works. Files are looked up below a root, so that tests can show
// other machines.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/result.h"

namespace uscope::tracer {

// One thing that was looked at.
struct Check {
  std::string name;  // "kernel BTF"
  bool ok = false;
  std::string found;   // what was seen: "/sys/kernel/btf/vmlinux, 5,123,456 bytes"
  std::string remedy;  // what to do where it is not ok
};

// A machine as the checks see it.
struct Host {
  std::string root;                // before every path: "" = this machine's own
  std::string release;             // uname -r
  std::uint64_t capabilities = 0;  // effective ones, bits by capability number; 0 where they cannot be asked
};

[[nodiscard]] Host this_host();
[[nodiscard]] bool exists(const Host& host, const std::string& path);
// "" where there is no such file.
[[nodiscard]] std::string first_line(const Host& host, const std::string& path);
// Linux 6.1 or later.
[[nodiscard]] Check check_kernel(const Host& host);
// "none", "integrity" or "confidentiality"; "" where the kernel has no lockdown.
[[nodiscard]] std::string lockdown_level(const Host& host);

// Processes of others are known by the initial namespace's numbers: /proc must show the same ones.
[[nodiscard]] bool in_initial_pid_namespace(const Host& host);
// What the BPF programs need, but for loading them, which decides.
[[nodiscard]] std::vector<Check> bpf_checks(const Host& host);
// What the kernel module needs. Ends with the first check by which the others are pointless; the last one says whether
// the module is loaded.
[[nodiscard]] std::vector<Check> kmod_checks(const Host& host);

// A failure, and the first check that is not passed: what is missing most likely explains it.
[[nodiscard]] Error explained_by(Error failure, const std::vector<Check>& checks);

}  // namespace uscope::tracer
