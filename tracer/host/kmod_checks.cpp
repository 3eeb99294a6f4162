// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Checks what the kernel module needs of this machine.
#include <array>
#include <fstream>
#include <string>
#include <vector>

#include "support/text.h"
#include "tracer/host/host.h"
#include "tracer/host/kernel_module.h"

namespace uscope::tracer {
namespace {

constexpr int kCapSysModule = 16;
constexpr int kCapSysAdmin = 21;
constexpr const char* kSecureBoot = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";

bool is_loaded(const Host& host) {
  return exists(host, "/sys/module/uscope");
}

Check check_modules_allowed(const Host& host) {
  if (!exists(host, "/proc/modules"))
    return {"loadable modules", false, "this kernel has no module support",
            "use --backend bpf, or a kernel with CONFIG_MODULES=y"};
  if (!is_loaded(host) && first_line(host, "/proc/sys/kernel/modules_disabled") == "1")
    return {"loadable modules", false, "kernel.modules_disabled is 1: none can be loaded until the next boot",
            "use --backend bpf, or load the module before this is set"};
  return {"loadable modules", true, "allowed", ""};
}

Check check_privileges(const Host& host) {
  const bool admin = (host.capabilities >> kCapSysAdmin & 1) != 0;
  const bool loader = (host.capabilities >> kCapSysModule & 1) != 0;
  if (admin && (loader || is_loaded(host))) return {std::string(kPrivileges), true, "CAP_SYS_ADMIN", ""};
  return {std::string(kPrivileges), false,
          admin ? "missing CAP_SYS_MODULE (to load the module)" : "missing CAP_SYS_ADMIN (to open /dev/uscope)",
          "run uscope as root (sudo)"};
}

// Only needed while the module is not built.
Check check_headers(const Host& host) {
  const std::string build = "/lib/modules/" + host.release + "/build";
  if (is_loaded(host) || !installed_module(host).empty())
    return {"kernel headers", true, "not needed: the module is built", ""};
  if (exists(host, build + "/Makefile")) return {"kernel headers", true, build, ""};
  return {"kernel headers", false, build + " is not there", "apt-get install linux-headers-" + host.release};
}

// The variable holds four bytes of attributes, then 1 if Secure Boot is on.
bool secure_boot(const Host& host) {
  std::ifstream file(host.root + kSecureBoot, std::ios::binary);
  std::array<char, 5> bytes{};
  return file.read(bytes.data(), bytes.size()) && bytes[4] == 1;
}

Check check_signature(const Host& host) {
  const std::string level = lockdown_level(host);
  const bool locked = level == "integrity" || level == "confidentiality";
  const bool enforced = first_line(host, "/sys/module/module/parameters/sig_enforce") == "Y";
  std::string found = secure_boot(host) ? "Secure Boot is on" : "Secure Boot is off";
  found += ", lockdown " + (level.empty() ? std::string("not in use") : level);
  if (enforced) found += ", unsigned modules are refused (module.sig_enforce)";
  return {"module signature", is_loaded(host) || !(locked || enforced), found,
          "sign the module with a key that the machine trusts: mokutil --import /var/lib/dkms/mok.pub, reboot and "
          "confirm, then dkms install uscope"};
}

Check check_loaded(const Host& host) {
  if (is_loaded(host)) {
    const std::string version = first_line(host, "/sys/module/uscope/version");
    return {"module", true, "loaded, version " + version, ""};
  }
  if (const std::string path = installed_module(host); !path.empty())
    return {"module", false, "not loaded; installed as " + path, "modprobe uscope"};
  return {"module", false, "not loaded, and not built for this kernel (" + host.release + ")",
          "dkms install uscope, or in the source tree: make -C kmod && insmod kmod/uscope.ko"};
}

}  // namespace

std::string installed_module(const Host& host) {
  const std::string folder = "/lib/modules/" + host.release;
  std::ifstream file(host.root + folder + "/modules.dep");
  std::string line;
  while (std::getline(file, line)) {
    const std::string path = line.substr(0, line.find(':'));  // absolute, or below the folder
    if (base_name(path).starts_with("uscope.ko")) return joined_path(folder, path);
  }
  return "";
}

std::vector<Check> kmod_checks(const Host& host) {
  std::vector<Check> checks = {check_kernel(host), check_modules_allowed(host)};
  // Remedies for the remaining checks would not help.
  if (!checks.back().ok) return checks;
  checks.insert(checks.end(), {check_privileges(host), check_headers(host), check_signature(host), check_loaded(host)});
  return checks;
}

}  // namespace uscope::tracer
