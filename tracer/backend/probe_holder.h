// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Holds probes in files: their links and the files' guards (tracer/probes/file_guard.h). If a file is changed in place,
// its probes are removed, and where the file has a lease, before anybody can change it. One thread; all probes are gone
// when the object is, or its process.
//
// The kernel gives up halfway, and leaves breakpoints in processes for good, if a SIGKILL comes while a process closes
// the link of many probes (or makes one). So nothing here closes one: a child that ends does (close_in_child()), and
// whoever has an object of this must not be killed while attach() runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "support/result.h"
#include "support/unique_fd.h"
#include "tracer/backend/uprobe_multi.h"
#include "tracer/probes/file_guard.h"

namespace uscope::tracer {

// What is to be probed in one file.
struct PlacesInFile {
  std::string path;   // for messages
  std::string first;  // the name of one of its probes
  UprobePlaces places;
};

class ProbeHolder {
 public:
  ProbeHolder() = default;
  ProbeHolder(const ProbeHolder&) = delete;
  ProbeHolder& operator=(const ProbeHolder&) = delete;
  ~ProbeHolder() { remove_all(); }

  // Attaches `program` at all places, or at none. `number`: the caller's name for the file; `file`: a descriptor of it,
  // not needed afterwards; `has_multi`: the program was loaded for uprobe.multi. No file may be open for writing.
  Result<void> attach(std::size_t number, int file, int program, bool has_multi, const PlacesInFile& what);
  // Returns false if the file's lease was gone before its probes were: it may have been changed in between.
  bool remove(std::size_t number);
  void remove_all();
  // Removes the probes of files that are about to be changed, or have been. kOpened: nobody could change the file
  // before its probes were gone; kLate: somebody could.
  FileGuard::Changes tend(std::uint64_t now_ns);
  // Readable when tend() is wanted at once; -1: nothing was attached yet.
  [[nodiscard]] int fd() const { return guard_.fd(); }

 private:
  struct Held {
    UniqueFd file;
    std::vector<UniqueFd> links;  // and what these need
  };
  Result<void> guard(std::size_t number, const Held& held, const std::string& path);

  std::map<std::size_t, Held> files_;
  FileGuard guard_;  // lets go of descriptors before they are closed: destroyed first
};

}  // namespace uscope::tracer
