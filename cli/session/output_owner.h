// Under sudo, what is written belongs to the user who called it. The process that loads has given up the privilege for
// that by then, so another one, forked before, waits to do it.
#pragma once

#include <sys/types.h>

#include <vector>

#include "support/unique_fd.h"

namespace uscope::cli {

class OutputOwner {
 public:
  // The open files that will be given away, by these very descriptors; numbers below 0 stand for none.
  explicit OutputOwner(const std::vector<int>& files);
  OutputOwner(const OutputOwner&) = delete;
  OutputOwner& operator=(const OutputOwner&) = delete;
  ~OutputOwner();

  // Called once each file has its name. A file that has another name besides, or is not root's, is left alone. Best
  // effort: the files are complete also where they stay root's.
  void give();

 private:
  void end();

  pid_t child_ = 0;
  UniqueFd gate_;
};

}  // namespace uscope::cli
