// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "support/process/inherited.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

namespace uscope {
namespace {

struct Folder {
  void operator()(DIR* folder) const { closedir(folder); }
};

std::vector<int>& noted() {
  static std::vector<int> numbers;
  return numbers;
}

bool has_two_ends(int number) {
  struct stat status {};
  return fstat(number, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

bool names(std::string_view argument, int number) {
  for (const char* folder : {"/dev/fd", "/proc/self/fd"}) {
    const std::string path = fmt::format("{}/{}", folder, number);
    const std::size_t at = argument.find(path);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = argument.substr(at + path.size());
    if (rest.empty() || rest[0] < '0' || rest[0] > '9') return true;
  }
  return false;
}

}  // namespace

void note_inherited_descriptors(int argc, const char* const* argv) {
  const std::unique_ptr<DIR, Folder> folder(opendir("/proc/self/fd"));
  while (const dirent* entry = folder ? readdir(folder.get()) : nullptr) {
    const int number = static_cast<int>(std::strtol(entry->d_name, nullptr, 10));
    if (number <= STDERR_FILENO || number == dirfd(folder.get())) continue;
    // What libraries open before main() is not passed on by an exec, and was not.
    const int flags = fcntl(number, F_GETFD);
    bool is_wanted = flags < 0 || (flags & FD_CLOEXEC) != 0 || !has_two_ends(number);
    for (int i = 1; i < argc; i++) is_wanted = is_wanted || names(argv[i], number);
    if (!is_wanted) noted().push_back(number);
  }
}

void close_inherited_descriptors() {
  for (const int number : noted()) close(number);
  noted().clear();
}

void let_go_of_standard_input() {
  if (!has_two_ends(STDIN_FILENO)) return;
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing < 0) return;
  dup3(nothing, STDIN_FILENO, O_CLOEXEC);
  close(nothing);
}

}  // namespace uscope
