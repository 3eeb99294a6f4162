// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/verbs/top.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <memory>
#include <utility>

#include "cli/render/top_screen.h"
#include "cli/render/top_view.h"
#include "cli/render/units.h"
#include "cli/session/record_target.h"
#include "cli/terminal/screen.h"
#include "cli/verbs/shared_options.h"
#include "support/text.h"
#include "tracer/recorder/recorder.h"

namespace uscope::cli {
namespace {

constexpr std::size_t kPlainLines = 20;
constexpr std::int64_t kLeastInterval = 250'000'000;
constexpr std::chrono::milliseconds kNamesWait{10'000};

class Top : public tracer::RecordingClient {
 public:
  Top(const TopVerbOptions& options, std::int64_t interval_ns, live::LiveNames& names)
      : options_(options), interval_s_(static_cast<double>(interval_ns) / 1e9), names_(names) {
    picture_.target = describe_target(options.record);
    view_.choice = options.choice;
    view_.most = options.lines;
  }

  Result<int> run(const tracer::RecordOptions& recorder) {
    const auto outcome = tracer::record(recorder, *this, nullptr);
    screen_.reset();
    if (options_.once && outcome && !failed_) show_last(*outcome);
    if (const auto trouble = names_.trouble()) print_error(*trouble);
    if (!outcome) return outcome.error();
    if (!outcome->trouble.empty()) return Error{outcome->trouble, ""};
    if (auto done = output_.finish(); !done && !output_.has_no_reader()) return done.error();
    return 0;
  }

 private:
  tracer::RecordObserver* observer() override { return &calls_; }
  tracer::RoundRequests after_round() override {
    attend();
    return {.end = over_};
  }
  bool on_ending() override {
    screen_.reset();
    return true;
  }

  // The processes that trace have been forked: the terminal is taken now and not before.
  void on_attached(const tracer::FoundRunning& found) override {
    if (!options_.once && options_.format == Format::kText && isatty(STDOUT_FILENO) != 0) {
      auto screen = Screen::open();
      if (screen) {
        screen_ = std::move(*screen);
        view_.keys = screen_->has_keys();
        if (found.threads == 0)
          picture_.waiting = "nothing of it runs yet: waiting for it. " + near_misses(found.missing);
        show();
        return;
      }
      print_error({screen.error().what + ": one display follows another", screen.error().remedy});
    }
    if (found.threads == 0) print_found(options_.record, found);
  }

  // Keys, a new size of the terminal, a reader that has gone.
  void attend() {
    if (over_) return;
    if (!screen_) {
      pollfd output{STDOUT_FILENO, 0, 0};
      if (poll(&output, 1, 0) > 0 && (output.revents & (POLLERR | POLLHUP)) != 0) fail();
      return;
    }
    while (const auto key = screen_->key()) {
      const std::size_t lines = top_places(picture_, view_.choice).size();
      const KeyEffect effect = press(view_, *key, lines, top_page(view_, size_.rows));
      if (effect == KeyEffect::kQuit) {
        over_ = true;
        return;
      }
      if (effect == KeyEffect::kOpen) open_stack();
      if (effect != KeyEffect::kNothing) stale_ = true;
    }
    if (view_.open && !view_.open->complete) name_stack();
    if (screen_->is_gone()) over_ = true;
    if (stale_ || screen_->size() != size_) draw();
  }

  void on_status(const tracer::TraceFigures& now, double seconds) override {
    if (over_) return;
    if (seconds - begun_s_ < interval_s_) {
      if (screen_ && !view_.paused) show_figures(now, seconds);
      return;
    }
    if (!view_.paused) fill(now, seconds);
    begun_s_ = seconds;
    if (options_.once) {
      over_ = true;
      return;
    }
    if (!view_.paused) show();
    calls_.take();
  }

  // A loss is shown at once, however long the interval is.
  void show_figures(const tracer::TraceFigures& now, double seconds) {
    if (picture_.seconds > 0 && now.lost == picture_.lost && now.processes == picture_.processes) return;
    set_figures(now, seconds);
    draw();
  }

  void set_figures(const tracer::TraceFigures& now, double seconds) {
    picture_.at_s = seconds;
    picture_.lost = now.lost;
    picture_.processes = now.processes;
    picture_.stopped = now.stopped;
  }

  void fill(const tracer::TraceFigures& now, double seconds) {
    picture_.seconds = seconds - begun_s_;
    set_figures(now, seconds);
    set_lines();
  }

  // Of the selected line.
  void open_stack() {
    const std::vector<std::size_t> places = top_places(picture_, view_.choice);
    if (places.empty()) return;
    const std::size_t place = places[std::min(view_.selected.value_or(0), places.size() - 1)];
    OpenStack open;
    open.title = stack_title(picture_, view_.choice.by, place);
    open.stack = view_.choice.by == TopBy::kThread ? picture_.threads[place].stack : picture_.lines[place].stack;
    view_.open = std::move(open);
    name_stack();
  }

  // Names come while the stack is on the screen.
  void name_stack() {
    bool complete = true;
    view_.open->functions = calls_.functions_of(view_.open->stack, complete);
    view_.open->complete = complete;
    stale_ = true;
  }

  void set_lines() {
    picture_.lines = calls_.lines();
    picture_.threads = calls_.threads();
    picture_.calls = 0;
    for (const live::CallLine& line : picture_.lines) picture_.calls += line.calls;
  }

  // With --once, the picture may wait for its names, and covers the whole recording.
  void show_last(const tracer::RecordOutcome& outcome) {
    const double seconds = static_cast<double>(outcome.duration_ns) / 1e9;
    picture_.seconds = seconds;
    picture_.at_s = seconds;
    picture_.lost = outcome.figures.lost;
    picture_.processes = std::max(picture_.processes, outcome.figures.processes);
    // The names of a stack's inner functions decide whether those of outer ones are asked for.
    const auto end = std::chrono::steady_clock::now() + kNamesWait;
    for (auto left = kNamesWait; left.count() > 0;
         left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now())) {
      set_lines();
      names_.wait(left);
      if (!calls_.waits_for_names()) break;
    }
    set_lines();
    show();
  }

  void show() {
    if (screen_) {
      draw();
      return;
    }
    if (options_.format == Format::kJson) {
      const std::size_t all = top_line_count(picture_, view_.choice.by);
      output_.write(top_json(picture_, view_.choice, options_.lines != 0 ? options_.lines : all));
    } else {
      const std::size_t most = options_.lines != 0 ? options_.lines : kPlainLines;
      output_.write(top_text(picture_, view_.choice, most, text_width(stdout)));
      if (!options_.once) output_.write("\n");
    }
    if (!output_.finish()) fail();
  }

  // A terminal that takes nothing now is drawn on when it does: whoever waited for it would not read the rings.
  void draw() {
    stale_ = !Screen::takes_output();
    if (stale_) return;
    size_ = screen_->size();
    screen_->draw(top_screen(picture_, view_, size_));
  }

  // The output cannot be written, or nobody reads it.
  void fail() {
    failed_ = true;
    over_ = true;
  }

  const TopVerbOptions& options_;
  double interval_s_;
  live::LiveNames& names_;
  live::CallCounts calls_{names_, options_.app_runtime};
  std::unique_ptr<Screen> screen_;
  Output output_{stdout};
  TopPicture picture_;
  TopView view_;
  ScreenSize size_;      // that was drawn for
  double begun_s_ = 0;   // when the time of the next picture began
  bool stale_ = false;   // what the terminal shows
  bool failed_ = false;  // the output
  bool over_ = false;
};

void add_choice(Verb& verb, TopChoice& choice) {
  verb.add_choice("--sort", choice.lines.order, "sort order: the largest first",
                  {{"calls", live::Order::kCalls}, {"time", live::Order::kTime}, {"errors", live::Order::kErrors}});
  verb.add_flag("--reverse", choice.lines.reverse, "the smallest first");
  verb.add_choice("--waits", choice.lines.waits, "calls that wait: behind the others, left out, or alone",
                  {{"apart", live::Waits::kApart}, {"no", live::Waits::kNone}, {"only", live::Waits::kOnly}});
  verb.add_choice("--by", choice.by, "a line for each call and the function that made it, or for each thread",
                  {{"function", TopBy::kFunction}, {"thread", TopBy::kThread}});
  verb.add_option("--filter", choice.lines.filter, "only lines with this text in call, function or module")
      ->type_name("TEXT");
}

void define_top(Verb& verb) {
  auto options = std::make_shared<TopVerbOptions>();
  options->record.takes_command = false;
  add_running_target(verb, options->record);
  add_calls(verb, options->record.calls, "calls to count: names, %file %network ..., all; ! excludes");
  verb.add_option("--interval", options->interval, "how often to refresh, at least 250ms")
      ->type_name("T")
      ->capture_default_str();
  add_choice(verb, options->choice);
  take_number(verb.add_option("--lines", options->lines, "number of lines; by default as many as fit the terminal"), 1,
              std::numeric_limits<unsigned>::max())
      ->type_name("N");
  verb.add_flag("--once", options->once, "print one display, of one interval");
  verb.add_option("--duration", options->record.duration, "end after this time: 30s, 5m")->type_name("T");
  verb.add_option("--backend", options->record.backend,
                  "what traces in the kernel: bpf, kmod (the module), or what works")
      ->one_of({"auto", "bpf", "kmod"})
      ->capture_default_str();
  verb.add_option("--app-module", options->record.app_modules,
                  "modules that also count as the application (a server's plug-ins)")
      ->type_name("GLOB");
  add_app_runtime(verb, options->app_runtime);
  add_format(verb, options->format);
  add_color(verb);
  verb.runs([options] { return run_top(*options); });
}

}  // namespace

void add_top(CommandLine& line) {
  line.add_verb("top", "show continuously what running applications call, and from where; q quits, ? helps",
                define_top);
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
