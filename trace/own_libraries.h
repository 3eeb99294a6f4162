// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which libraries are the application's own, by where they are: the half of the rule of triggers (trigger.h) that needs
// paths. An interpreter or launcher may be a stub whose work is done in such a library.
//
// An executable's own libraries are those
// - in its folder, and below it; of an executable in PREFIX/bin also those below PREFIX/lib, lib64 and libexec. This
//   does not hold for folders that the system's programs share (/usr/bin, /usr/lib, /usr/lib/x86_64-linux-gnu, …);
// - below a folder of the system's library folders that has the executable's name (/usr/lib/nginx, /usr/lib/python3.11,
//   /usr/lib/x86_64-linux-gnu/perl-base), or that holds the executable itself (/usr/lib/jvm);
// - in the system's library folders, and named as the executable: libpython3.11.so.1.0 of python3.11, libnode.so.108 of
//   node.
// Versions do not count in names: python3.11 has python3. Nothing is asked of the file system.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace uscope::trace {

// Whether GLOB of --app-module or --exclude-module means the module at this path: all of it, or its base name.
[[nodiscard]] bool module_matches(const std::string& glob, const std::string& path);

class OwnLibraries {
 public:
  // The path of an executed file, as the kernel has it.
  void add_executable(std::string_view path);

  // Whether the file at this path is a library of an executable that was added.
  [[nodiscard]] bool owns(std::string_view path) const;

  // Grows when an answer may have changed.
  [[nodiscard]] std::size_t size() const { return folders_.size() + names_.size(); }

 private:
  using Texts = std::set<std::string, std::less<>>;

  Texts folders_;  // what is below them is own
  Texts names_;    // of executables and of their folders, in the system's folders
};

}  // namespace uscope::trace
