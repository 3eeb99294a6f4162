// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One line on a terminal that is rewritten in place: the state of a recording, or the progress of a load. If the stream
// is not a terminal, nothing is ever written.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

namespace uscope::cli {

struct StatusFigures {
  std::uint64_t events = 0;
  double events_per_second = 0;
  std::uint64_t lost = 0;
  std::uint64_t processes = 0;
};

class StatusLine {
 public:
  // The caller keeps ownership of the stream; null: nothing is ever written.
  explicit StatusLine(std::FILE* stream);
  ~StatusLine() { clear(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  [[nodiscard]] bool enabled() const { return enabled_; }

  // "1,234 events  56,789/s  0 lost  3 processes". May be called at any rate: it draws five times a second.
  void update(const StatusFigures& figures);

  // "loading [#####.....] 50 %", `done` of `total`; without a total only the label and `done`.
  void progress(const std::string& label, std::uint64_t done, std::uint64_t total);

  // Removes the line, so that other output can follow; the next update draws it again, at once.
  void clear();

 private:
  [[nodiscard]] bool due();
  void draw(const std::string& text);

  std::FILE* stream_;
  bool enabled_;
  bool visible_ = false;
  std::chrono::steady_clock::time_point next_{};
};

// Whether two descriptors are the same terminal.
[[nodiscard]] bool same_terminal(int one, int other);

// The texts of update() and progress(), for a line of `width` columns.
[[nodiscard]] std::string status_text(const StatusFigures& figures, std::size_t width);
[[nodiscard]] std::string progress_text(const std::string& label, std::uint64_t done, std::uint64_t total,
                                        std::size_t width);

}  // namespace uscope::cli
