// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// An output of several files: a new folder that uscope makes for them.
#pragma once

#include <filesystem>
#include <string>

#include "store/files/output_file.h"
#include "support/result.h"
#include "support/unique_fd.h"

namespace uscope::store {

// A folder, mode 0700, that was made for an output. If it is destroyed before it is kept, it is removed, unless there
// is something in it.
class OutputFolder {
 public:
  // An error if anything exists at `path`, a link too, or another user replaces the folder meanwhile.
  static Result<OutputFolder> make(const std::filesystem::path& path);
  OutputFolder(OutputFolder&& other) noexcept = default;
  OutputFolder& operator=(OutputFolder&&) = delete;
  ~OutputFolder();

  // A file under construction in it.
  [[nodiscard]] Result<OutputFile> begin(const std::string& name) const;
  void keep() { kept_ = true; }
  // Removes it now, if it is empty.
  void abandon();

  [[nodiscard]] int fd() const { return folder_.get(); }
  [[nodiscard]] int parent() const { return place_.folder(); }

 private:
  OutputFolder(OutputPlace place, std::string name, UniqueFd folder)
      : place_(std::move(place)), name_(std::move(name)), folder_(std::move(folder)) {}

  OutputPlace place_;
  std::string name_;  // in the parent
  UniqueFd folder_;
  bool kept_ = false;
};

}  // namespace uscope::store
