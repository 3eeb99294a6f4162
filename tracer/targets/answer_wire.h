// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Answers as bytes, from the process that reads programs and libraries to its parent.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.h"
#include "tracer/targets/target_search.h"

namespace uscope::tracer {

[[nodiscard]] std::string encode_answers(std::span<const TargetAnswer> answers);

// Untrusted bytes: an error for any that encode_answers() does not make of answers about files.
[[nodiscard]] Result<std::vector<TargetAnswer>> decode_answers(std::string_view bytes);

}  // namespace uscope::tracer
