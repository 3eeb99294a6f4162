// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Under sudo, output files are given to the user who called sudo. By then the process that loads has given up the
// privilege for that, so another process, forked earlier, waits to do it.
#pragma once

#include <sys/types.h>

#include <vector>

#include "support/unique_fd.h"

namespace uscope::cli {

class OutputOwner {
 public:
  // The open files, and folders made for them, to give away, through these same descriptors; negative numbers are
  // ignored.
  explicit OutputOwner(const std::vector<int>& files);
  OutputOwner(const OutputOwner&) = delete;
  OutputOwner& operator=(const OutputOwner&) = delete;
  ~OutputOwner();

  // Call it once each file has its name. A file that has a second link, or does not belong to root, is left alone. Best
  // effort: files that stay root's are complete as well.
  void give();

 private:
  void end();

  pid_t child_ = 0;
  UniqueFd gate_;
};

}  // namespace uscope::cli
