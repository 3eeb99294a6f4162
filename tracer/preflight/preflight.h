// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Checks one by one what a backend needs of this machine, so that `uscope doctor` can say what is missing and what
// helps.
#pragma once

#include <string>
#include <vector>

#include "tracer/host/host.h"

namespace uscope::tracer {

struct BackendReport {
  std::string backend;  // "bpf" or "kmod"
  bool usable = false;
  std::vector<Check> checks;
};

// Checks privileges, kernel version, BTF and lockdown, and finally loads the programs, which decides.
[[nodiscard]] BackendReport examine_bpf();
// Checks whether modules may be loaded, privileges, headers and signatures, and finally opens a session, which decides.
[[nodiscard]] BackendReport examine_kmod();

}  // namespace uscope::tracer
