// Work in a process of its own: a copy of this one that ends with it.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <utility>

#include "support/result.h"

namespace uscope {

class ChildWork {
 public:
  // `work` gives the process's exit code.
  [[nodiscard]] static Result<ChildWork> start(const std::function<int()>& work);
  ChildWork(ChildWork&& other) noexcept : pid_(std::exchange(other.pid_, 0)) {}
  ChildWork& operator=(ChildWork&&) = delete;
  // Kills it where it has not ended.
  ~ChildWork();

  // Its exit code once it has ended, 128 and the signal's number where one ended it.
  [[nodiscard]] std::optional<int> poll() { return collect(false); }
  // Kills it, and does not wait for its end, which may never come.
  void abandon();

 private:
  explicit ChildWork(pid_t pid) : pid_(pid) {}
  std::optional<int> collect(bool wait);

  pid_t pid_;
};

}  // namespace uscope
