// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Containers, as the paths of control groups name them.
#pragma once

#include <string_view>

namespace uscope::trace {

// The id of the innermost container in the path of a control group: 64 hexadecimal digits in one of its components, as
// Docker, containerd, CRI-O and Podman make them ("docker-ID.scope", "kubepods/…/ID"). Empty: no component has one.
// The group of a container's monitor (conmon) bears the container's id, and is outside of it.
[[nodiscard]] std::string_view container_of(std::string_view cgroup_path);

}  // namespace uscope::trace
