// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// uscope's kernel module, as it lies on this machine.
#pragma once

#include <string>

#include "tracer/host/host.h"

namespace uscope::tracer {

// The file that modprobe would load; "" = there is none for this kernel.
[[nodiscard]] std::string installed_module(const Host& host);

}  // namespace uscope::tracer
