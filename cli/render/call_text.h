// A call's arguments and result as text, near to what strace writes: names for flags, strings in quotes, descriptors
// with what they stand for. Everything that a program chose is escaped.
#pragma once

#include <string>

#include "analyzer/read/event_query.h"

namespace uscope::cli {

// It is no call: another kernel module logged it, with six numbers.
[[nodiscard]] bool is_logged(const analyzer::EventRow& event);

// What stands between the call's parentheses: the arguments that it takes; all registers of a call that no table knows.
[[nodiscard]] std::string arguments_text(const analyzer::EventRow& event);

// What stands behind " = ".
[[nodiscard]] std::string result_text(const analyzer::EventRow& event);

}  // namespace uscope::cli
