// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/backend/program_check.h"

#include <array>
#include <string>

namespace uscope::tracer {
namespace {

constexpr std::array kMeanings{
#define USC_X(name, meaning) meaning,
    USC_PROGRAM_ERRORS(USC_X)};
constexpr std::array kQueryMeanings{USC_QUERY_ERRORS(USC_X)
#undef USC_X
};

}  // namespace

Result<void> check_program(const usc_program& program) {
  __u32 at = 0;
  const usc_program_error error = usc_program_check(&program, &at);
  if (error == USC_PROGRAM_SOUND) return {};
  if (error == USC_PROGRAM_UNKNOWN)
    return Error{"the filter program is of version " + std::to_string(program.version) +
                     ", and this uscope runs version " + std::to_string(USC_PROGRAM_VERSION),
                 "make it with this version of uscope, or record without a filter"};
  const bool of_instruction = program.length != 0 && program.length <= USC_PROGRAM_MOST;
  return Error{"the filter program cannot be run: " +
                   (of_instruction ? "instruction " + std::to_string(at) + ": " : std::string()) + kMeanings.at(error),
               "record without a filter, and report this as a fault of what made the program"};
}

Result<void> check_query(const usc_query& query) {
  __u32 at = 0;
  const usc_query_error error = usc_query_check(&query, &at);
  if (error == USC_QUERY_BAD_SOUND) return {};
  const bool of_instruction = error >= USC_QUERY_BAD_OP && error != USC_QUERY_BAD_READS;
  return Error{"the question cannot be run in the kernel: " +
                   (of_instruction ? "instruction " + std::to_string(at) + ": " : std::string()) +
                   kQueryMeanings.at(error),
               "this is a fault of uscope: please report it with `uscope doctor`"};
}

}  // namespace uscope::tracer
