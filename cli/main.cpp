// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The `uscope` command: parses the command line, runs the verb that it names, prints errors.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "cli/options/command_line.h"
#include "cli/terminal/output.h"
#include "cli/verbs/all_verbs.h"
#include "support/end_signals.h"
#include "support/no_room.h"
#include "support/process/inherited.h"
#include "support/process/priority.h"

namespace uscope::cli {
namespace {

// For `record`, 2 would look like the exit status of the traced command.
int usage_code(int argc, char** argv) {
  constexpr int kReader = 2;
  constexpr int kRecord = 125;
  return argc > 1 && std::string(argv[1]) == "record" ? kRecord : kReader;
}

// If 0, 1 or 2 were closed, an output would be opened under that number, and messages would be written into it. These
// descriptors are close-on-exec, so programs that are executed later do not see them. In the place of standard output
// stands one that cannot be written to: an answer that nobody gets is an error.
void fill_standard_descriptors() {
  const bool has_output = fcntl(STDOUT_FILENO, F_GETFD) >= 0;
  int fd = 0;
  do fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  while (fd >= 0 && fd <= STDERR_FILENO);
  if (const int unwritable = has_output ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC); unwritable >= 0) {
    dup3(unwritable, STDOUT_FILENO, O_CLOEXEC);
    close(unwritable);
  }
  if (fd > STDERR_FILENO) close(fd);
}

int run(int argc, char** argv) {
  CommandLine line(kProgram, kPurpose, std::string(kProgram) + " " + USCOPE_VERSION);
  add_verbs(line);
  const Result<const Verb*> verb = line.parse(argc, argv);
  if (!verb) {
    print_error(verb.error());
    return usage_code(argc, argv);
  }
  const Result<int> result = *verb != nullptr ? (*verb)->run() : 0;  // nullptr: --help, --version
  Result<void> printed;
  if (std::fflush(stdout) != 0 && errno != EPIPE)
    printed = errno_error("cannot write the result", errno, room_remedy(errno, ""));
  if (result && printed) return *result;
  print_error(result ? printed.error() : result.error());
  return *verb != nullptr ? (*verb)->error_code() : usage_code(argc, argv);
}

}  // namespace
}  // namespace uscope::cli

#if defined(USCOPE_SANITIZED)
// LeakSanitizer stops all threads as a debugger does, which a confined process may not do.
#ifdef __clang__
#pragma clang diagnostic ignored "-Wreserved-identifier"  // the sanitizer's own name
#endif
extern "C" const char* __asan_default_options() {
  return "detect_leaks=0";
}
#endif

int main(int argc, char** argv) {
  try {
    uscope::note_inherited_signals();
    uscope::note_inherited_priority();
    uscope::cli::fill_standard_descriptors();
    uscope::note_inherited_descriptors(argc, argv);
    return uscope::cli::run(argc, argv);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "uscope: %s\n", problem.what());
    return EXIT_FAILURE;
  }
}
