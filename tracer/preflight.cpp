#include "tracer/preflight.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <string>

#include "support/text.h"
#include "tracer/backend.h"
#include "tracer/preflight_common.h"

namespace uscope::tracer {
namespace {

// CAP_PERFMON and CAP_BPF came with Linux 5.8; older headers do not name them.
struct Capability {
  int number;
  const char* name;
  const char* why;
};
constexpr std::array<Capability, 4> kCapabilities = {{
    {39, "CAP_BPF", "to load programs and maps"},
    {38, "CAP_PERFMON", "to read user memory and kernel types in them"},
    {21, "CAP_SYS_ADMIN", "to open the files behind mappings of other processes (/proc/PID/map_files)"},
    {24, "CAP_SYS_RESOURCE", "to lock memory on kernels that count it"},
}};

Check check_capabilities() {
  const std::uint64_t have = effective_capabilities();
  Check check{"privileges", true, "", ""};
  for (const Capability& capability : kCapabilities) {
    if ((have >> capability.number & 1) != 0) continue;
    check.ok = false;
    check.found +=
        (check.found.empty() ? "missing " : ", ") + std::string(capability.name) + " (" + capability.why + ")";
  }
  if (check.ok) check.found = "CAP_BPF, CAP_PERFMON, CAP_SYS_ADMIN, CAP_SYS_RESOURCE";
  check.remedy = "run uscope as root (sudo), or in a container started with these capabilities";
  return check;
}

Check check_btf() {
  constexpr const char* kPath = "/sys/kernel/btf/vmlinux";
  struct stat status {};
  if (stat(kPath, &status) != 0)
    return {"kernel BTF", false, std::string(kPath) + " is not there",
            "use a kernel built with CONFIG_DEBUG_INFO_BTF=y"};
  return {"kernel BTF", true,
          std::string(kPath) + ", " + group_digits(static_cast<std::uint64_t>(status.st_size)) + " bytes", ""};
}

// Confidentiality forbids reading user memory from BPF.
Check check_lockdown() {
  const std::string level = lockdown_level();
  return {"kernel lockdown", level != "confidentiality", level.empty() ? "not in use" : level,
          "boot without lockdown=confidentiality (Secure Boot may set it)"};
}

Check check_jit() {
  std::ifstream file("/proc/sys/net/core/bpf_jit_enable");
  std::string text;
  if (!std::getline(file, text)) return {"BPF JIT", true, "setting cannot be read", ""};
  return {"BPF JIT", text != "0", text == "0" ? "off" : "on", "sysctl net.core.bpf_jit_enable=1"};
}

// The one that decides: the programs are really loaded, and unloaded again.
Check check_load() {
  usc_config config{};
  config.scope = {USC_MODE_ALL_ALL, 64};
  config.cpus = possible_processors();
  BackendSizes sizes;
  sizes.ring_bytes = 1u << 16;
  sizes.rows = 1u << 10;
  sizes.index_entries = 1u << 10;
  auto backend = open_bpf_backend(config, sizes);
  if (!backend) return {"load the programs", false, backend.error().what, backend.error().remedy};
  if (auto attached = (*backend)->attach(); !attached)
    return {"load the programs", false, attached.error().what, attached.error().remedy};
  return {"load the programs", true, "loaded and attached", ""};
}

}  // namespace

BackendReport examine_bpf() {
  BackendReport report{"bpf", true, {}};
  report.checks = {check_kernel(), check_btf(), check_capabilities(), check_lockdown(), check_jit(), check_load()};
  report.usable = report.checks.back().ok;
  return report;
}

}  // namespace uscope::tracer
