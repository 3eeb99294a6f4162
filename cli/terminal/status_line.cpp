// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/terminal/status_line.h"

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>

#include "cli/terminal/pager.h"
#include "cli/terminal/text_width.h"
#include "support/text.h"

namespace uscope::cli {
namespace {

constexpr auto kInterval = std::chrono::milliseconds(200);
constexpr const char* kEraseLine = "\r\x1b[K";
constexpr std::size_t kBar = 30;

// A dumb terminal cannot erase a line.
bool can_rewrite(std::FILE* stream) {
  if (stream == nullptr) return false;
  const int fd = fileno(stream);
  return fd >= 0 && isatty(fd) != 0 && !is_dumb_terminal();
}

std::size_t columns(std::FILE* stream) {
  winsize size{};
  if (ioctl(fileno(stream), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

// Some terminals wrap a line that fills their whole width.
std::string fit(const std::string& text, std::size_t width) {
  return shorten(text, width > 1 ? width - 1 : width, Shrink::kEnd);
}

}  // namespace

bool same_terminal(int one, int other) {
  struct stat a {};
  struct stat b {};
  if (isatty(one) == 0 || isatty(other) == 0 || fstat(one, &a) != 0 || fstat(other, &b) != 0) return false;
  const dev_t own = makedev(5, 0);  // /dev/tty: the process's own, whichever that is
  return a.st_rdev == b.st_rdev || a.st_rdev == own || b.st_rdev == own;
}

std::string status_text(const StatusFigures& figures, std::size_t width) {
  const auto rate = static_cast<std::uint64_t>(std::max(0.0, figures.events_per_second));
  std::string text = plural(figures.events, "event") + "  " + group_digits(rate) + "/s  " + group_digits(figures.lost) +
                     " lost  " + plural(figures.processes, "process");
  return fit(text, width);
}

std::string progress_text(const std::string& label, std::uint64_t done, std::uint64_t total, std::size_t width) {
  if (total == 0) return fit(label + "  " + group_digits(done), width);
  const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  const auto filled = static_cast<std::size_t>(share * kBar);
  return fit(label + " [" + std::string(filled, '#') + std::string(kBar - filled, '.') + "] " +
                 std::to_string(static_cast<int>(share * 100)) + " %",
             width);
}

StatusLine::StatusLine(std::FILE* stream) : stream_(stream), enabled_(can_rewrite(stream)) {}

bool StatusLine::due() {
  if (!enabled_) return false;
  const auto now = std::chrono::steady_clock::now();
  if (visible_ && now < next_) return false;
  next_ = now + kInterval;
  return true;
}

void StatusLine::update(const StatusFigures& figures) {
  if (due()) draw(status_text(figures, columns(stream_)));
}

void StatusLine::progress(const std::string& label, std::uint64_t done, std::uint64_t total) {
  if (due()) draw(progress_text(label, done, total, columns(stream_)));
}

void StatusLine::clear() {
  if (!visible_) return;
  std::fputs(kEraseLine, stream_);
  std::fflush(stream_);
  visible_ = false;
}

void StatusLine::draw(const std::string& text) {
  std::fprintf(stream_, "%s%s", kEraseLine, text.c_str());
  std::fflush(stream_);
  visible_ = true;
}

}  // namespace uscope::cli
