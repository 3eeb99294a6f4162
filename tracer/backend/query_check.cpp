// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/backend/query_check.h"

#include <array>
#include <string>

namespace uscope::tracer {
namespace {

#define USC_X(name, meaning) meaning,
constexpr std::array kMeanings{USC_QUERY_ERRORS(USC_X)
#undef USC_X
};

}  // namespace

Result<void> check_query(const usc_query& query) {
  __u32 at = 0;
  const usc_query_error error = usc_query_check(&query, &at);
  if (error == USC_QUERY_BAD_SOUND) return {};
  const bool of_instruction = error >= USC_QUERY_BAD_OP && error != USC_QUERY_BAD_READS;
  return Error{"the question cannot be run in the kernel: " +
                   (of_instruction ? "instruction " + std::to_string(at) + ": " : std::string()) + kMeanings.at(error),
               "this is a fault of uscope: please report it with `uscope doctor`"};
}

}  // namespace uscope::tracer
