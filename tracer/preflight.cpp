#include "tracer/preflight.h"

#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <string>

#include "support/text.h"
#include "tracer/backend.h"

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

std::uint64_t effective_capabilities() {
  __user_cap_header_struct header{};
  std::array<__user_cap_data_struct, 2> data{};
  header.version = _LINUX_CAPABILITY_VERSION_3;
  if (syscall(SYS_capget, &header, data.data()) != 0) return 0;
  return std::uint64_t{data[1].effective} << 32 | data[0].effective;
}

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

Check check_kernel() {
  utsname name{};
  uname(&name);
  int major = 0;
  int minor = 0;
  std::sscanf(name.release, "%d.%d", &major, &minor);
  return {"kernel version", major > 6 || (major == 6 && minor >= 1), std::string("Linux ") + name.release,
          "Linux 6.1 or later is needed"};
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

// "none [integrity] confidentiality": the bracketed word is in force. Confidentiality forbids reading user memory from
// BPF.
Check check_lockdown() {
  std::ifstream file("/sys/kernel/security/lockdown");
  std::string text;
  if (!std::getline(file, text)) return {"kernel lockdown", true, "not in use", ""};
  const std::size_t begin = text.find('[');
  const std::size_t end = text.find(']');
  const std::string level =
      begin == std::string::npos || end == std::string::npos ? text : text.substr(begin + 1, end - begin - 1);
  return {"kernel lockdown", level != "confidentiality", level,
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
  config.cpus = static_cast<__u32>(sysconf(_SC_NPROCESSORS_CONF));
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
