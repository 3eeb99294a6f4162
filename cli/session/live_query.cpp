// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/session/live_query.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <memory>
#include <utility>

#include "cli/render/query_screen.h"
#include "cli/render/wall_time.h"
#include "cli/session/interruption.h"
#include "cli/session/output_owner.h"
#include "cli/session/question_probes.h"
#include "cli/session/record_target.h"
#include "cli/terminal/output.h"
#include "cli/terminal/screen.h"
#include "live/query/answer_process.h"
#include "live/query/interval_store.h"
#include "store/db/statement.h"
#include "store/files/output_file.h"
#include "support/clock_offsets.h"
#include "support/private_file.h"
#include "support/text.h"
#include "tracer/collect/observer.h"
#include "tracer/files/file.h"
#include "tracer/recorder/recorder.h"

namespace uscope::cli {
namespace {

constexpr int kFailed = 2;
constexpr int kPollMs = 10;

AnswerHead head_of(const query::IntervalFacts& facts, std::int64_t utc_offset_ns) {
  return {static_cast<std::int64_t>(facts.from_ns),
          static_cast<std::int64_t>(facts.until_ns),
          utc_offset_ns,
          facts.events,
          facts.lost,
          facts.without_stack,
          facts.names_beyond};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

// What the process that answers does with a store: prints the answer, or gives it to the screen, and keeps it in a
// file.
class Answers {
 public:
  // `output` is moved from in the process that answers.
  Answers(const LiveQueryOptions& options, const query::Plan& plan, bool to_screen,
          std::optional<store::OutputFile>& output)
      : options_(options),
        plan_(plan),
        to_screen_(to_screen),
        keeps_(output.has_value()),
        output_file_(output),
        printer_(options.style,
                 [this](std::string_view text) { is_kept() ? (void)text_.append(text) : output_.write(text); }) {}

  Result<std::string> answer(store::Statement& question, const query::IntervalFacts& facts) {
    if (auto opened = open_file(); !opened) return opened.error();
    const AnswerHead head = head_of(facts, utc_offset_ns_);
    text_.clear();
    if (auto done = print(question, head); !done) return done.error();
    if (to_screen_) return std::exchange(text_, "");
    output_.write(text_);
    if (options_.style.format == AnswerFormat::kCsv)
      if (const std::string missing = missing_text(head); !missing.empty())
        std::fprintf(stderr, "uscope: %s\n", missing.c_str());
    if (auto done = output_.finish(); !done) return output_.has_no_reader() ? Error{"", ""} : done.error();
    return std::string();
  }

  Result<void> end() {
    if (auto opened = open_file(); !opened || !file_) return opened;
    for (const auto& [name, value] : {std::pair<std::string, std::string>("question", plan_.text),
                                      {"target", describe_target(options_.record)},
                                      {"uscope_version", USCOPE_VERSION},
                                      {"utc_offset_ns", std::to_string(utc_offset_ns_)}})
      if (auto done = file_->add_fact(name, to_utf8(value)); !done) return done;
    return file_->commit();
  }

 private:
  Result<void> print(store::Statement& question, const AnswerHead& head) {
    if (!file_) return printer_.print(head, question);
    if (auto begun = file_->begin(head.from_ns, head.until_ns, head.lost, question); !begun) return begun;
    return printer_.print(head, question, [this](const store::Statement& row) { return file_->add(row); });
  }
  Result<void> open_file() {
    if (!keeps_ || file_) return {};
    auto file = query::AnswerFile::create(std::move(*output_file_));
    if (!file) return file.error();
    file_.emplace(std::move(*file));
    return {};
  }

  // Of sums, nothing is printed before all of them are known: one of them may be an error. Events are too many for
  // that.
  [[nodiscard]] bool is_kept() const { return to_screen_ || plan_.way == query::Way::kSums; }

  const LiveQueryOptions& options_;
  const query::Plan& plan_;
  bool to_screen_;
  bool keeps_;
  std::optional<store::OutputFile>& output_file_;
  std::optional<query::AnswerFile> file_;
  std::int64_t utc_offset_ns_ = clock_offsets().real;
  std::string text_;
  Output output_{stdout};
  AnswerPrinter printer_;
};

class LiveQuery : public tracer::RecordingClient, private tracer::RecordObserver {
 public:
  LiveQuery(const LiveQueryOptions& options, query::IntervalStore& store, query::AnswerProcess& answers, bool screen)
      : options_(options), store_(store), answers_(answers), wants_screen_(screen) {
    picture_.target = describe_target(options.record);
    picture_.waiting = "the first answer comes when the interval is over";
  }

  Result<int> run(tracer::RecordOptions& recorder) {
    if (!wants_screen_) watch_output();
    recorder.sink = &store_;
    const auto outcome = tracer::record(recorder, *this, nullptr);
    const bool ended = outcome && outcome->exec_errno == 0;
    auto finished = ended ? store_.finish() : Result<void>();
    if (ended) {
      answers_.end();
      await_last();
    } else {
      answers_.abandon();
    }
    screen_.reset();
    // The last answer stays where the user has been.
    if (wants_screen_ && ended)
      for (const std::string& line : picture_.lines) std::printf("%s\n", line.c_str());
    std::fflush(stdout);
    if (!outcome) return outcome.error();
    if (!outcome->trouble.empty()) return Error{outcome->trouble, ""};
    if (!finished) return finished.error();
    if (answers_.was_killed())
      return Error{"the process that answers was killed",
                   "one of the traced programs' files may be damaged, or memory is short"};
    return answers_.failed() && !has_no_reader_ ? kFailed : 0;
  }

 private:
  tracer::RecordObserver* observer() override { return this; }
  tracer::RoundRequests after_round() override {
    attend();
    return {.send_sums = store_.wants_sums(),
            .resend_stacks = store_.wants_stacks(),
            .record_losses = store_.wants_losses(),
            .end = over_,
            .wake_ns = store_.due_ns(),
            .watched = watched_};
  }
  void on_sums_sent() override { store_.on_sums_sent(); }
  void on_stacks_resent(trace::StackId first) override { store_.on_stacks_resent(first); }
  void on_losses_recorded() override { store_.on_losses_recorded(); }

  void on_event(const usc_event& /*event*/, const tracer::TaskInfo& /*task*/) override {}
  void on_start(std::uint64_t start_ns) override { store_.on_start(start_ns); }
  void on_round(std::uint64_t before_ns, const tracer::TaskTable& /*tasks*/) override { store_.on_round(before_ns); }
  void on_sums(const usc_query_row& row, const usc_query_steps* steps) override { store_.add(row, steps); }
  void on_file(trace::FileId serial, const tracer::File& file) override {
    answers_.add_file(serial, {file.kept, file.place});
  }

  void on_attached(const tracer::FoundRunning& found) override {
    if (wants_screen_) {
      auto screen = Screen::open();
      if (screen) {
        screen_ = std::move(*screen);
        view_.keys = screen_->has_keys();
        if (found.threads == 0)
          picture_.waiting = "nothing of it runs yet: waiting for it. " + near_misses(found.missing);
        draw();
        return;
      }
      print_error({screen.error().what + ": one answer follows another", screen.error().remedy});
      watch_output();
    }
    if (found.threads == 0) print_found(options_.record, found);
  }

  // Answers that have come, keys, a new size of the terminal.
  void attend() {
    if (over_) return;
    answers_.work(answer_watch().revents != 0);
    if (answers_.has_ended()) over_ = true;
    answer_watch().fd = answers_.fd();
    if (auto text = answers_.take_text(); text && !view_.paused) {
      picture_.lines = lines_of(*text);
      if (screen_)
        stale_ = true;
      else
        show();
    }
    if (!screen_) {
      if ((output_watch().revents & (POLLERR | POLLHUP)) != 0) has_no_reader_ = over_ = true;
      return;
    }
    while (const auto key = screen_->key()) {
      const QueryKey effect = press_query(view_, *key, picture_, size_.rows);
      if (effect == QueryKey::kQuit) over_ = true;
      if (effect != QueryKey::kNothing) stale_ = true;
    }
    if (screen_->is_gone()) over_ = true;
    if (!over_ && (stale_ || screen_->size() != size_)) draw();
  }

  // A screen that could not be opened.
  void show() {
    for (const std::string& line : picture_.lines) std::printf("%s\n", line.c_str());
    std::printf("\n");
    std::fflush(stdout);
  }

  void draw() {
    stale_ = !Screen::takes_output();
    if (stale_) return;
    size_ = screen_->size();
    screen_->draw(query_screen(picture_, view_, size_));
  }

  // Until the process that answers has told the last one. An interrupt ends it.
  void await_last() {
    constexpr int kPollsAfterInterrupt = 70;
    const Interruption noted;
    for (int left = kPollsAfterInterrupt; left > 0; left -= Interruption::signal() != 0 ? 1 : 0) {
      answers_.work();
      const bool ended = answers_.has_ended();
      if (auto text = answers_.take_text()) {
        picture_.lines = lines_of(*text);
        if (screen_) draw();
      }
      if (ended) return;
      poll(nullptr, 0, kPollMs);
    }
    print_error({"interrupted: the last answer is not told", ""});
    answers_.abandon();
  }

  void watch_output() {
    if (fcntl(STDOUT_FILENO, F_GETFD) >= 0) output_watch().fd = STDOUT_FILENO;
  }
  pollfd& answer_watch() { return watched_[0]; }
  pollfd& output_watch() { return watched_[1]; }

  const LiveQueryOptions& options_;
  query::IntervalStore& store_;
  query::AnswerProcess& answers_;
  std::array<pollfd, 2> watched_{{{-1, POLLIN, 0}, {-1, 0, 0}}};
  bool wants_screen_;
  std::unique_ptr<Screen> screen_;
  QueryPicture picture_;
  QueryView view_;
  ScreenSize size_;  // that was drawn for
  bool stale_ = false;
  bool over_ = false;
  bool has_no_reader_ = false;
};

// What futexes wait for is asked by nobody, and what else arguments point to for objects only.
void forget_strings(usc_config& config, bool all_but_futexes) {
  for (auto& table : config.strings)
    for (auto& strings : table)
      strings = all_but_futexes && strings != usc_string_slot(0, USC_STRING_FUTEX) ? strings : 0;
}

// A command that writes to the terminal would write over the screen.
bool takes_screen(const LiveQueryOptions& options) {
  return options.style.format == AnswerFormat::kTable && !options.style.listing && options.interval_ns != 0 &&
         options.record.command.empty() && isatty(STDOUT_FILENO) != 0;
}

}  // namespace

Result<int> run_live_query(const LiveQueryOptions& options, const query::Plan& plan) {
  RecordVerbOptions record = options.record;
  record.no_strings = !plan.needs.objects;  // v_event has no others
  if (!plan.needs.stack) record.budget = 1;
  auto recorder = recorder_options(record);
  if (!recorder) return recorder.error();
  usc_config& config = recorder->config;
  for (std::size_t table = 0; table < plan.calls.size(); table++)
    for (std::size_t i = 0; i < plan.calls[table].size(); i++) config.calls[table][i] &= plan.calls[table][i];
  if (auto chosen = set_question_probes(options.record, plan, *recorder); !chosen) return chosen.error();
  if (plan.way == query::Way::kSums) config.query = plan.program;
  forget_strings(config, plan.needs.objects);
  auto folder = open_temporary_folder();
  if (!folder) return folder.error();
  recorder->copies = [&folder] { return open_nameless(folder->get()); };
  std::optional<store::OutputFile> output;
  std::vector<int> writable;
  if (!options.output.empty()) {
    const auto place = store::OutputPlace::find(options.output, store::OutputKind::kDatabase, options.force);
    if (!place) return place.error();
    auto begun = place->begin();
    if (!begun) return begun.error();
    output.emplace(std::move(*begun));
    writable.push_back(output->folder());
  }
  OutputOwner owner({output ? output->fd() : -1});
  load_time_zone();
  const bool screen = takes_screen(options);
  Answers work(options, plan, screen, output);
  const auto answer = [&work](store::Statement& question, const query::IntervalFacts& facts) {
    return work.answer(question, facts);
  };
  auto answers = query::AnswerProcess::start(
      plan, folder->get(), writable,
      {answer, [&work] { return work.end(); }, [](const Error& error) { print_error(error); }, options.app_runtime});
  if (!answers) return answers.error();
  query::IntervalStore store(
      plan, static_cast<std::uint64_t>(options.interval_ns), recorder->duration_ns, folder->get(),
      [&answers](query::ClosedInterval&& closed) { return (*answers)->send(std::move(closed)); });
  auto code = LiveQuery(options, store, **answers, screen).run(*recorder);
  if (output && code && *code == 0) {
    output->keep_file();  // the other process has given it its name
    owner.give();
  }
  return code;
}

}  // namespace uscope::cli
