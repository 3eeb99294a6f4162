// Under sudo, what is written belongs to the user who called it. The process that loads has given up the privilege for
// that by then, so another one, forked before, waits to do it.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "support/unique_fd.h"

namespace uscope::cli {

class OutputOwner {
 public:
  // Regular files of root's, with one name each, will be given away; others at these paths are left alone.
  explicit OutputOwner(const std::vector<std::string>& paths);
  OutputOwner(const OutputOwner&) = delete;
  OutputOwner& operator=(const OutputOwner&) = delete;
  ~OutputOwner();

  // Those of the paths that are there now. Best effort: the files are complete also where they stay root's.
  void give();

 private:
  void end();

  pid_t child_ = 0;
  UniqueFd gate_;
};

}  // namespace uscope::cli
