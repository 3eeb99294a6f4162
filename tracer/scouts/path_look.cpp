// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/scouts/path_look.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <span>
#include <utility>

#include "tracer/scouts/process_looks.h"

namespace uscope::tracer {
namespace {

PathLook::Stamp stamp_of(const struct stat& status) {
  return {identity_of(status), status.st_ctim.tv_sec, status.st_ctim.tv_nsec};
}

// An answer for each path that leads to another file than before: its number, the file, and a descriptor.
void look_at_paths(ScoutDesk& desk) {
  ScoutReader in(desk.request().bytes);
  for (std::size_t number = 0; !in.empty(); number++) {
    const std::string path = in.get_text();
    const auto known = in.get<PathLook::Stamp>();
    const UniqueFd there(open(path.c_str(), O_PATH | O_CLOEXEC));
    struct stat status {};
    if (there && (fstat(there.get(), &status) != 0 || !S_ISREG(status.st_mode))) status = {};
    const PathLook::Stamp now = stamp_of(status);
    if (now == known) continue;
    const UniqueFd file =
        status.st_mode != 0 && !is_served(there.get()) ? open_if_regular(there.get(), status) : UniqueFd();
    const int given = file.get();
    desk.answer(ScoutWriter().put(number).put(now).bytes(), file ? std::span(&given, 1) : std::span<const int>());
  }
}

}  // namespace

std::vector<std::byte> PathLook::request() const {
  ScoutWriter out;
  for (const Path& path : paths_) out.put_text(path.text).put(path.stamp);
  return {out.bytes().begin(), out.bytes().end()};
}

void PathLook::add(ScoutMessage& message) {
  ScoutReader in(message.bytes);
  News news{in.get<std::size_t>(), {}};
  if (news.path >= paths_.size()) return;
  paths_[news.path].stamp = in.get<Stamp>();
  if (!message.fds.empty()) news.fd = std::move(message.fds.front());
  news_.push_back(std::move(news));
}

bool PathLook::go_on() {
  if (scouts_ == nullptr) {
    for (ScoutMessage& message : run_here(look_at_paths, request())) add(message);
    return true;
  }
  if (!errand_) {
    auto sent = scouts_->send(0, look_at_paths, request());
    if (!sent) return true;
    errand_.emplace(std::move(*sent));
  }
  ScoutMessage message;
  Errand::Came came = errand_->next(message);
  while (came == Errand::Came::kAnswer) {
    add(message);
    came = errand_->next(message);
  }
  if (came == Errand::Came::kNothing && !errand_->hangs()) return false;
  errand_.reset();
  return true;
}

}  // namespace uscope::tracer
