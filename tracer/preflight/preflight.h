// What a backend needs of this machine, looked at one by one, so that `uscope doctor` can say what is missing and what
// helps.
#pragma once

#include <string>
#include <vector>

namespace uscope::tracer {

struct Check {
  std::string name;  // "kernel BTF"
  bool ok = false;
  std::string found;   // what was seen: "/sys/kernel/btf/vmlinux, 5,123,456 bytes"
  std::string remedy;  // what to do where it is not ok
};

struct BackendReport {
  std::string backend;  // "bpf" or "kmod"
  bool usable = false;
  std::vector<Check> checks;
};

// Looks at privileges, kernel version, BTF, lockdown and finally loads the programs, which decides.
[[nodiscard]] BackendReport examine_bpf();
// Looks at whether modules may be loaded, privileges, headers, signatures, and finally opens a session, which decides.
[[nodiscard]] BackendReport examine_kmod();

}  // namespace uscope::tracer
