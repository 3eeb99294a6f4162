// What is asked about other processes, and files that they name, through scouts (scouts.h): each of these may be held
// back by the process asked about. Without scouts, all is done here. What did not answer is as what is not there.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "support/unique_fd.h"
#include "symbolizer/elf/elf_facts.h"
#include "tracer/process/descriptor_snapshot.h"
#include "tracer/process/process_list.h"
#include "tracer/scouts/scouts.h"

namespace uscope::tracer {

// Of a process that ran before: what the kernel side does not tell.
struct ProcessPortrait {
  std::string name;  // of its first thread
  std::string path;
  std::string arguments;
  std::uint64_t descriptors_ns = 0;  // when they were looked at
  std::vector<OpenDescriptor> descriptors;
  bool has_io_uring = false;
};

// A regular file, opened for reading. One of a file system that is a program (FUSE) is a copy in memory, of nobody and
// for anybody to write: such a program may keep whoever holds a descriptor of it from closing it, and so from ending,
// and says what it likes of a file's owner.
struct OpenedFile {
  UniqueFd fd;
  int error = 0;  // why there is none: ETIMEDOUT where nothing answered, EFBIG where it is too large a copy
  bool is_copy = false;
  struct stat status {};  // of the file itself
  std::string path;       // where it is
};

class ProcessLooks {
 public:
  explicit ProcessLooks(Scouts* scouts = nullptr) : scouts_(scouts) {}
  [[nodiscard]] Scouts* scouts() const { return scouts_; }

  std::optional<ProcessPortrait> portrait_of(std::uint32_t pid, bool with_descriptors);
  std::vector<OpenDescriptor> descriptors_of(std::uint32_t pid);
  bool goes_by_name(std::uint32_t pid, const std::vector<std::string>& names);
  std::vector<ExecutableMapping> executable_mappings_of(std::uint32_t pid);
  // Whether a path means the same file to a process as to us: one of another root (a container's) does not.
  bool shares_our_root(std::uint32_t pid);
  // As library_search.h has it.
  std::vector<std::string> asked_for(const symbolizer::ElfFacts& facts, const std::string& path);

  // Opens a file for reading if it is a regular one; `pid`: who may hold that back, 0 = nobody in particular.
  OpenedFile open_file(std::uint32_t pid, const std::string& path);
  // The same of a name in a folder, which may be no link; the status tells where it is no regular file.
  OpenedFile open_in_folder(std::uint32_t pid, int folder, const std::string& name);
  // A folder below one that is taken as the root, to hold on to (O_PATH); none where there is none.
  UniqueFd open_folder(std::uint32_t pid, int root, const std::string& path);

 private:
  Scouts* scouts_;
};

}  // namespace uscope::tracer
