// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The name of what a call is about, from the texts that the store has of it.
#pragma once

#include <optional>
#include <string>

namespace uscope::analyzer {

// `folder` is where a relative path begins. An address that a call was given is named as the socket is afterwards:
// `socket:[to inet:127.0.0.1:80]`, or for bind `socket:[at …]`. nullopt if neither text is known.
[[nodiscard]] std::optional<std::string> object_name(const std::string& call, const std::optional<std::string>& folder,
                                                     const std::optional<std::string>& name);

}  // namespace uscope::analyzer
