// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "store/files/output_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "store/files/trace_file.h"
#include "support/no_room.h"
#include "support/private_file.h"
#include "support/regular_file.h"

namespace uscope::store {
namespace {

constexpr int kMostLinks = 8;

bool same_file(const struct stat& one, const struct stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

// Whether this name in the folder refers to the open file.
bool names_file(int folder, const std::string& name, int file) {
  struct stat there {};
  struct stat own {};
  return fstatat(folder, name.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 && fstat(file, &own) == 0 &&
         same_file(there, own);
}

bool is_same_folder(int one, int other) {
  struct stat a {};
  struct stat b {};
  return fstat(one, &a) == 0 && fstat(other, &b) == 0 && same_file(a, b);
}

// Whether no other user can change what is in the folder.
bool is_own_folder(int folder) {
  struct stat status {};
  return fstat(folder, &status) == 0 && status.st_uid == geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// Renames; unless `replaces`, an existing file is not replaced. Not every file system can guarantee that. Returns
// errno, or 0.
int rename_in(int from, const std::string& old_name, int to, const std::string& new_name, bool replaces) {
  const unsigned flags = replaces ? 0 : RENAME_NOREPLACE;
  int failed = renameat2(from, old_name.c_str(), to, new_name.c_str(), flags) == 0 ? 0 : errno;
  if (failed == EINVAL && flags != 0) failed = renameat(from, old_name.c_str(), to, new_name.c_str()) == 0 ? 0 : errno;
  return failed;
}

bool is_callers(uid_t user) {
  if (user == 0 || user == geteuid()) return true;
  const char* caller = std::getenv("SUDO_UID");
  return geteuid() == 0 && caller != nullptr && user == std::strtoul(caller, nullptr, 10);
}

bool on_procfs(int folder) {
  struct statfs system {};
  return fstatfs(folder, &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
}

// The number N of /proc/self/fd/N, by whichever path the folder was reached.
std::optional<int> own_descriptor(int folder, const std::string& name) {
  struct stat there {};
  if (name.empty() || name.size() > 9 || name.find_first_not_of("0123456789") != std::string::npos ||
      fstat(folder, &there) != 0)
    return std::nullopt;
  for (const char* own : {"/proc/self/fd", "/proc/thread-self/fd"}) {
    struct stat self {};
    if (stat(own, &self) == 0 && same_file(there, self)) return std::atoi(name.c_str());
  }
  return std::nullopt;
}

const char* type_of(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFIFO:
      return "a pipe";
    case S_IFCHR:
      return "a character device";
    case S_IFBLK:
      return "a block device";
    case S_IFSOCK:
      return "a socket";
    case S_IFDIR:
      return "a folder";
    default:
      return "a file";
  }
}

const char* name_of(OutputKind kind) {
  switch (kind) {
    case OutputKind::kDatabase:
      return "a database";
    case OutputKind::kRawTrace:
      return "a raw trace";
    case OutputKind::kPage:
      return "a page";
    case OutputKind::kText:
      break;
  }
  return "text";
}

bool is_text(OutputKind kind) {
  return kind == OutputKind::kText || kind == OutputKind::kPage;
}

const char* option_of(OutputKind kind) {
  return kind == OutputKind::kRawTrace ? "--keep-raw" : kind == OutputKind::kPage ? "--html" : "-o";
}

bool is_of_kind(FileKind found, OutputKind wanted) {
  return (found == FileKind::kDatabase && wanted == OutputKind::kDatabase) ||
         (found == FileKind::kRawTrace && wanted == OutputKind::kRawTrace);
}

std::string write_remedy(int number) {
  if (number == ENAMETOOLONG) return "give a shorter name";
  return room_remedy(number, "choose another place");
}

enum class Stale { kAny, kEmpty };

// Opens without blocking, and only what belongs to uscope: a file of this user that no living writer has locked.
bool remove_stale(int folder, const std::string& name, Stale which = Stale::kAny) {
  const UniqueFd old = open_regular_at(folder, name, O_RDWR, Leases::kBroken);
  struct stat status {};
  if (!old || fstat(old.get(), &status) != 0) return false;
  if (status.st_uid != geteuid() || (which == Stale::kEmpty && status.st_size != 0)) return false;
  return flock(old.get(), LOCK_EX | LOCK_NB) == 0 && names_file(folder, name, old.get()) &&
         unlinkat(folder, name.c_str(), 0) == 0;
}

FileKind kind_of(int folder, const std::string& name) {
  const UniqueFd file = open_regular_at(folder, name, O_RDONLY, Leases::kBroken);
  const auto start = file ? look_at_start(file.get()) : FileStart{FileKind::kOther};
  return start ? start->kind : FileKind::kOther;
}

// The folder's present path.
std::string folder_now(int folder) {
  std::array<char, PATH_MAX> path{};
  const std::string self = fmt::format("/proc/self/fd/{}", folder);
  const ssize_t length = readlink(self.c_str(), path.data(), path.size());
  return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : "its folder";
}

}  // namespace

std::string OutputPlace::elsewhere() const {
  return std::string("choose another place with ") + option_of(kind_);
}

std::string OutputPlace::give_file() const {
  return std::string("give a file with ") + option_of(kind_);
}

Result<OutputPlace> OutputPlace::find(const std::filesystem::path& path, OutputKind kind, bool force) {
  OutputPlace place(path, kind, force);
  if (path.empty()) return Error{"the output has an empty name", place.give_file()};
  if (path == "-") {
    if (auto done = place.take_descriptor(STDOUT_FILENO); !done) return done.error();
    return place;
  }
  std::filesystem::path next = path;
  for (int links = 0; links <= kMostLinks; links++) {
    place.name_ = next.filename().string();
    const std::filesystem::path folder = next.has_parent_path() ? next.parent_path() : ".";
    const int base = place.folder_ ? place.folder() : AT_FDCWD;
    if (place.name_.empty() || place.name_ == "." || place.name_ == "..")
      return Error{"the output is a folder: " + path.string(), place.give_file()};
    if (auto done = place.open_folder(base, folder); !done) return done.error();
    auto link = place.take_link(next);
    if (!link) return link.error();
    if (*link) continue;
    if (!place.stream_)
      if (auto done = place.examine(true); !done) return done.error();
    if (!place.stream_ && faccessat(place.folder(), ".", W_OK | X_OK, AT_EACCESS) != 0)
      return errno_error("cannot write to the output folder " + folder.string(), errno, place.elsewhere());
    return place;
  }
  return Error{fmt::format("{} leads through more than {} symbolic links", path.string(), kMostLinks),
               place.give_file()};
}

Result<void> OutputPlace::open_folder(int base, const std::filesystem::path& folder) {
  UniqueFd opened(openat(base, folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!opened && (errno == ENOENT || errno == ENOTDIR))
    return Error{"no such folder for the output: " + folder.string(), "create the folder, or " + elsewhere()};
  if (!opened) return errno_error("cannot open the output folder " + folder.string(), errno, elsewhere());
  folder_ = std::make_shared<const UniqueFd>(std::move(opened));
  return {};
}

// Returns true if the name is a link; `next` is then its target, relative to the folder. A descriptor becomes the
// stream.
Result<bool> OutputPlace::take_link(std::filesystem::path& next) {
  struct stat link {};
  const bool there = fstatat(folder(), name_.c_str(), &link, AT_SYMLINK_NOFOLLOW) == 0;
  if (on_procfs(folder())) {
    const auto number = own_descriptor(folder(), name_);
    if (!number || !there)
      return Error{path_.string() + (number ? " is not an open descriptor" : " is in /proc, where no output can be"),
                   give_file()};
    if (auto done = take_descriptor(*number); !done) return done.error();
    return false;
  }
  if (!there || !S_ISLNK(link.st_mode)) return false;
  std::array<char, PATH_MAX> target{};
  const ssize_t length = readlinkat(folder(), name_.c_str(), target.data(), target.size());
  if (length <= 0 || static_cast<std::size_t>(length) == target.size())
    return errno_error("cannot read the link " + path_.string(), length < 0 ? errno : ENAMETOOLONG, give_file());
  next = std::string(target.data(), static_cast<std::size_t>(length));
  struct stat above {};
  const bool safe = fstat(folder(), &above) == 0 && is_callers(above.st_uid) && is_callers(link.st_uid) &&
                    ((above.st_mode & (S_IWGRP | S_IWOTH)) == 0 || (above.st_mode & S_ISVTX) != 0);
  if (safe) return true;
  return Error{path_.string() + " leads through a symbolic link that another user could have made or can change",
               "give the file itself with -o: the link leads to " + next.string()};
}

Result<void> OutputPlace::take_descriptor(int number) {
  struct stat status {};
  if (fstat(number, &status) != 0) return Error{path_.string() + " is not an open descriptor", give_file()};
  if (!is_text(kind_))
    return Error{path_.string() + " is a descriptor of this process, " + type_of(status.st_mode) + ": " +
                     name_of(kind_) + " cannot be written to it",
                 give_file()};
  UniqueFd stream(fcntl(number, F_DUPFD_CLOEXEC, 0));
  if (!stream || (fcntl(number, F_GETFL) & O_ACCMODE) == O_RDONLY)
    return Error{path_.string() + " is a descriptor that cannot be written to", give_file()};
  stream_ = std::make_shared<const UniqueFd>(std::move(stream));
  return {};
}

// A pipe or device of another user would show that user the trace.
Result<void> OutputPlace::take_stream(const struct stat& status) {
  const std::string what = path_.string() + " is " + type_of(status.st_mode);
  const bool writes = is_text(kind_) && (S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode));
  if (!writes) return Error{what + ": " + name_of(kind_) + " cannot be written to it", give_file()};
  if (!is_callers(status.st_uid)) return Error{what + " of another user", give_file()};
  UniqueFd stream(openat(folder(), name_.c_str(), O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC));
  struct stat opened {};
  if (!stream || fstat(stream.get(), &opened) != 0)
    return errno_error("cannot open " + path_.string(), errno, elsewhere());
  if (!same_file(status, opened)) return Error{path_.string() + " was replaced while it was opened", elsewhere()};
  stream_ = std::make_shared<const UniqueFd>(std::move(stream));
  return {};
}

// Checks whether the existing file may be replaced, or can be written to as a stream.
Result<void> OutputPlace::examine(bool may_stream) {
  struct stat status {};
  replaces_ = keeps_older_ = false;
  if (fstatat(folder(), name_.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return {};
    return errno_error("cannot look at " + path_.string(), errno, write_remedy(errno));
  }
  if (S_ISDIR(status.st_mode)) return Error{"the output is a folder: " + path_.string(), give_file()};
  if (S_ISLNK(status.st_mode)) return Error{path_.string() + " has become a symbolic link", elsewhere()};
  if (!S_ISREG(status.st_mode) && !may_stream)
    return Error{path_.string() + " has become " + type_of(status.st_mode), elsewhere()};
  if (!S_ISREG(status.st_mode)) return take_stream(status);
  replaces_ = true;
  return look_at_file();
}

Result<void> OutputPlace::look_at_file() {
  const FileKind found = kind_of(folder(), name_);
  keeps_older_ = kind_ == OutputKind::kDatabase && found == FileKind::kDatabase;
  if (force_ || is_of_kind(found, kind_)) return keeps_older_ ? look_at_older() : Result<void>();
  return Error{path_.string() + " exists, and is " + describe(found), "--force replaces it; or " + elsewhere()};
}

// Checks whether the name for the older file is free, or that of a database.
Result<void> OutputPlace::look_at_older() {
  struct stat status {};
  const std::string older = name_ + std::string(kOlder);
  if (fstatat(folder(), older.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return {};
  const bool is_file = S_ISREG(status.st_mode);
  const FileKind found = is_file ? kind_of(folder(), older) : FileKind::kOther;
  if (found == FileKind::kDatabase || (is_file && force_)) return {};
  const std::string what = is_file ? describe(found) : S_ISLNK(status.st_mode) ? "a link" : type_of(status.st_mode);
  return Error{fmt::format("{} exists, and cannot be kept as {}, which is {}", path_.string(), older_name(), what),
               is_file ? "--force replaces it; or " + elsewhere() : "remove that; or " + elsewhere()};
}

std::string OutputPlace::older_name() const {
  if (!keeps_older_) return "";
  const bool is_link = path_.filename() != name_;
  return (is_link ? folder_now(folder()) + "/" + name_ : path_.string()) + std::string(kOlder);
}

// Until the new file gets the name, the older one has both.
Result<void> OutputPlace::keep_older() const {
  if (!keeps_older_) return {};
  const std::string older = name_ + std::string(kOlder);
  (void)unlinkat(folder(), older.c_str(), 0);
  int failed = linkat(folder(), name_.c_str(), folder(), older.c_str(), 0) == 0 ? 0 : errno;
  // The file system does not support hard links, or the kernel grants none of this user's file.
  if (failed != 0 && failed != ENOENT) failed = rename_in(folder(), name_, folder(), older, true);
  if (failed == 0 || failed == ENOENT) return {};
  return errno_error("cannot keep " + path_.string() + " as " + older_name(), failed, elsewhere());
}

bool OutputPlace::keeps(std::string_view suffix) const {
  const std::string name = name_ + std::string(suffix);
  struct stat status {};
  return fstatat(folder(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
         !remove_stale(folder(), name, Stale::kEmpty);
}

bool OutputPlace::is_being_written(std::string_view suffix) const {
  const std::string name = name_ + std::string(suffix);
  const UniqueFd file = open_regular_at(folder(), name, O_RDONLY, Leases::kBroken);
  return file && flock(file.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

bool OutputPlace::same_place(const OutputPlace& other) const {
  return folder_ && other.folder_ && name_ == other.name_ && is_same_folder(folder(), other.folder());
}

bool OutputPlace::same_mount(const OutputPlace& other) const {
  struct statx own {};
  struct statx theirs {};
  const auto look = [](int folder, struct statx& facts) {
    return statx(folder, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MNT_ID, &facts) == 0;
  };
  if (!folder_ || !other.folder_ || !look(folder(), own) || !look(other.folder(), theirs)) return true;  // unknown yet
  return own.stx_dev_major == theirs.stx_dev_major && own.stx_dev_minor == theirs.stx_dev_minor &&
         own.stx_mnt_id == theirs.stx_mnt_id;
}

bool OutputPlace::is(int file) const {
  return names_file(folder(), name_, file);
}

Result<OutputFile> OutputPlace::begin(std::string_view suffix, bool replaces) const {
  const std::string name = name_ + std::string(suffix);
  std::filesystem::path shown = path_;
  shown += suffix;
  constexpr int kAttempts = 3;
  for (int attempt = 0; attempt < kAttempts; attempt++) {
    UniqueFd file(openat(folder(), name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file && errno != EEXIST) return errno_error("cannot create " + shown.string(), errno, write_remedy(errno));
    if (!file && (!replaces || !remove_stale(folder(), name))) break;
    // Between the two calls another uscope may have taken it for a stale file.
    if (file && flock(file.get(), LOCK_EX | LOCK_NB) == 0 && names_file(folder(), name, file.get()))
      return OutputFile(*this, std::move(file), name, shown);
  }
  return Error{shown.string() + " exists and is in use, or is not a file of this user",
               "wait for the other uscope, remove the file, or write elsewhere"};
}

Result<OutputFile> OutputFile::nameless(int folder) {
  OutputPlace place("a temporary file", OutputKind::kDatabase, false);
  auto copy = uscope::duplicate(folder);
  if (!copy) return copy.error();
  place.folder_ = std::make_shared<const UniqueFd>(std::move(*copy));
  auto file = open_nameless(folder);
  if (!file) return file.error();
  return OutputFile(place, std::move(*file), "", place.path());
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : place_(std::move(other.place_)),
      file_(std::move(other.file_)),
      name_(std::move(other.name_)),
      path_(std::move(other.path_)),
      ended_(std::exchange(other.ended_, true)) {}

OutputFile::~OutputFile() {
  if (!ended_ && file_) abandon();
}

void OutputFile::abandon() {
  ended_ = true;
  if (name_.empty()) return;
  if (!stands() || unlinkat(folder(), name_.c_str(), 0) != 0) (void)!ftruncate(file_.get(), 0);
}

bool OutputFile::stands() const {
  return names_file(folder(), name_, file_.get());
}

Result<UniqueFd> OutputFile::duplicate() const {
  return uscope::duplicate(file_.get());
}

Result<void> OutputFile::commit() {
  return name_.empty() ? Result<void>() : commit_to(place_);
}

// Moves into another folder, where the name may be worth more than in the file's own folder, whose owner can put any
// file there at any moment: so the open file itself gets another name, not whatever has its old name.
Result<void> OutputFile::move_to(const OutputPlace& place) {
  const std::string shown = place.path().string();
  const std::string passing = place.name_ + ".part";
  const std::string self = fmt::format("/proc/self/fd/{}", file_.get());
  const auto link = [&] {
    return linkat(AT_FDCWD, self.c_str(), place.folder(), passing.c_str(), AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
  };
  int failed = link();
  if (failed == EEXIST && remove_stale(place.folder(), passing)) failed = link();
  if (failed == EEXIST)
    return Error{shown + ".part exists and is in use, or is not a file of this user",
                 "wait for the other uscope, remove the file, or write elsewhere"};
  if (failed != 0 && failed != EXDEV && is_own_folder(folder())) {  // the file system does not support hard links
    failed = rename_in(folder(), name_, place.folder(), place.name_, place.replaces());
    return failed == 0 ? Result<void>() : errno_error("cannot create " + shown, failed, write_remedy(failed));
  }
  if (failed == 0) failed = rename_in(place.folder(), passing, place.folder(), place.name_, place.replaces());
  // Needed if the place's name already was a link to this file: then rename does nothing.
  if (names_file(place.folder(), passing, file_.get())) (void)unlinkat(place.folder(), passing.c_str(), 0);
  if (failed != 0) return errno_error("cannot create " + shown, failed, write_remedy(failed));
  if (stands()) (void)unlinkat(folder(), name_.c_str(), 0);
  return {};
}

Result<void> OutputFile::commit_to(const OutputPlace& place) {
  const std::string shown = place.path().string();
  if (fsync(file_.get()) != 0) return errno_error("cannot write " + path_.string(), errno, write_remedy(errno));
  OutputPlace now = place;
  if (auto fits = now.examine(false); !fits) return fits;
  if (!stands())
    return Error{path_.string() + " was removed or replaced by somebody while it was written",
                 "somebody else writes to that folder: choose one that only you can write to"};
  if (auto kept = now.keep_older(); !kept) return kept;
  if (is_same_folder(folder(), place.folder())) {
    if (const int failed = rename_in(folder(), name_, place.folder(), place.name_, now.replaces()); failed != 0)
      return errno_error("cannot create " + shown, failed, write_remedy(failed));
  } else if (auto moved = move_to(now); !moved) {
    return moved;
  }
  if (!names_file(place.folder(), place.name_, file_.get()))
    return Error{shown + " was replaced by somebody while it got its name: what is there is not what uscope wrote",
                 "somebody else writes to that folder: choose one that only you can write to"};
  ended_ = true;
  const UniqueFd folder(openat(place.folder(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder) (void)fsync(folder.get());
  struct stat reached {};
  struct stat own {};
  if (stat(shown.c_str(), &reached) == 0 && fstat(file_.get(), &own) == 0 && same_file(reached, own)) return {};
  return Error{"the folder of " + shown + " was moved or replaced while uscope wrote there",
               "what it wrote is " + folder_now(place.folder()) + "/" + place.name_};
}

}  // namespace uscope::store
