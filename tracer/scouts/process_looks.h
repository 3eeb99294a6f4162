// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Queries about other processes and the files that they name, made through scouts (scouts.h), since the process in
// question may block each of them. Without scouts the caller's thread does the work. If nothing answers, the result is
// the same as if the object did not exist.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "support/regular_file.h"
#include "support/unique_fd.h"
#include "symbolizer/elf/elf_facts.h"
#include "tracer/process/process_list.h"
#include "tracer/process/process_portrait.h"
#include "tracer/scouts/scouts.h"

namespace uscope::tracer {

// A regular file, opened for reading. If it is on a file system that is a program (FUSE), it is a copy in memory, owned
// by user nobody and writable by all: such a program may block whoever holds a descriptor of its file from closing it,
// and so from exiting, and can claim any owner for a file.
struct OpenedFile {
  UniqueFd fd;
  int error = 0;  // why there is no fd: ETIMEDOUT if nothing answered, EFBIG if the file is too large to copy
  bool is_copy = false;
  struct stat status {};    // of the file itself
  std::string path;         // its present path
  bool is_at_path = false;  // by that path uscope itself comes to it: not if it was deleted, or is in a container
  // Whether a path means the same file to the process of the OpenRequest as to uscope: not if the process has another
  // root (a container's).
  bool shares_our_root = false;
};

// A file to open for reading if it is a regular one, by a scout or by the caller's thread: the work `open_file` gets
// the request's bytes, and its answer holds the file.
struct OpenRequest {
  std::string path;
  std::uint32_t pid = 0;            // its root is compared with uscope's; 0: none is
  std::uint32_t copy_ms = kCopyMs;  // the most time that a copy may take; 0: the file is not copied
  Leases leases = Leases::kKept;

  static constexpr std::uint32_t kCopyMs = 500;
  [[nodiscard]] std::vector<std::byte> bytes() const;
};
void open_file(ScoutDesk& desk);
// Whether a program serves the file's bytes (FUSE), and may hold them back. A scout asks, since that program may hold
// this up.
[[nodiscard]] bool is_served(int fd);
[[nodiscard]] OpenedFile opened_file(std::optional<ScoutMessage> answer);

class ProcessLooks final : public PortraitSource {
 public:
  explicit ProcessLooks(Scouts* scouts = nullptr) : scouts_(scouts) {}
  [[nodiscard]] Scouts* scouts() const { return scouts_; }

  std::optional<ProcessPortrait> portrait_of(std::uint32_t pid, bool with_descriptors) override;
  std::vector<OpenDescriptor> descriptors_of(std::uint32_t pid) override;
  trace::ProcessNames names_of(std::uint32_t pid);
  // Its environment, as environment_bytes_of() has it.
  std::string environment_of(std::uint32_t pid);
  std::vector<ExecutableMapping> executable_mappings_of(std::uint32_t pid);
  // Nothing: no answer.
  std::optional<std::vector<AddressRange>> executable_ranges_of(std::uint32_t pid);
  // Calls the function of library_search.h. `pid`: the process that needs these files and may block this.
  std::vector<std::string> asked_for(std::uint32_t pid, const symbolizer::ElfFacts& facts, const std::string& path);

  // Opens a file for reading by its name in a folder, which may not be a link; `status` shows if it is not a regular
  // file. `pid`: the process that may block this.
  OpenedFile open_in_folder(std::uint32_t pid, int folder, const std::string& name);
  // Opens a folder (O_PATH) below another one that serves as the root; empty if there is none.
  UniqueFd open_folder(std::uint32_t pid, int root, const std::string& path);

 private:
  Scouts* scouts_;
};

}  // namespace uscope::tracer
