// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Users and groups as /etc/passwd and /etc/group have them. The C library's own functions load the libraries that
// /etc/nsswitch.conf names, which a statically linked program cannot do (no_loading.cpp). Users of a directory service
// are not known here; `record -u` says so of each, as of any that it does not find.
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <string_view>
#include <vector>

namespace {

struct Close {
  void operator()(FILE* file) const { fclose(file); }
};
using File = std::unique_ptr<FILE, Close>;

template <typename Match>
passwd* find_user(Match matches) {
  const File file(fopen("/etc/passwd", "re"));
  if (!file) return nullptr;
  while (passwd* const entry = fgetpwent(file.get()))
    if (matches(*entry)) return entry;
  return nullptr;
}

bool has_member(const group& entry, std::string_view user) {
  for (char** member = entry.gr_mem; *member != nullptr; member++)
    if (user == *member) return true;
  return false;
}

}  // namespace

extern "C" {

passwd* getpwnam(const char* name) {
  return find_user([name](const passwd& entry) { return std::string_view(name) == entry.pw_name; });
}

passwd* getpwuid(uid_t number) {
  return find_user([number](const passwd& entry) { return entry.pw_uid == number; });
}

int initgroups(const char* user, gid_t first) {
  std::vector<gid_t> all{first};
  if (const File file(fopen("/etc/group", "re")); file) {
    while (const group* const entry = fgetgrent(file.get()))
      if (entry->gr_gid != first && has_member(*entry, user)) all.push_back(entry->gr_gid);
  } else if (errno != ENOENT) {
    return -1;
  }
  return setgroups(all.size(), all.data());
}
}
