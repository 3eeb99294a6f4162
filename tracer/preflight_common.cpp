#include "tracer/preflight_common.h"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>

namespace uscope::tracer {

std::uint64_t effective_capabilities() {
  __user_cap_header_struct header{};
  std::array<__user_cap_data_struct, 2> data{};
  header.version = _LINUX_CAPABILITY_VERSION_3;
  if (syscall(SYS_capget, &header, data.data()) != 0) return 0;
  return std::uint64_t{data[1].effective} << 32 | data[0].effective;
}

std::string kernel_release() {
  utsname name{};
  uname(&name);
  return name.release;
}

Check check_kernel() {
  const std::string release = kernel_release();
  int major = 0;
  int minor = 0;
  std::sscanf(release.c_str(), "%d.%d", &major, &minor);
  return {"kernel version", major > 6 || (major == 6 && minor >= 1), "Linux " + release,
          "Linux 6.1 or later is needed"};
}

// The file says "none [integrity] confidentiality": the bracketed word is in force.
std::string lockdown_level() {
  std::ifstream file("/sys/kernel/security/lockdown");
  std::string text;
  if (!std::getline(file, text)) return "";
  const std::size_t begin = text.find('[');
  const std::size_t end = text.find(']');
  if (begin == std::string::npos || end == std::string::npos) return text;
  return text.substr(begin + 1, end - begin - 1);
}

}  // namespace uscope::tracer
