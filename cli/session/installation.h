// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How this uscope came onto the machine, and where it takes its parts from.
#pragma once

#include <string>
#include <vector>

namespace uscope::cli {

enum class Origin {
  kPackage,    // a package of Debian's
  kTarball,    // an unpacked uscope-VERSION-x86_64.tar.xz
  kBuildTree,  // the folder in which it was built
  kFiles,      // `cmake --install`, or copied
};

// A program, folder or file, and what is to be said of it.
struct Part {
  std::string path;  // empty: there is none
  std::string note;
};

struct Installation {
  Origin origin = Origin::kFiles;
  std::string version;
  Part program;                       // note: its package
  std::vector<std::string> packages;  // installed ones of uscope's: "uscope-dkms 0.2.0"
  std::vector<std::string> others;    // programs of this name in PATH that are other files
  Part tapset;                        // for `record --stap`
  Part module;                        // for `record --backend kmod`
  Part module_sources;
};

// Asks dpkg, if it is there.
[[nodiscard]] Installation examine_installation();

}  // namespace uscope::cli
