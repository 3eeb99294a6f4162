// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/scouts/process_looks.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "support/clock.h"
#include "support/regular_file.h"
#include "tracer/process/library_search.h"
#include "tracer/process/outsiders.h"
#include "tracer/process/process_setting.h"
#include "uscope/arch/arch.h"

namespace uscope::tracer {
namespace {

constexpr std::size_t kMostArguments = std::size_t{1} << 20;
constexpr std::size_t kMostCopied = std::size_t{256} << 20;

std::vector<std::byte> request_for(std::uint32_t pid) {
  const auto bytes = std::as_bytes(std::span(&pid, 1));
  return {bytes.begin(), bytes.end()};
}

void put_descriptors(ScoutWriter& out, const std::vector<OpenDescriptor>& all) {
  for (const OpenDescriptor& one : all)
    out.put(one.fd).put(one.flags).put_text(one.target).put(one.file.dev).put(one.file.ino).put(one.file.space);
}

std::vector<OpenDescriptor> get_descriptors(ScoutReader& in) {
  std::vector<OpenDescriptor> all;
  while (!in.empty()) {
    OpenDescriptor& one = all.emplace_back();
    one.fd = in.get<int>();
    one.flags = in.get<std::uint32_t>();
    one.target = in.get_text();
    one.file.dev = in.get<std::uint64_t>();
    one.file.ino = in.get<std::uint64_t>();
    one.file.space = in.get<std::uint32_t>();
  }
  return all;
}

void look_at_process(ScoutDesk& desk) {
  ScoutReader in(desk.request().bytes);
  const auto pid = in.get<std::uint32_t>();
  const bool with_descriptors = in.get<bool>();
  ScoutWriter out;
  const std::uint64_t now = monotonic_ns();
  const auto descriptors = with_descriptors ? open_descriptors_of(pid) : std::vector<OpenDescriptor>();
  const std::string executed = executed_path_of(pid);
  out.put_text(executed.empty() || trace::names_nothing(executed) ? executable_of(pid) : executed)
      .put_text(command_line_of(pid, kMostArguments))
      .put_text(name_of(pid))
      .put(now);
  desk.goes_to(0);
  out.put(has_io_uring(pid));
  put_descriptors(out, descriptors);
  desk.answer(out.bytes());
}

void list_descriptors(ScoutDesk& desk) {
  ScoutReader in(desk.request().bytes);
  ScoutWriter out;
  put_descriptors(out, open_descriptors_of(in.get<std::uint32_t>()));
  desk.answer(out.bytes());
}

void look_at_names(ScoutDesk& desk) {
  ScoutReader in(desk.request().bytes);
  const trace::ProcessNames names = uscope::tracer::names_of(in.get<std::uint32_t>());
  ScoutWriter out;
  out.put_text(names.executable).put_text(names.comm).put_text(names.title).put_text(names.script).put_text(names.path);
  desk.answer(out.bytes());
}

void look_at_environment(ScoutDesk& desk) {
  ScoutReader in(desk.request().bytes);
  desk.answer(ScoutWriter().put_text(environment_bytes_of(in.get<std::uint32_t>())).bytes());
}

void list_mappings(ScoutDesk& desk) {
  ScoutReader in(desk.request().bytes);
  ScoutWriter out;
  for (const ExecutableMapping& mapping : uscope::tracer::executable_mappings_of(in.get<std::uint32_t>()))
    out.put(mapping.start).put(mapping.end).put_text(mapping.path);
  desk.answer(out.bytes());
}

void list_ranges(ScoutDesk& desk) {
  ScoutReader in(desk.request().bytes);
  ScoutWriter out;
  for (const AddressRange& range : uscope::tracer::executable_ranges_of(in.get<std::uint32_t>())) out.put(range);
  desk.answer(out.bytes());
}

bool has_our_root(std::uint32_t pid) {
  struct stat own {};
  struct stat other {};
  const std::string root = fmt::format("/proc/{}/root", pid);
  return stat("/", &own) == 0 && stat(root.c_str(), &other) == 0 && own.st_dev == other.st_dev &&
         own.st_ino == other.st_ino;
}

void search_libraries(ScoutDesk& desk) {
  ScoutReader in(desk.request().bytes);
  symbolizer::ElfFacts facts;
  const std::string path = in.get_text();
  facts.interpreter = in.get_text();
  const auto needed = in.get<std::uint32_t>();
  for (std::uint32_t i = 0; i < needed; i++) facts.needed.push_back(in.get_text());
  while (!in.empty()) facts.runpath.push_back(in.get_text());
  ScoutWriter out;
  for (const std::string& found : uscope::tracer::asked_for(facts, path)) out.put_text(found);
  desk.answer(out.bytes());
}

struct OpenAnswer {
  int error = 0;
  bool is_copy = false;
  bool shares_our_root = false;
  bool is_at_path = false;
  struct stat status {};
};

// Whether that path leads to a file, as far as the kernel knows without a file server.
bool leads_to(const char* path, const struct stat& status) {
  struct statx found {};
  constexpr int kHow = AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT;
  return *path == '/' && statx(AT_FDCWD, path, kHow, STATX_INO, &found) == 0 && found.stx_ino == status.st_ino &&
         makedev(found.stx_dev_major, found.stx_dev_minor) == status.st_dev;
}

// A program that serves files can claim any owner and mode for them, and a copy does not show where it came from. So
// the copy is owned by a user whom no system has, and writable by all: it gets a reader and rows of its
// own (symbolizer/reader/file_owner.h), and is charged to no real user. A tracer that may not give files away, or whose
// user namespace lacks that number, still sets the mode, which achieves all but the last.
bool disown(int copy, mode_t mode) {
  constexpr uid_t kNoUser = 0xfffffff0;
  if (fchmod(copy, (mode & 0777) | S_IWOTH) != 0) return false;
  return fchown(copy, kNoUser, kNoUser) == 0 || errno == EPERM || errno == EINVAL;
}

// Zeros are left out: a file may be nearly all holes.
bool put_data(int copy, std::string_view bytes, off_t at) {
  constexpr std::size_t kPage = USC_PAGE_BYTES;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(kPage, bytes.size()))) {
    const std::string_view page = bytes.substr(0, kPage);
    if (page.find_first_not_of('\0') != std::string_view::npos &&
        pwrite(copy, page.data(), page.size(), at) != static_cast<ssize_t>(page.size()))
      return false;
    at += static_cast<off_t>(page.size());
  }
  return true;
}

UniqueFd copy_in_memory(ScoutDesk& desk, int fd, const struct stat& status, std::uint32_t most_ms, int* error) {
  UniqueFd copy(memfd_create("uscope-copy", MFD_CLOEXEC));
  *error = EFBIG;
  if (status.st_size < 0 || static_cast<std::size_t>(status.st_size) > kMostCopied) return {};
  std::vector<char> room(std::size_t{1} << 20);
  off_t at = 0;
  const std::uint64_t until = monotonic_ns() + most_ms * kMillisecondNs;
  while (copy && at < status.st_size) {
    desk.goes_to(0);
    if (monotonic_ns() > until) {
      *error = ETIMEDOUT;
      return {};
    }
    const ssize_t got = pread(fd, room.data(), room.size(), at);
    if (got == 0) break;
    if (got < 0 || !put_data(copy.get(), std::string_view(room.data(), static_cast<std::size_t>(got)), at)) {
      *error = errno;
      return {};
    }
    at += got;
  }
  if (!copy || ftruncate(copy.get(), at) != 0 || !disown(copy.get(), status.st_mode)) {
    *error = errno;
    return {};
  }
  *error = 0;
  return copy;
}

// Opens what `there` (O_PATH) refers to, if it is a regular file.
void answer_opened(ScoutDesk& desk, const UniqueFd& there, OpenAnswer answer, std::uint32_t copy_ms, Leases leases) {
  UniqueFd fd;
  if (there) {
    fd = open_if_regular(there.get(), answer.status, O_RDONLY, leases);
    const bool is_other = answer.status.st_mode != 0 && !S_ISREG(answer.status.st_mode);
    answer.error = fd ? 0 : is_other ? ENOENT : errno;
  }
  UniqueFd copy;
  if (fd && is_served(fd.get())) {
    desk.be_last();  // its exit closes the file, which requires an answer from the serving program
    answer.is_copy = true;
    if (answer.error == 0) copy = copy_in_memory(desk, fd.get(), answer.status, copy_ms, &answer.error);
  }
  std::array<char, 4096> where{};
  if (there) (void)!readlink(fmt::format("/proc/self/fd/{}", there.get()).c_str(), where.data(), where.size() - 1);
  answer.is_at_path = fd && leads_to(where.data(), answer.status);
  const int given = answer.is_copy ? copy.get() : fd.get();
  const auto fds = answer.error == 0 ? std::span(&given, 1) : std::span<const int>();
  desk.answer(ScoutWriter().put(answer).put_text(where.data()).bytes(), fds);
  if (answer.is_copy) (void)fd.release();
}

UniqueFd open_below(ScoutMessage& request, int flags, std::uint64_t resolve) {
  if (request.fds.empty()) return {};
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags) | O_CLOEXEC;
  how.resolve = resolve | RESOLVE_NO_MAGICLINKS;
  const std::string path = ScoutReader(request.bytes).get_text();
  return UniqueFd(static_cast<int>(syscall(SYS_openat2, request.fds.front().get(), path.c_str(), &how, sizeof(how))));
}

void open_name(ScoutDesk& desk) {
  errno = 0;
  const UniqueFd there = open_below(desk.request(), O_PATH, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
  OpenAnswer answer;
  answer.error = there ? 0 : errno;
  answer_opened(desk, there, answer, OpenRequest::kCopyMs, Leases::kKept);
}

void open_folder_below(ScoutDesk& desk) {
  const UniqueFd fd = open_below(desk.request(), O_PATH | O_DIRECTORY, RESOLVE_IN_ROOT);
  const int given = fd.get();
  desk.answer({}, fd ? std::span(&given, 1) : std::span<const int>());
}

}  // namespace

bool is_served(int fd) {
  struct statfs system {};
  return fstatfs(fd, &system) != 0 || system.f_type == FUSE_SUPER_MAGIC;
}

std::vector<std::byte> OpenRequest::bytes() const {
  ScoutWriter request;
  const auto bytes = request.put_text(path).put(pid).put(copy_ms).put(leases).bytes();
  return {bytes.begin(), bytes.end()};
}

void open_file(ScoutDesk& desk) {
  ScoutReader in(desk.request().bytes);
  const std::string path = in.get_text();
  const auto pid = in.get<std::uint32_t>();
  const auto copy_ms = in.get<std::uint32_t>();
  const auto leases = in.get<Leases>();
  const UniqueFd there(open(path.c_str(), O_PATH | O_CLOEXEC));
  OpenAnswer answer;
  answer.error = there ? 0 : errno;
  desk.goes_to(0);
  answer.shares_our_root = there && pid != 0 && has_our_root(pid);
  answer_opened(desk, there, answer, copy_ms, leases);
}

OpenedFile opened_file(std::optional<ScoutMessage> answer) {
  OpenedFile file;
  file.error = ETIMEDOUT;
  if (!answer) return file;
  ScoutReader in(answer->bytes);
  const auto opened = in.get<OpenAnswer>();
  file.error = opened.error;
  file.is_copy = opened.is_copy;
  file.shares_our_root = opened.shares_our_root;
  file.is_at_path = opened.is_at_path;
  file.status = opened.status;
  file.path = in.get_text();
  if (!answer->fds.empty()) file.fd = std::move(answer->fds.front());
  if (!file.fd && file.error == 0) file.error = EMFILE;
  return file;
}

std::optional<ProcessPortrait> ProcessLooks::portrait_of(std::uint32_t pid, bool with_descriptors) {
  const auto answer = ask(scouts_, pid, look_at_process, ScoutWriter().put(pid).put(with_descriptors).bytes());
  if (!answer) return std::nullopt;
  ScoutReader in(answer->bytes);
  ProcessPortrait portrait;
  portrait.path = in.get_text();
  portrait.arguments = in.get_text();
  portrait.name = in.get_text();
  portrait.descriptors_ns = in.get<std::uint64_t>();
  portrait.has_io_uring = in.get<bool>();
  portrait.descriptors = get_descriptors(in);
  return portrait;
}

std::vector<OpenDescriptor> ProcessLooks::descriptors_of(std::uint32_t pid) {
  const auto answer = ask(scouts_, pid, list_descriptors, request_for(pid));
  if (!answer) return {};
  ScoutReader in(answer->bytes);
  return get_descriptors(in);
}

trace::ProcessNames ProcessLooks::names_of(std::uint32_t pid) {
  trace::ProcessNames names;
  const auto answer = ask(scouts_, pid, look_at_names, request_for(pid));
  if (!answer) return names;
  ScoutReader in(answer->bytes);
  names.executable = in.get_text();
  names.comm = in.get_text();
  names.title = in.get_text();
  names.script = in.get_text();
  names.path = in.get_text();
  return names;
}

std::string ProcessLooks::environment_of(std::uint32_t pid) {
  const auto answer = ask(scouts_, pid, look_at_environment, request_for(pid));
  return answer ? ScoutReader(answer->bytes).get_text() : "";
}

std::vector<ExecutableMapping> ProcessLooks::executable_mappings_of(std::uint32_t pid) {
  std::vector<ExecutableMapping> all;
  const auto answer = ask(scouts_, pid, list_mappings, request_for(pid));
  if (!answer) return all;
  ScoutReader in(answer->bytes);
  while (!in.empty()) {
    ExecutableMapping& mapping = all.emplace_back();
    mapping.start = in.get<std::uint64_t>();
    mapping.end = in.get<std::uint64_t>();
    mapping.path = in.get_text();
  }
  return all;
}

std::optional<std::vector<AddressRange>> ProcessLooks::executable_ranges_of(std::uint32_t pid) {
  const auto answer = ask(scouts_, pid, list_ranges, request_for(pid));
  if (!answer) return std::nullopt;
  std::vector<AddressRange> all;
  ScoutReader in(answer->bytes);
  while (!in.empty()) all.push_back(in.get<AddressRange>());
  return all;
}

std::vector<std::string> ProcessLooks::asked_for(std::uint32_t pid, const symbolizer::ElfFacts& facts,
                                                 const std::string& path) {
  ScoutWriter request;
  request.put_text(path).put_text(facts.interpreter).put(static_cast<std::uint32_t>(facts.needed.size()));
  for (const std::string& name : facts.needed) request.put_text(name);
  for (const std::string& folder : facts.runpath) request.put_text(folder);
  const auto answer = ask(scouts_, pid, search_libraries, request.bytes());
  std::vector<std::string> all;
  if (!answer) return all;
  ScoutReader in(answer->bytes);
  while (!in.empty()) all.push_back(in.get_text());
  return all;
}

OpenedFile ProcessLooks::open_in_folder(std::uint32_t pid, int folder, const std::string& name) {
  return opened_file(ask(scouts_, pid, open_name, ScoutWriter().put_text(name).bytes(), std::span(&folder, 1)));
}

UniqueFd ProcessLooks::open_folder(std::uint32_t pid, int root, const std::string& path) {
  auto answer = ask(scouts_, pid, open_folder_below, ScoutWriter().put_text(path).bytes(), std::span(&root, 1));
  if (!answer || answer->fds.empty()) return {};
  return std::move(answer->fds.front());
}

}  // namespace uscope::tracer
