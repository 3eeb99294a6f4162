#include "tracer/file_table.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <set>
#include <string_view>

#include "symbolizer/vdso.h"
#include "tracer/jit_names.h"
#include "tracer/library_search.h"
#include "tracer/process_list.h"

namespace uscope::tracer {
namespace {

// For programs, maps, rings, the raw trace, perf maps and what a moment needs.
constexpr std::size_t kReservedDescriptors = 72 + JitNames::kDescriptors;

// Opens a regular file for reading, and nothing else: a path may by now name a device or a FIFO.
UniqueFd open_regular(const std::string& path, int* error) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) {
    *error = errno;
    return {};
  }
  struct stat status {};
  if (fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    *error = ENOENT;
    return {};
  }
  return fd;
}

bool matches(const std::string& glob, const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string base = slash == std::string::npos ? path : path.substr(slash + 1);
  return fnmatch(glob.c_str(), path.c_str(), 0) == 0 || fnmatch(glob.c_str(), base.c_str(), 0) == 0;
}

// On a file system that lives in memory: of a deleted file there (a memfd, or one made in /dev/shm) nothing is on a
// disk.
bool is_memory(int fd) {
  struct statfs status {};
  return fstatfs(fd, &status) == 0 && (status.f_type == TMPFS_MAGIC || status.f_type == HUGETLBFS_MAGIC);
}

bool holds_rules(const symbolizer::RowTable& table) {
  return std::any_of(table.rows.begin(), table.rows.end(),
                     [](const usc_row& row) { return row.rule != USC_RULE_NONE; });
}

// Why a file has no rows, "" where it has some.
std::string trouble_with(const Result<std::shared_ptr<const symbolizer::RowTable>>& rows, const std::string& name) {
  if (!rows) return rows.error().what;
  std::string damage = symbolizer::damage_of(**rows, name);
  return damage.empty() && !holds_rules(**rows) ? "no unwind information" : damage;
}

// Whether a path means the same file to a process as to us: one of another root (a container's) does not.
bool shares_our_root(std::uint32_t pid) {
  struct stat own {};
  struct stat other {};
  return stat("/", &own) == 0 && stat(("/proc/" + std::to_string(pid) + "/root").c_str(), &other) == 0 &&
         own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

std::string map_files_entry(std::uint32_t pid, const usc_file& record) {
  std::array<char, 96> text{};
  std::snprintf(text.data(), text.size(), "/proc/%u/map_files/%llx-%llx", pid, record.start, record.end);
  return text.data();
}

}  // namespace

std::string path_of(const usc_file& record) {
  std::vector<std::string_view> parts;
  const std::size_t room = record.head.size > sizeof(usc_file) ? record.head.size - sizeof(usc_file) : 0;
  std::string_view rest(record.path, std::min<std::size_t>(record.path_bytes, room));
  while (!rest.empty()) {
    const std::size_t end = rest.find('\0');
    const std::string_view part = rest.substr(0, end);
    if (!part.empty()) parts.push_back(part);
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  std::string path;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) path.append("/").append(*part);
  return path.empty() ? "/" : path;
}

FileTable::FileTable(Backend& backend, RowMaker& maker, ModuleGlobs globs)
    : backend_(backend), maker_(maker), globs_(std::move(globs)) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  most_open_ = limit.rlim_cur > kReservedDescriptors ? limit.rlim_cur - kReservedDescriptors : 0;
}

// Descriptors are kept for the loader and for --verify, as far as they last.
void FileTable::keep_or_close(File& file) {
  if (!file.fd) return;
  if (open_ >= most_open_)
    file.fd.reset();
  else
    open_++;
}

File& FileTable::slot(std::uint32_t serial) {
  if (serial >= files_.size()) files_.resize(serial + 1);
  if (!files_[serial]) files_[serial] = std::make_unique<File>();
  return *files_[serial];
}

const File* FileTable::find(std::uint32_t serial) const {
  return serial < files_.size() ? files_[serial].get() : nullptr;
}

File* FileTable::find(std::uint32_t serial) {
  return serial < files_.size() ? files_[serial].get() : nullptr;
}

std::vector<std::uint32_t> FileTable::take_news() {
  return std::exchange(news_, {});
}

std::uint32_t FileTable::classify(const std::string& path) const {
  std::uint32_t classes = 0;
  const auto any = [&](const std::vector<std::string>& globs) {
    return std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) { return matches(glob, path); });
  };
  if (any(globs_.app)) classes |= USC_CLASS_APP;
  if (any(globs_.exclude)) classes |= USC_CLASS_EXCLUDED;
  return classes;
}

bool FileTable::is_same_file(int fd, const usc_file_key& key) {
  void* page = mmap(nullptr, 1, PROT_READ, MAP_PRIVATE, fd, 0);
  if (page == MAP_FAILED) return false;
  const Result<usc_file_key> own = backend_.own_file_key(page);
  munmap(page, 1);
  return own && std::memcmp(&*own, &key, sizeof(key)) == 0;
}

UniqueFd FileTable::bind(const usc_file& record, const std::string& path, int* error) {
  const std::uint32_t pid = living_thread_of(record.pid);
  const std::string process = "/proc/" + std::to_string(pid);
  const std::array<std::string, 4> candidates = {map_files_entry(pid, record), process + "/exe",
                                                 process + "/root" + path, path};
  *error = ENOENT;
  for (const std::string& candidate : candidates) {
    int reason = 0;
    UniqueFd fd = open_regular(candidate, &reason);
    if (fd && is_same_file(fd.get(), record.key)) return fd;
    *error = fd ? ESTALE : reason;
  }
  return {};
}

Result<void> FileTable::finish(std::uint32_t serial, File file) {
  file.met = true;
  keep_or_close(file);
  file.classes = classify(file.path);
  if (file.rows) {
    const Result<Publish> published = backend_.publish_rows(serial, file.rows, file.classes);
    if (!published) return published.error();
    file.state = *published == Publish::kDone ? USC_FILE_READY : USC_FILE_USER_ONLY;
    file.figures = {static_cast<std::uint32_t>(file.rows->rows.size()),
                    static_cast<std::uint32_t>(file.rows->rules.size()), file.rows->bytes()};
    if (file.state == USC_FILE_USER_ONLY) file.rows.reset();
  }
  if (file.state != USC_FILE_READY) {
    if (auto put = backend_.publish_state(serial, file.state, file.classes); !put) return put;
  }
  slot(serial) = std::move(file);
  news_.push_back(serial);
  return {};
}

Result<void> FileTable::publish_vdso() {
  File file;
  file.path = "[vdso]";
  file.state = USC_FILE_WITHOUT;
  if (auto rows = symbolizer::vdso_rows(); rows)
    file.rows = std::make_shared<const symbolizer::RowTable>(std::move(*rows));
  else
    file.trouble = rows.error().what;
  return finish(USC_FILE_VDSO, std::move(file));
}

Result<void> FileTable::meet(const usc_file& record) {
  if (record.file < USC_FILE_FIRST || record.file >= USC_FILE_MAX) return {};
  File file;
  file.path = path_of(record);
  file.fd = bind(record, file.path, &file.open_error);
  file.state = USC_FILE_WITHOUT;
  if (!file.fd) {
    file.state = USC_FILE_UNREACHABLE;
    file.trouble = std::strerror(file.open_error);
    return finish(record.file, std::move(file));
  }
  file.open_error = 0;
  auto [elf, facts] = maker_.facts(file.fd.get(), file.path);
  if (!elf && record.links == 0 && is_memory(file.fd.get())) {
    file.state = USC_FILE_JIT;
    return finish(record.file, std::move(file));
  }
  if (!facts) {
    file.trouble = facts.error().what;
    return finish(record.file, std::move(file));
  }
  file.facts = std::move(*facts);
  std::vector<std::string> asked;
  // Only an executable names an interpreter.
  if (!file.facts.interpreter.empty() && shares_our_root(record.pid)) asked = asked_for(file.facts, file.path);
  if (auto begun = begin(record.file, std::move(file)); !begun) return begun;
  return look_ahead(std::move(asked));
}

// A descriptor is held for every file whose rows are being made. Few programs have so many new files at once.
Result<void> FileTable::wait_for_descriptors() {
  while (coming_ > 0 && open_ + coming_ >= most_open_)
    if (auto waited = maker_.wait(); !waited) return waited;
  return {};
}

Result<void> FileTable::begin(std::uint32_t serial, File file) {
  file.coming = true;
  file.classes = classify(file.path);
  RowJob job{serial, symbolizer::RowDetail::kStack, file.fd.get(), file.path, this};
  slot(serial) = std::move(file);
  coming_++;
  if (auto asked = maker_.ask(std::move(job)); !asked) return asked;
  return wait_for_descriptors();
}

Result<void> FileTable::on_made(const MadeRows& made) {
  File file = std::move(slot(made.serial));
  file.coming = false;
  coming_--;
  file.trouble = trouble_with(made.rows, file.path);
  if (file.trouble.empty()) file.rows = *made.rows;
  return finish(made.serial, std::move(file));
}

// Best effort: what is not found here is met later, and its first walks are finished in user space.
Result<void> FileTable::look_ahead(std::vector<std::string> paths) {
  std::size_t left = kMostFiles;
  for (std::size_t i = 0; i < paths.size() && left > 0; i++) {
    const std::string path = paths[i];
    if (!expected_.insert(path).second) continue;
    left--;
    int error = 0;
    UniqueFd fd = open_regular(path, &error);
    if (!fd) continue;
    if (const std::string interpreter = script_interpreter(fd.get()); !interpreter.empty()) {
      paths.push_back(interpreter);
      continue;
    }
    auto facts = maker_.facts(fd.get(), path).facts;
    if (!facts) continue;
    std::vector<std::string> asked = asked_for(*facts, path);
    paths.insert(paths.end(), std::make_move_iterator(asked.begin()), std::make_move_iterator(asked.end()));
    std::array<char, 4096> real{};
    const bool resolved = realpath(path.c_str(), real.data()) != nullptr;
    if (auto done = expect(std::move(fd), resolved ? std::string(real.data()) : path, std::move(*facts)); !done)
      return done;
  }
  return {};
}

// Gives a file that is about to be mapped its serial, and has its rows made. One that the kernel has met has both.
Result<void> FileTable::expect(UniqueFd fd, std::string path, symbolizer::ElfFacts facts) {
  File file;
  file.path = std::move(path);
  file.state = USC_FILE_WITHOUT;
  file.fd = std::move(fd);
  file.facts = std::move(facts);
  void* page = mmap(nullptr, 1, PROT_READ, MAP_PRIVATE, file.fd.get(), 0);
  if (page == MAP_FAILED) return {};
  const Result<usc_file_key> key = backend_.own_file_key(page);
  munmap(page, 1);
  if (!key) return {};
  const Result<std::uint32_t> serial = backend_.reserve_file(*key);
  if (!serial) return {};
  return begin(*serial, std::move(file));
}

void FileTable::wait_for_rows() {
  while (coming_ > 0)
    if (!maker_.wait()) return;
}

void FileTable::preload(const std::string& executable) {
  if (look_ahead({executable})) wait_for_rows();
}

void FileTable::preload_process(std::uint32_t pid) {
  const std::uint32_t living = living_thread_of(pid);
  for (const ExecutableMapping& mapping : executable_mappings_of(pid)) {
    usc_file record{};
    record.start = mapping.start;
    record.end = mapping.end;
    int error = 0;
    UniqueFd fd = open_regular(map_files_entry(living, record), &error);
    struct stat status {};
    if (!fd || fstat(fd.get(), &status) != 0) continue;
    // Servers have hundreds of processes with the same files.
    if (!preloaded_.insert(std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino)).second) continue;
    auto facts = maker_.facts(fd.get(), mapping.path).facts;
    if (!facts) continue;
    if (auto done = expect(std::move(fd), mapping.path, std::move(*facts)); !done) return;
  }
  wait_for_rows();
}

}  // namespace uscope::tracer
