// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/verbs/top.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <limits>
#include <memory>

#include "cli/render/top_render.h"
#include "cli/render/units.h"
#include "cli/session/record_target.h"
#include "cli/verbs/shared_options.h"
#include "support/text.h"
#include "tracer/recorder/recorder.h"

namespace uscope::cli {
namespace {

constexpr int kAllLast = 3;  // enough to find the trigger
constexpr std::size_t kPlainLines = 20;
constexpr std::size_t kAround = 4;  // lines of the screen outside of the table
constexpr std::int64_t kLeastInterval = 250'000'000;
constexpr auto kNamesWait = std::chrono::seconds(10);

// The terminal while it shows pictures: an alternate screen, keys without Enter. The destructor restores the former
// state.
class Screen {
 public:
  Screen() {
    if (isatty(STDIN_FILENO) != 0 && tcgetattr(STDIN_FILENO, &before_) == 0) {
      termios raw = before_;
      raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
      keys_ = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
    }
    std::fputs("\x1b[?1049h\x1b[?25l", stdout);
    std::fflush(stdout);
  }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
  ~Screen() {
    std::fputs("\x1b[?25h\x1b[?1049l", stdout);
    std::fflush(stdout);
    if (keys_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  [[nodiscard]] bool keys() const { return keys_; }
  [[nodiscard]] bool quit_was_typed() const {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    char key = 0;
    while (keys_ && poll(&input, 1, 0) > 0 && read(STDIN_FILENO, &key, 1) == 1)
      if (key == 'q' || key == 'Q') return true;
    return false;
  }
  static std::size_t rows() {
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row <= kAround + 1) return kPlainLines;
    return size.ws_row - kAround;
  }

 private:
  termios before_{};
  bool keys_ = false;
};

class Top {
 public:
  Top(const TopVerbOptions& options, std::int64_t interval_ns, live::LiveNames& names)
      : options_(options), interval_s_(static_cast<double>(interval_ns) / 1e9), names_(names) {
    picture_.target = describe_target(options.record);
  }

  Result<int> run(const tracer::RecordOptions& recorder) {
    const bool refreshes = !options_.once && options_.format == Format::kText && isatty(STDOUT_FILENO) != 0;
    if (refreshes) screen_.emplace();
    tracer::RecordHooks hooks;
    hooks.observer = &calls_;
    hooks.status = [this](const tracer::TraceFigures& now, double seconds) { refresh(now, seconds); };
    hooks.wants_end = [this] { return over_ || (screen_ && screen_->quit_was_typed()); };
    hooks.attached = [this](const tracer::FoundRunning& found) { say_found(found); };
    const auto outcome = tracer::record(recorder, hooks, nullptr);
    if (options_.once && outcome) show_last(*outcome);
    screen_.reset();
    if (const auto trouble = names_.trouble()) print_error(*trouble);
    if (!outcome) return outcome.error();
    if (!outcome->trouble.empty()) return Error{outcome->trouble, ""};
    if (auto done = output_.finish(); !done) return done.error();
    return 0;
  }

 private:
  void say_found(const tracer::FoundRunning& found) {
    if (found.threads != 0) return;
    if (screen_)
      picture_.waiting = "nothing of it runs yet: waiting for it. " + near_misses(found.missing);
    else
      print_found(options_.record, found);
  }

  void refresh(const tracer::TraceFigures& now, double seconds) {
    if (over_ || seconds - picture_.at_s < interval_s_) return;
    fill(now, seconds);
    if (options_.once) {
      over_ = true;
      return;
    }
    show();
    calls_.take();
  }

  void fill(const tracer::TraceFigures& now, double seconds) {
    picture_.seconds = seconds - picture_.at_s;
    picture_.at_s = seconds;
    picture_.lost = now.lost;
    picture_.processes = now.processes;
    set_lines();
  }

  void set_lines() {
    picture_.lines = calls_.lines();
    picture_.calls = 0;
    for (const live::CallLine& line : picture_.lines) picture_.calls += line.calls;
  }

  // With --once, the picture may wait for its names, and covers the whole recording.
  void show_last(const tracer::RecordOutcome& outcome) {
    const double seconds = static_cast<double>(outcome.duration_ns) / 1e9;
    if (!over_) picture_.at_s = 0;
    picture_.seconds = seconds;
    picture_.at_s = seconds;
    picture_.lost = outcome.figures.lost;
    picture_.processes = std::max(picture_.processes, outcome.figures.processes);
    (void)calls_.lines();
    names_.wait(kNamesWait);
    set_lines();
    show();
  }

  void show() {
    const std::size_t fit = screen_ ? Screen::rows() : kPlainLines;
    if (options_.format == Format::kJson) {
      output_.write(top_json(picture_, options_.lines != 0 ? options_.lines : picture_.lines.size()));
    } else {
      if (screen_) output_.write("\x1b[H\x1b[J");
      output_.write(top_text(picture_, options_.lines != 0 ? options_.lines : fit, text_width(stdout),
                             screen_ && screen_->keys()));
      if (!screen_ && !options_.once) output_.write("\n");
    }
    std::fflush(stdout);
  }

  const TopVerbOptions& options_;
  double interval_s_;
  live::LiveNames& names_;
  live::CallCounts calls_{names_};
  std::optional<Screen> screen_;
  Output output_{stdout};
  TopPicture picture_;
  bool over_ = false;
};

}  // namespace

void add_top(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<TopVerbOptions>();
  options->record.mode = kAllLast;
  CLI::App* verb =
      app.add_subcommand("top", "show continuously what running applications call, and from where; q quits");
  add_running_target(*verb, options->record);
  add_calls(*verb, options->record.calls, "calls to count: names, %file %network ..., all; ! excludes");
  verb->add_option("--interval", options->interval, "how often to refresh, at least 250ms")
      ->type_name("T")
      ->capture_default_str();
  take_number(verb->add_option("--lines", options->lines, "number of lines; by default as many as fit the terminal"), 1,
              std::numeric_limits<unsigned>::max())
      ->type_name("N");
  verb->add_flag("--once", options->once, "print one display, of one interval");
  verb->add_option("--duration", options->record.duration, "end after this time: 30s, 5m")->type_name("T");
  verb->add_option("--backend", options->record.backend,
                   "what traces in the kernel: bpf, kmod (the module), or what works")
      ->check(CLI::IsMember({"auto", "bpf", "kmod"}))
      ->capture_default_str();
  verb->add_option("--app-module", options->record.app_modules,
                   "modules that also count as the application (a server's plug-ins)")
      ->type_name("GLOB");
  add_format(*verb, options->format);
  verb->callback([options, &invocation] { invocation.run = [options] { return run_top(*options); }; });
}

Result<int> run_top(const TopVerbOptions& options) {
  const auto interval = parse_duration(options.interval);
  if (!interval) return interval.error();
  if (*interval < kLeastInterval) return Error{"--interval is too short: " + options.interval, "give at least 250ms"};
  RecordVerbOptions record = options.record;
  record.no_strings = true;  // top does not show them
  auto recorder = recorder_options(record);
  if (!recorder) return recorder.error();
  const auto names = live::LiveNames::start();
  if (!names) return names.error();
  return Top(options, *interval, **names).run(*recorder);
}

}  // namespace uscope::cli
