// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Checks what the BPF programs need of this machine.
#include <sys/stat.h>

#include <array>
#include <string>

#include "support/text.h"
#include "tracer/host/host.h"

namespace uscope::tracer {
namespace {

// CAP_PERFMON and CAP_BPF came with Linux 5.8; older headers do not name them.
struct Capability {
  int number;
  const char* name;
  const char* why;
};
constexpr std::array<Capability, 3> kCapabilities = {{
    {39, "CAP_BPF", "to load programs and maps"},
    {38, "CAP_PERFMON", "to read user memory and kernel types in them"},
    {21, "CAP_SYS_ADMIN", "to open the files behind mappings of other processes (/proc/PID/map_files)"},
}};

Check check_capabilities(const Host& host) {
  Check check{std::string(kPrivileges), true, "", ""};
  for (const Capability& capability : kCapabilities) {
    if ((host.capabilities >> capability.number & 1) != 0) continue;
    check.ok = false;
    check.found +=
        (check.found.empty() ? "missing " : ", ") + std::string(capability.name) + " (" + capability.why + ")";
  }
  if (check.ok) check.found = "CAP_BPF, CAP_PERFMON, CAP_SYS_ADMIN";
  check.remedy =
      "run uscope as root (sudo), or in a container started with these capabilities; README.Debian of the package says "
      "how a user gets them";
  return check;
}

Check check_btf(const Host& host) {
  constexpr const char* kPath = "/sys/kernel/btf/vmlinux";
  struct stat status {};
  if (stat((host.root + kPath).c_str(), &status) != 0)
    return {"kernel BTF", false, std::string(kPath) + " is not there",
            "use a kernel built with CONFIG_DEBUG_INFO_BTF=y"};
  return {"kernel BTF", true, std::string(kPath) + ", " + plural(static_cast<std::uint64_t>(status.st_size), "byte"),
          ""};
}

// Confidentiality forbids reading user memory from BPF.
Check check_lockdown(const Host& host) {
  const std::string level = lockdown_level(host);
  return {"kernel lockdown", level != "confidentiality", level.empty() ? "not in use" : level,
          "boot without lockdown=confidentiality (Secure Boot may set it)"};
}

Check check_jit(const Host& host) {
  const std::string text = first_line(host, "/proc/sys/net/core/bpf_jit_enable");
  if (text.empty()) return {"BPF JIT", true, "setting cannot be read", ""};
  return {"BPF JIT", text != "0", text == "0" ? "off" : "on", "sysctl net.core.bpf_jit_enable=1"};
}

}  // namespace

std::vector<Check> bpf_checks(const Host& host) {
  return {check_kernel(host), check_btf(host), check_capabilities(host), check_lockdown(host), check_jit(host)};
}

}  // namespace uscope::tracer
