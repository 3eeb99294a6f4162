// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/debug_files/debuginfod.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <utility>

#include "symbolizer/debug_files/debuginfod_child.h"

namespace uscope::symbolizer {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kStart{5000};  // to load the library
constexpr milliseconds kGrace{2000};  // for a transfer that was told to stop

milliseconds since(Clock::time_point begin) {
  return std::chrono::duration_cast<milliseconds>(Clock::now() - begin);
}

struct Answer {
  enum class Kind { kReply, kTimeout, kGone } kind = Kind::kGone;
  DebuginfodReply reply;
  UniqueFd fd;
};

// Receives one message, or reports what happened instead within `limit`.
Answer receive(int socket, milliseconds limit) {
  Answer answer;
  const auto begin = Clock::now();
  pollfd wait{socket, POLLIN, 0};
  for (;;) {
    const milliseconds left = limit - since(begin);
    const int ready = poll(&wait, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (ready > 0) break;
    if (ready < 0 && errno == EINTR) continue;
    answer.kind = Answer::Kind::kTimeout;
    return answer;
  }
  iovec part{&answer.reply, sizeof(answer.reply)};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr packet{};
  packet.msg_iov = &part;
  packet.msg_iovlen = 1;
  packet.msg_control = control.data();
  packet.msg_controllen = control.size();
  if (recvmsg(socket, &packet, MSG_CMSG_CLOEXEC) != static_cast<ssize_t>(sizeof(answer.reply))) return answer;
  const cmsghdr* header = CMSG_FIRSTHDR(&packet);
  if (header != nullptr && header->cmsg_type == SCM_RIGHTS && header->cmsg_len == CMSG_LEN(sizeof(int))) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(header), sizeof(fd));
    answer.fd.reset(fd);
  }
  answer.reply.text.back() = '\0';
  answer.kind = Answer::Kind::kReply;
  return answer;
}

Result<void> check_urls(const std::string& urls) {
  std::istringstream words(urls);
  int count = 0;
  for (std::string url; words >> url; count++)
    if (!url.starts_with("http://") && !url.starts_with("https://") && !url.starts_with("file://"))
      return Error{"not a URL of a debuginfod server: " + url, "give one that begins with http:// or https://"};
  if (count == 0)
    return Error{"no debuginfod server is known",
                 "set DEBUGINFOD_URLS (under sudo: --preserve-env=DEBUGINFOD_URLS), or give --debuginfod=URL"};
  return {};
}

}  // namespace

std::string default_debuginfod_cache() {
  if (const char* cache = std::getenv("DEBUGINFOD_CACHE_PATH"); cache != nullptr && *cache != '\0') return cache;
  return geteuid() == 0 ? "/var/cache/uscope/debuginfod" : "";
}

Debuginfod::Debuginfod(Debuginfod&& other) noexcept
    : options_(std::move(other.options_)),
      figures_(std::move(other.figures_)),
      without_(std::move(other.without_)),
      with_(std::move(other.with_)),
      spent_(other.spent_),
      strikes_(other.strikes_),
      child_(std::exchange(other.child_, -1)),
      socket_(std::move(other.socket_)) {}

Result<Debuginfod> Debuginfod::create(const DebuginfodOptions& options) {
  if (auto good = check_urls(options.urls); !good) return good.error();
  Debuginfod client(options);
  if (client.options_.cache.empty()) client.options_.cache = default_debuginfod_cache();
  if (auto started = client.start(); !started) return started.error();
  // Stopped until there is something to fetch, which in `record` is after the recording.
  client.stop();
  return client;
}

Result<void> Debuginfod::start() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return errno_error("cannot make a socket for debuginfod", errno);
  socket_.reset(ends[0]);
  const UniqueFd other(ends[1]);
  child_ = fork();
  if (child_ < 0) return errno_error("cannot start a process for debuginfod", errno);
  if (child_ == 0) serve_debuginfod(other.get(), options_.urls, options_.cache, options_.per_file);
  const Answer ready = receive(socket_.get(), kStart);
  if (ready.kind == Answer::Kind::kReply && ready.reply.error == 0) return {};
  stop();
  const std::string why =
      ready.kind == Answer::Kind::kReply ? std::string(ready.reply.text.data()) : "it did not start";
  return Error{
      "debuginfod cannot be used: " + why,
      "it takes libdebuginfod (Debian: libdebuginfod1), and a uscope that loads libraries, as the package's does"};
}

void Debuginfod::stop() {
  socket_.reset();
  if (child_ <= 0) return;
  kill(child_, SIGKILL);
  while (waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
  }
  child_ = -1;
}

void Debuginfod::count_failure(const std::string& problem) {
  figures_.failed++;
  if (figures_.problem.empty()) figures_.problem = problem;
}

UniqueFd Debuginfod::fetch(const std::string& build_id) {
  if (build_id.empty() || build_id.size() > kMaxDebuginfodId || without_.contains(build_id)) return UniqueFd();
  // A file found before, for a module that is opened again, is in the cache.
  const bool known = with_.contains(build_id);
  const DebuginfodFigures before = figures_;
  UniqueFd fd;
  if (strikes_ >= options_.timeouts || spent_ >= options_.overall)
    figures_.not_asked++;
  else
    fd = ask(build_id);
  if (known) {
    figures_ = before;
    return fd;
  }
  figures_.asked++;
  (fd ? with_ : without_).insert(build_id);
  return fd;
}

UniqueFd Debuginfod::ask(const std::string& build_id) {
  const auto begin = Clock::now();
  if (child_ < 0) {
    if (auto started = start(); !started) {
      strikes_++;
      count_failure(started.error().what);
      return UniqueFd();
    }
  }
  const milliseconds limit = std::min(options_.per_file, options_.overall - spent_);
  DebuginfodRequest request;
  request.milliseconds = static_cast<std::uint32_t>(limit.count());
  request.size = static_cast<std::uint32_t>(build_id.size());
  std::copy(build_id.begin(), build_id.end(), request.build_id.begin());
  Answer answer;
  if (send(socket_.get(), &request, sizeof(request), MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof(request)))
    answer = receive(socket_.get(), limit + kGrace);
  spent_ += since(begin);
  if (answer.kind != Answer::Kind::kReply) stop();
  if (answer.kind == Answer::Kind::kGone) {
    strikes_++;
    count_failure("the process that asks debuginfod servers ended");
  } else if (answer.kind == Answer::Kind::kTimeout || answer.reply.error == ETIME) {
    strikes_++;
    figures_.timed_out++;
  } else if (answer.reply.error == ENOENT) {
    figures_.unknown++;
  } else if (answer.reply.error != 0 || !answer.fd) {
    const char* text = answer.reply.text.data();
    count_failure(*text != '\0' ? text : std::strerror(answer.reply.error));
  } else {
    figures_.found++;
  }
  return std::move(answer.fd);
}

}  // namespace uscope::symbolizer
