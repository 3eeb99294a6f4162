// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// libdebuginfod takes its settings, and libcurl's, from the environment; both are set in this process only. Its
// progress callback, called about once a second, ends a transfer that takes too long, so that no incomplete file stays
// in the cache; if even that fails, the parent kills the process.
#include "symbolizer/debug_files/debuginfod_child.h"

#include <dlfcn.h>
#include <elfutils/debuginfod.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "support/end_signals.h"
#include "support/unique_fd.h"
#include "symbolizer/debug_files/debug_files.h"

namespace uscope::symbolizer {
namespace {

using Clock = std::chrono::steady_clock;

// The functions of libdebuginfod. It is not linked: every command would load libcurl and TLS libraries for it.
struct Library {
  decltype(&debuginfod_begin) begin = nullptr;
  decltype(&debuginfod_find_debuginfo) find = nullptr;
  decltype(&debuginfod_set_progressfn) set_progress = nullptr;

  // Returns what is missing; empty if nothing is.
  std::string load() {
    void* library = dlopen(DEBUGINFOD_SONAME, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return dlerror();
    begin = reinterpret_cast<decltype(begin)>(dlsym(library, "debuginfod_begin"));
    find = reinterpret_cast<decltype(find)>(dlsym(library, "debuginfod_find_debuginfo"));
    set_progress = reinterpret_cast<decltype(set_progress)>(dlsym(library, "debuginfod_set_progressfn"));
    return is_whole() ? "" : DEBUGINFOD_SONAME ": a function is missing";
  }
  [[nodiscard]] bool is_whole() const { return begin && find && set_progress; }
};

Clock::time_point deadline;

int give_up_in_time(debuginfod_client* /*client*/, long /*a*/, long /*b*/) {
  return Clock::now() >= deadline ? 1 : 0;
}

void reply(int socket, int error, const std::string& text, int fd = -1) {
  DebuginfodReply message;
  message.error = error;
  std::memcpy(message.text.data(), text.data(), std::min(text.size(), message.text.size() - 1));
  iovec part{&message, sizeof(message)};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr packet{};
  packet.msg_iov = &part;
  packet.msg_iovlen = 1;
  if (fd >= 0) {
    packet.msg_control = control.data();
    packet.msg_controllen = control.size();
    cmsghdr* header = CMSG_FIRSTHDR(&packet);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &fd, sizeof(fd));
  }
  if (sendmsg(socket, &packet, MSG_NOSIGNAL) < 0) _exit(1);
}

// Undoes what the child inherited from its parent: signals, files, terminal.
int settle(int socket) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Signals that end a recording end this, too: nobody waits for a server then.
  for (const int number : kEndSignals) signal(number, SIG_DFL);
  signal(SIGCHLD, SIG_DFL);
  (void)hold_signals();
  static const SignalsLetThrough ends(kEndSignals);
  umask(077);
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  dup2(nothing, STDIN_FILENO);
  dup2(nothing, STDOUT_FILENO);
  if (socket != 3) dup2(socket, 3);
  close_range(4, ~0U, 0);
  return 3;
}

void set_environment(const std::string& urls, const std::string& cache, std::chrono::milliseconds per_file) {
  const std::string seconds = std::to_string(std::chrono::ceil<std::chrono::seconds>(per_file).count());
  setenv(DEBUGINFOD_URLS_ENV_VAR, urls.c_str(), 1);
  setenv(DEBUGINFOD_TIMEOUT_ENV_VAR, seconds.c_str(), 1);
  unsetenv(DEBUGINFOD_PROGRESS_ENV_VAR);
  unsetenv(DEBUGINFOD_VERBOSE_ENV_VAR);
  if (cache.empty()) return;
  std::error_code error;  // libdebuginfod reports problems with the folder
  std::filesystem::create_directories(std::filesystem::path(cache).parent_path(), error);
  setenv(DEBUGINFOD_CACHE_PATH_ENV_VAR, cache.c_str(), 1);
}

bool carries(int fd, const std::string& build_id) {
  const ElfHandle elf(elf_begin(fd, ELF_C_READ, nullptr));
  return elf && elf_kind(elf.get()) == ELF_K_ELF && build_id_of(elf.get()) == build_id;
}

void answer(int socket, const Library& library, debuginfod_client* client, const DebuginfodRequest& request) {
  const std::string build_id(reinterpret_cast<const char*>(request.build_id.data()), request.size);
  deadline = Clock::now() + std::chrono::milliseconds(request.milliseconds);
  char* path = nullptr;
  const int found = library.find(client, request.build_id.data(), static_cast<int>(request.size), &path);
  const UniqueFd fd(found);
  if (!fd) {
    const bool late = Clock::now() >= deadline || found == -ETIMEDOUT;
    reply(socket, late ? ETIME : -found, "");
  } else if (!carries(fd.get(), build_id)) {
    // Otherwise the cache would return it again.
    if (path != nullptr) unlink(path);
    reply(socket, EBADMSG, "the server's answer is not the file asked for");
  } else {
    reply(socket, 0, "", fd.get());
  }
  std::free(path);  // NOLINT(cppcoreguidelines-no-malloc): libdebuginfod's strdup
}

}  // namespace

void serve_debuginfod(int socket, const std::string& urls, const std::string& cache,
                      std::chrono::milliseconds per_file) {
  socket = settle(socket);
  set_environment(urls, cache, per_file);
  elf_version(EV_CURRENT);
  Library library;
  std::string trouble = library.load();
  debuginfod_client* client = library.is_whole() ? library.begin() : nullptr;
  if (trouble.empty() && client == nullptr) trouble = "libdebuginfod cannot begin";
  reply(socket, trouble.empty() ? 0 : ENOSYS, trouble);
  if (client == nullptr) _exit(1);
  library.set_progress(client, give_up_in_time);
  DebuginfodRequest request;
  while (recv(socket, &request, sizeof(request), 0) == static_cast<ssize_t>(sizeof(request))) {
    if (request.size == 0 || request.size > kMaxDebuginfodId) break;
    answer(socket, library, client, request);
  }
  _exit(0);
}

}  // namespace uscope::symbolizer
