// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The files of an application whose functions can be probed: what it maps, or will map when it is started.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "support/regular_file.h"
#include "support/result.h"
#include "support/unique_fd.h"
#include "tracer/scouts/scouts.h"

namespace uscope::tracer {

// Which application targets belong to.
struct Application {
  std::string program;              // of a command that is not started yet, a path; "" = none
  std::vector<std::uint32_t> pids;  // of processes that run
  [[nodiscard]] bool empty() const { return program.empty() && pids.empty(); }
};

// What to do where nothing was found in an application's files, behind `remedy`: of a command, only the first program
// is known (`timeout` of `timeout 9 ./prog`). `form`: how a target of the wanted class begins, "ufunction:".
[[nodiscard]] std::string with_files_searched(const std::string& remedy, const Application& application,
                                              const std::string& form);

struct ApplicationFile {
  // Base names, first that of the file itself, by which stacks show it; then those of links that lead to it.
  std::vector<std::string> names;
  // By which this process can open it: of processes in containers below /proc/PID/root, of a file that has been deleted
  // or replaced its mapping's entry below /proc/PID.
  std::string path;
  UniqueFd fd;      // open already if only the tracer can open it; else empty
  FileIdentity id;  // if fd is open: of the file itself, of which fd may have a copy (process_looks.h)
};

// What the processes have mapped as code, each file once. The files are opened by their mappings, by scouts; a path
// that leads to another file by now is not taken. `unanswered` gets the processes that did not answer.
[[nodiscard]] std::vector<ApplicationFile> mapped_files(const std::vector<std::uint32_t>& pids, Scouts& scouts,
                                                        std::vector<std::uint32_t>& unanswered);

// A program, its interpreter if it is a script, and the libraries that these ask for, as far as they are found where
// ld.so looks (library_search.h). Reads these files.
[[nodiscard]] std::vector<ApplicationFile> files_of_program(const std::string& path);

// The file that BINARY names by itself: a path, a library's name that ld.so would find, a program in PATH. Nothing:
// none.
[[nodiscard]] std::optional<ApplicationFile> file_named(const std::string& binary);

// Whether a file goes by a name, which may be a pattern: "libssl.so.3", "libssl*", "libssl" (what follows a point may
// be left out), or a path.
[[nodiscard]] bool goes_by(const ApplicationFile& file, const std::string& binary);

}  // namespace uscope::tracer
