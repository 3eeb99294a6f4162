// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/terminal/screen.h"

#define NCURSES_NOMACROS
#include <curses.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termcap.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <clocale>
#include <cstdint>
#include <cstdlib>
#include <cwchar>
#include <string>
#include <utility>

namespace uscope::cli {
namespace {

constexpr int kEscapeWaitMs = 25;  // what follows Esc in this time is one key with it

// The beginning of a text of UTF-8 that has room in so many columns.
std::wstring fitting_characters(const std::string& text, int columns) {
  std::wstring wide;
  std::mbstate_t state{};
  int left = columns;
  for (std::size_t at = 0; at < text.size();) {
    wchar_t letter = 0;
    const std::size_t bytes = std::mbrtowc(&letter, text.data() + at, text.size() - at, &state);
    if (bytes == 0 || bytes > text.size() - at) break;  // not UTF-8: escape_terminal leaves none
    // Characters that the C library knows no width of are not shown.
    if (const int width = wcwidth(letter); width >= 0) {
      left -= width;
      if (left < 0) break;
      wide += letter;
    }
    at += bytes;
  }
  return wide;
}

std::string to_text(wint_t letter) {
  std::array<char, MB_LEN_MAX> bytes{};
  std::mbstate_t state{};
  const std::size_t count = std::wcrtomb(bytes.data(), static_cast<wchar_t>(letter), &state);
  return count == static_cast<std::size_t>(-1) ? "" : std::string(bytes.data(), count);
}

Key special_key(wint_t code) {
  switch (code) {
    case KEY_UP:
      return {KeyName::kUp, ""};
    case KEY_DOWN:
      return {KeyName::kDown, ""};
    case KEY_PPAGE:
      return {KeyName::kPageUp, ""};
    case KEY_NPAGE:
      return {KeyName::kPageDown, ""};
    case KEY_HOME:
      return {KeyName::kHome, ""};
    case KEY_END:
      return {KeyName::kEnd, ""};
    case KEY_ENTER:
      return {KeyName::kEnter, ""};
    case KEY_BACKSPACE:
    case KEY_DC:
      return {KeyName::kBackspace, ""};
    default:
      return {};
  }
}

Key typed_key(wint_t letter) {
  constexpr wint_t kEscapeCode = 0x1b;
  constexpr wint_t kDeleteCode = 0x7f;
  if (letter == '\r' || letter == '\n') return {KeyName::kEnter, ""};
  if (letter == kEscapeCode) return {KeyName::kEscape, ""};
  if (letter == kDeleteCode || letter == '\b') return {KeyName::kBackspace, ""};
  if (letter < ' ') return {};
  return {KeyName::kText, to_text(letter)};
}

attr_t attribute(Look look) {
  return look == Look::kStrong ? A_BOLD : look == Look::kReverse ? A_REVERSE : A_NORMAL;
}

}  // namespace

void Screen::Close::operator()(screen* taken) const {
  endwin();
  delscreen(taken);
}

Result<std::unique_ptr<Screen>> Screen::open() {
  if (std::setlocale(LC_CTYPE, "C.UTF-8") == nullptr) std::setlocale(LC_CTYPE, "");
  std::unique_ptr<screen, Close> taken(newterm(nullptr, stdout, stdin));
  const char* const set = std::getenv("TERM");
  const std::string kind = set == nullptr ? "" : set;
  const Error cannot{"the terminal `" + kind + "` cannot place text", "set TERM to what it is: xterm, for example"};
  if (!taken) {
    if (tgetent(nullptr, kind.c_str()) == 1) return cannot;
    return Error{"this machine has no description of the terminal `" + kind + "`",
                 "set TERM to one that it has, as `ls /lib/terminfo /usr/share/terminfo` shows; Debian's package "
                 "ncurses-term has most"};
  }
  const auto place = reinterpret_cast<std::intptr_t>(tigetstr("cup"));  // 0 or -1: it has no such thing
  if (place == 0 || place == -1) return cannot;
  return std::unique_ptr<Screen>(new Screen(std::move(taken)));
}

Screen::Screen(std::unique_ptr<screen, Close> taken) : screen_(std::move(taken)), has_keys_(isatty(STDIN_FILENO) != 0) {
  if (has_keys_) {
    cbreak();
    noecho();
    set_escdelay(kEscapeWaitMs);
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
  }
  curs_set(0);
}

Screen::~Screen() = default;

ScreenSize Screen::size() {
  winsize now{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &now) == 0 && now.ws_row != 0 && now.ws_col != 0 &&
      is_term_resized(now.ws_row, now.ws_col))
    resizeterm(now.ws_row, now.ws_col);
  return {static_cast<std::size_t>(getmaxx(stdscr)), static_cast<std::size_t>(getmaxy(stdscr))};
}

bool Screen::takes_output() {
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  return poll(&output, 1, 0) > 0 && (output.revents & POLLOUT) != 0;
}

void Screen::draw(const std::vector<ScreenLine>& lines) {
  const ScreenSize now = size();
  erase();
  for (std::size_t row = 0; row < lines.size() && row < now.rows; row++) {
    const std::wstring text = fitting_characters(lines[row].text, static_cast<int>(now.columns));
    attr_set(attribute(lines[row].look), 0, nullptr);
    mvaddnwstr(static_cast<int>(row), 0, text.data(), static_cast<int>(text.size()));
  }
  attr_set(A_NORMAL, 0, nullptr);
  refresh();
}

std::optional<Key> Screen::key() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  if (!has_keys_ || poll(&input, 1, 0) <= 0) return std::nullopt;
  wint_t code = 0;
  const int kind = (input.revents & POLLIN) != 0 ? get_wch(&code) : ERR;
  if (kind == ERR) {
    is_gone_ = (input.revents & ~POLLIN) != 0;
    return std::nullopt;
  }
  return kind == KEY_CODE_YES ? special_key(code) : typed_key(code);
}

}  // namespace uscope::cli
