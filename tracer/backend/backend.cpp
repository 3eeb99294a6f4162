// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/backend/backend.h"

#include <unistd.h>

#include <fstream>
#include <string>

#include "uscope/device.h"

namespace uscope::tracer {

std::uint32_t possible_processors() {
  std::ifstream file("/sys/devices/system/cpu/possible");
  std::string text;
  std::getline(file, text);
  const std::size_t at = text.find_last_of("-,");
  const std::string last = at == std::string::npos ? text : text.substr(at + 1);
  return last.empty() ? static_cast<std::uint32_t>(sysconf(_SC_NPROCESSORS_CONF))
                      : static_cast<std::uint32_t>(std::stoul(last)) + 1;
}

Result<std::unique_ptr<Backend>> open_backend(BackendChoice choice, const usc_config& config, const BackendSizes& sizes,
                                              const ProbePlan& probes) {
  if (choice == BackendChoice::kKmod) return open_kmod_backend(config, sizes, probes);
  if (choice == BackendChoice::kBpf || !probes.empty() || access(USC_DEVICE_PATH, F_OK) != 0)
    return open_bpf_backend(config, sizes, probes);
  auto module = open_kmod_backend(config, sizes, probes);
  if (module) return module;
  auto bpf = open_bpf_backend(config, sizes, probes);
  if (bpf) return bpf;
  return Error{"no backend can trace here. bpf: " + bpf.error().what + "; kmod: " + module.error().what,
               "`uscope doctor` says what helps"};
}

}  // namespace uscope::tracer
