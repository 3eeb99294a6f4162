// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/terminal/output.h"

#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <string>

#include "cli/terminal/pager.h"
#include "cli/terminal/text_width.h"
#include "support/no_room.h"
#include "support/text.h"

namespace uscope::cli {

void Output::write(std::string_view text) {
  if (error_ != 0 || text.empty()) return;
  if (std::fwrite(text.data(), 1, text.size(), stream_) != text.size()) error_ = errno;
}

Result<void> Output::finish() {
  if (error_ == 0 && std::fflush(stream_) != 0) error_ = errno;
  if (error_ == EPIPE && is_paged()) return {};  // who quits a pager has seen enough
  if (error_ != 0) return errno_error("cannot write the result", error_, room_remedy(error_, ""));
  return {};
}

void print_error(const Error& error) {
  constexpr std::size_t kIndent = 2;
  const TextWidth width = text_width(stderr);
  const auto lines = [&](const std::string& text) {
    const std::string safe = printable(text);  // a command in it can be copied
    return width.cuts ? wrapped(safe, width.columns, kIndent) : safe;
  };
  constexpr std::string_view kWho = "uscope:";
  const std::string what = lines(std::string(kWho) + " " + error.what).substr(kWho.size());
  std::fprintf(stderr, "%s%s\n", width.paint(Ink::kBad, kWho).c_str(), what.c_str());
  if (!error.remedy.empty()) std::fprintf(stderr, "  %s\n", lines(error.remedy).c_str());
}

TextWidth text_width(std::FILE* stream) {
  const Paint paint = paint_for(stream);
  const int fd = terminal_behind(stream);
  if (fd < 0) return {kPlainWidth, false, paint};
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return {kPlainWidth, true, paint};
  return {std::max<std::size_t>(size.ws_col, 80), true, paint};
}

}  // namespace uscope::cli
