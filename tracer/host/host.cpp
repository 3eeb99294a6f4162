// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/host/host.h"

#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

namespace uscope::tracer {
namespace {

std::uint64_t effective_capabilities() {
  __user_cap_header_struct header{};
  std::array<__user_cap_data_struct, 2> data{};
  header.version = _LINUX_CAPABILITY_VERSION_3;
  if (syscall(SYS_capget, &header, data.data()) != 0) return 0;
  return std::uint64_t{data[1].effective} << 32 | data[0].effective;
}

}  // namespace

Host this_host() {
  utsname name{};
  uname(&name);
  return {"", name.release, effective_capabilities()};
}

bool exists(const Host& host, const std::string& path) {
  struct stat status {};
  return stat((host.root + path).c_str(), &status) == 0;
}

std::string first_line(const Host& host, const std::string& path) {
  std::ifstream file(host.root + path);
  std::string line;
  std::getline(file, line);
  return line;
}

Check check_kernel(const Host& host) {
  int major = 0;
  int minor = 0;
  std::sscanf(host.release.c_str(), "%d.%d", &major, &minor);
  return {"kernel version", major > 6 || (major == 6 && minor >= 1), "Linux " + host.release,
          "Linux 6.1 or later is needed"};
}

// The file contains "none [integrity] confidentiality": the bracketed word is in force. It is missing if securityfs is
// not mounted, as in many containers; the kernel's command line then shows the boot setting.
std::string lockdown_level(const Host& host) {
  std::string text = first_line(host, "/sys/kernel/security/lockdown");
  if (text.empty()) {
    std::istringstream words(first_line(host, "/proc/cmdline"));
    for (std::string word; words >> word;)
      if (word.rfind("lockdown=", 0) == 0) text = word.substr(word.find('=') + 1);
  }
  const std::size_t begin = text.find('[');
  const std::size_t end = text.find(']');
  if (begin == std::string::npos || end == std::string::npos) return text;
  return text.substr(begin + 1, end - begin - 1);
}

std::uint32_t own_mount_space() {
  struct stat space {};
  return stat("/proc/self/ns/mnt", &space) == 0 ? static_cast<std::uint32_t>(space.st_ino) : 0;
}

bool in_initial_pid_namespace(const Host& host) {
  constexpr const char* kInitial = "pid:[4026531836]";  // PROC_PID_INIT_INO of include/linux/proc_ns.h
  std::error_code error;
  const auto name = std::filesystem::read_symlink(host.root + "/proc/self/ns/pid", error);
  return error || name == kInitial;
}

Error explained_by(Error failure, const std::vector<Check>& checks) {
  const auto missing = std::find_if(checks.begin(), checks.end(), [](const Check& check) { return !check.ok; });
  if (missing == checks.end()) return failure;
  if (missing->name == kPrivileges)
    return {"tracing needs root: " + missing->found + ": " + failure.what, missing->remedy};
  return {failure.what + ": " + missing->name + ": " + missing->found, missing->remedy};
}

}  // namespace uscope::tracer
