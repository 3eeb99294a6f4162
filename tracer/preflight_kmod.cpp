// What the kernel module needs of this machine.
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <string>

#include "tracer/backend.h"
#include "tracer/preflight.h"
#include "tracer/preflight_common.h"

namespace uscope::tracer {
namespace {

constexpr int kCapSysModule = 16;
constexpr int kCapSysAdmin = 21;
constexpr const char* kSecureBoot = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";

bool exists(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0;
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

bool is_loaded() {
  return exists("/sys/module/uscope");
}

// Where modprobe would find it, "" = nowhere.
std::string installed_module() {
  std::ifstream file("/lib/modules/" + kernel_release() + "/modules.dep");
  std::string line;
  while (std::getline(file, line)) {
    std::string path = line.substr(0, line.find(':'));
    const std::string name = path.substr(path.rfind('/') + 1);
    if (name.rfind("uscope.ko", 0) == 0) return path;
  }
  return "";
}

Check check_modules_allowed() {
  if (!exists("/proc/modules"))
    return {"loadable modules", false, "this kernel takes no modules",
            "use --backend bpf, or a kernel with CONFIG_MODULES=y"};
  if (!is_loaded() && first_line("/proc/sys/kernel/modules_disabled") == "1")
    return {"loadable modules", false, "kernel.modules_disabled is 1: none can be loaded until the next boot",
            "use --backend bpf, or load the module before this is set"};
  return {"loadable modules", true, "allowed", ""};
}

Check check_privileges() {
  const std::uint64_t have = effective_capabilities();
  const bool admin = (have >> kCapSysAdmin & 1) != 0;
  const bool loader = (have >> kCapSysModule & 1) != 0;
  if (admin && (loader || is_loaded())) return {"privileges", true, "CAP_SYS_ADMIN", ""};
  return {"privileges", false,
          admin ? "missing CAP_SYS_MODULE (to load the module)" : "missing CAP_SYS_ADMIN (to open /dev/uscope)",
          "run uscope as root (sudo)"};
}

// Of use only while the module is still to be built.
Check check_headers() {
  const std::string release = kernel_release();
  const std::string build = "/lib/modules/" + release + "/build";
  if (is_loaded() || !installed_module().empty())
    return {"kernel headers", true, "not needed: the module is built", ""};
  if (exists(build + "/Makefile")) return {"kernel headers", true, build, ""};
  return {"kernel headers", false, build + " is not there", "apt-get install linux-headers-" + release};
}

// The variable is four bytes of attributes, then 1 where Secure Boot is on.
bool secure_boot() {
  std::ifstream file(kSecureBoot, std::ios::binary);
  std::array<char, 5> bytes{};
  return file.read(bytes.data(), bytes.size()) && bytes[4] == 1;
}

Check check_signature() {
  const std::string level = lockdown_level();
  const bool locked = level == "integrity" || level == "confidentiality";
  const bool enforced = first_line("/sys/module/module/parameters/sig_enforce") == "Y";
  std::string found = secure_boot() ? "Secure Boot is on" : "Secure Boot is off";
  found += ", lockdown " + (level.empty() ? std::string("not in use") : level);
  if (enforced) found += ", unsigned modules are refused (module.sig_enforce)";
  return {"module signature", is_loaded() || !(locked || enforced), found,
          "sign the module with a key that the machine trusts: mokutil --import /var/lib/dkms/mok.pub, reboot and "
          "confirm, then dkms install uscope"};
}

Check check_loaded() {
  if (is_loaded()) {
    const std::string version = first_line("/sys/module/uscope/version");
    return {"module", true, "loaded, version " + version, ""};
  }
  if (const std::string path = installed_module(); !path.empty())
    return {"module", false, "not loaded; installed as " + path, "modprobe uscope"};
  return {"module", false, "not loaded, and not built for this kernel (" + kernel_release() + ")",
          "dkms install uscope, or in the source tree: make -C kmod && insmod kmod/uscope.ko"};
}

// The one that decides: a session, attached and closed again.
Check check_session() {
  usc_config config{};
  config.scope = {USC_MODE_ALL_ALL, 64};
  config.cpus = possible_processors();
  BackendSizes sizes;
  sizes.ring_bytes = 1u << 16;
  sizes.rows = 1u << 10;
  sizes.index_entries = 1u << 10;
  auto backend = open_kmod_backend(config, sizes);
  if (!backend) return {"open a session", false, backend.error().what, backend.error().remedy};
  if (auto attached = (*backend)->attach(); !attached)
    return {"open a session", false, attached.error().what, attached.error().remedy};
  return {"open a session", true, "opened and attached", ""};
}

}  // namespace

BackendReport examine_kmod() {
  BackendReport report{"kmod", false, {check_kernel(), check_modules_allowed()}};
  // What could be done about the rest would not help.
  if (!report.checks.back().ok) return report;
  report.checks.insert(report.checks.end(), {check_privileges(), check_headers(), check_signature(), check_loaded()});
  if (!report.checks.back().ok) return report;
  report.checks.push_back(check_session());
  report.usable = report.checks.back().ok;
  return report;
}

}  // namespace uscope::tracer
