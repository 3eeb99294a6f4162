// One line on a terminal that is rewritten in place: the state of a recording, or the progress of a load. Where the
// stream is not a terminal nothing is ever written.
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
  // The stream stays the caller's; null: nothing is ever written.
  explicit StatusLine(std::FILE* stream);
  ~StatusLine() { clear(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  [[nodiscard]] bool enabled() const { return enabled_; }

  // "1,234 events  56,789/s  0 lost  3 processes". May be called as often as wanted: it draws five times a second.
  void update(const StatusFigures& figures);

  // "loading [#####.....] 50 %", `done` of `total`; without a total only the label and what is done.
  void progress(const std::string& label, std::uint64_t done, std::uint64_t total);

  // Takes the line away, so that other output can follow; the next update draws it again, at once.
  void clear();

 private:
  [[nodiscard]] bool due();
  void draw(const std::string& text);

  std::FILE* stream_;
  bool enabled_;
  bool visible_ = false;
  std::chrono::steady_clock::time_point next_{};
};

// The texts of the two, for a line of `width` columns.
[[nodiscard]] std::string status_text(const StatusFigures& figures, std::size_t width);
[[nodiscard]] std::string progress_text(const std::string& label, std::uint64_t done, std::uint64_t total,
                                        std::size_t width);

}  // namespace uscope::cli
