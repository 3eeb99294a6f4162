// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "store/files/output_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace uscope::store {

Result<OutputFolder> OutputFolder::make(const std::filesystem::path& path) {
  const std::string shown = path.string();
  std::filesystem::path plain = path;
  if (plain.filename().empty()) plain = plain.parent_path();  // "trace/"
  const std::string name = plain.filename().string();
  struct stat status {};
  if (lstat(plain.c_str(), &status) == 0)
    return Error{shown + " exists, and a folder is to be made", "remove it, or give the name of a new folder"};
  auto place = OutputPlace::find(plain, OutputKind::kText);
  if (!place) return place.error();
  if (place->stream() >= 0) return Error{shown + " is not a folder", "give the name of a new folder"};
  if (mkdirat(place->folder(), name.c_str(), 0700) != 0)
    return errno_error("cannot create the folder " + shown, errno, "choose another place");
  UniqueFd folder(openat(place->folder(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder || fstat(folder.get(), &status) != 0 || status.st_uid != geteuid() || (status.st_mode & 077) != 0)
    return Error{shown + " was replaced by somebody while it was made",
                 "somebody else writes to that folder: choose one that only you can write to"};
  return OutputFolder(std::move(*place), name, std::move(folder));
}

OutputFolder::~OutputFolder() {
  if (!kept_ && folder_) abandon();
}

void OutputFolder::abandon() {
  kept_ = true;
  if (place_.is(fd())) (void)unlinkat(parent(), name_.c_str(), AT_REMOVEDIR);
}

Result<OutputFile> OutputFolder::begin(const std::string& name) const {
  const std::filesystem::path inside = "/proc/self/fd/" + std::to_string(fd());
  auto place = OutputPlace::find(inside / name, OutputKind::kText);
  auto file = place ? place->begin() : place.error();
  return file ? std::move(file) : file.error().in(place_.path().string());
}

}  // namespace uscope::store
