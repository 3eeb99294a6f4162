// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The loader against a bare prepared-insert loop of the same rows, with the same SQLite settings and indices, in turn
// (A B A B …), each in a process of its own so that peak memory is its own; then, on the store that was loaded, how
// long the readers take to answer.
//
//   loader_bench [--events N] [--stacks N] [--rounds N] [--folder F] [--even] [--check]      prints one JSON object
//   loader_bench --write RAW [--calls server|copies|stats] [--events N] [--stacks N] [--threads N]   writes a trace,
//   and nothing
//                                                                                             else
//   loader_bench --load RAW --events N                                        loads it into RAW.db, and nothing else
//   loader_bench --diff [--events N] [--stacks N] [--folder F] [--even] [--check]            only `uscope diff`
//
// Defaults: 1,000,000 events of 5000 stacks, 3 rounds. --even: stacks are equally frequent. --check fails where the
// ratio is below 0.5, the loader's memory above 256 MiB, or an answer takes more than 1 s of a processor and of time.
// --diff compares two stores of so many events each; with --check, it fails where one takes above 30 s or 512 MiB.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "store/loader.h"
#include "synthetic_trace.h"

namespace uscope::store {
namespace {

constexpr double kLeastRatio = 0.5;
constexpr double kMostMib = 256;
constexpr double kMostSeconds = 1;
constexpr double kMostDiffSeconds = 30;
constexpr double kMostDiffMib = 512;

struct Settings {
  Shape shape{.events = 1'000'000, .stacks = 5000, .frames = 16, .even = false, .seed = 0};
  int rounds = 3;
  std::filesystem::path folder = "/var/tmp";
  bool check = false;
  bool diff = false;
  std::filesystem::path write;  // a raw trace to be written, and nothing else
  std::filesystem::path load;   // a raw trace to be loaded, and nothing else
};

struct Measure {
  double seconds = 0;
  double processor = 0;  // user and system
  double peak_mib = 0;
};

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

Measure in_child(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    ::_exit(0);
  }
  int status = 0;
  rusage usage{};
  if (child < 0 || ::wait4(child, &status, 0, &usage) != child || status != 0) check(Error{"a child failed", ""});
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
          seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime), static_cast<double>(usage.ru_maxrss) / 1024};
}

void load_it(const std::filesystem::path& raw, const std::filesystem::path& database, std::uint64_t events) {
  LoadOptions options;
  options.namer = std::make_unique<PlainNamer>();
  auto summary = load(raw, database, options);
  if (!summary) check(summary.error());
  if (summary->events != events || summary->lost != 0)
    check(Error{"loaded " + std::to_string(summary->events) + " events", ""});
}

Measure median(std::vector<Measure> measures) {
  std::sort(measures.begin(), measures.end(),
            [](const Measure& a, const Measure& b) { return a.processor < b.processor; });
  return measures[measures.size() / 2];
}

// What `uscope` takes to answer, the best of three: the first one may wait for the disk.
Measure ask(const std::vector<std::string>& words) {
  std::vector<Measure> measures;
  for (int i = 0; i < 3; i++)
    measures.push_back(in_child([&] {
      std::vector<char*> argv;
      for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
      argv.push_back(nullptr);
      const int nothing = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
      if (nothing < 0 || ::dup2(nothing, STDOUT_FILENO) < 0) ::_exit(126);
      ::execv(USCOPE_BINARY, argv.data());
      ::_exit(127);
    }));
  return *std::min_element(measures.begin(), measures.end(),
                           [](const Measure& a, const Measure& b) { return a.seconds < b.seconds; });
}

// The last call and trigger are rare ones, `read` and function_0 the most frequent.
std::vector<std::vector<std::string>> questions() {
  const std::string rare = "function_" + std::to_string(kTriggers - 1);
  const std::string columns = "SELECT count(*), sum(dur_ns), max(process) FROM v_event WHERE ";
  return {{"report"},
          {"report", "--format", "json"},
          {"tree"},
          {"events", "-n", "1000"},
          {"events", "-e", "read", "-n", "1000"},
          {"events", "-e", "vfork", "-n", "1000"},
          {"events", "-e", "mount"},
          {"events", "--pid", "1003", "-n", "1000"},
          {"events", "--tid", "1150", "-n", "1000", "-k"},
          {"events", "--trigger", rare, "-n", "1000"},
          {"events", "--trigger", rare, "-e", "vfork"},
          {"events", "--function", "function_777", "-n", "1000"},
          {"events", "--failed", "-e", "vfork", "-n", "1000"},
          {"events", "--since", "3s", "--until", "3.001s"},
          {"events", "--how", "open", "-n", "20"},
          {"sql", columns + "kind = 'vfork'"},
          {"sql", columns + "\"trigger\" = '" + rare + "'"},
          {"sql", columns + "kind = 'vfork' AND \"trigger\" = '" + rare + "'"},
          {"sql", "SELECT * FROM v_event WHERE kind = 'read' LIMIT 100"},
          {"sql", "SELECT * FROM dual_space WHERE kind = 'read' ORDER BY events DESC"},
          {"sql", "SELECT * FROM dual_space WHERE function = '" + rare + "'"},
          {"sql", "SELECT * FROM dual_space ORDER BY total_ns DESC LIMIT 20"}};
}

// Prints a list of JSON objects; whether all were answered in time.
bool ask_all(const std::filesystem::path& database) {
  bool in_time = true;
  std::string between = "\n    ";
  for (std::vector<std::string> words : questions()) {
    words.insert(words.begin(), "uscope");
    words.insert(words.begin() + 2, database.string());
    const Measure measure = ask(words);
    std::string text = words[1];
    for (std::size_t i = 3; i < words.size(); i++) text += " " + words[i];
    for (std::size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2) text.insert(at, "\\");
    std::printf("%s{\"ask\": \"%s\", \"seconds\": %.3f, \"processor_seconds\": %.3f, \"peak_mib\": %.1f}",
                between.c_str(), text.c_str(), measure.seconds, measure.processor, measure.peak_mib);
    std::fflush(stdout);
    between = ",\n    ";
    // On a machine that is busy elsewhere an answer is late without any fault of the reader's.
    if (measure.seconds > kMostSeconds && measure.processor > kMostSeconds) {
      std::fprintf(stderr, "loader_bench: too slow: %s\n", text.c_str());
      in_time = false;
    }
  }
  return in_time;
}

// How long `uscope diff` takes for two stores of other events of the same kinds, and one of them with itself.
int run_diff(const Settings& settings) {
  std::vector<std::string> databases;
  for (std::uint64_t seed = 0; seed < 2; seed++) {
    const auto raw = settings.folder / "loader_bench.raw";
    databases.push_back((settings.folder / ("loader_bench_" + std::to_string(seed) + ".db")).string());
    Shape shape = settings.shape;
    shape.seed = seed;
    std::filesystem::remove(raw);
    in_child([&] { write_raw(raw, shape); });
    in_child([&] { load_it(raw, databases.back(), shape.events); });
    std::filesystem::remove(raw);
  }
  bool good = true;
  std::printf("{\"events\": %.0f, \"stacks\": %u, \"answers\": [", static_cast<double>(settings.shape.events),
              settings.shape.stacks);
  std::string between = "\n  ";
  for (const char* by : {"function", "depth:3", "path"}) {
    const Measure measure =
        ask({"uscope", "diff", "--by", by, "--normal", databases[0], "--abnormal", databases[1], "--format", "json"});
    std::printf("%s{\"by\": \"%s\", \"seconds\": %.2f, \"processor_seconds\": %.2f, \"peak_mib\": %.1f}",
                between.c_str(), by, measure.seconds, measure.processor, measure.peak_mib);
    between = ",\n  ";
    good = good && (measure.seconds <= kMostDiffSeconds || measure.processor <= kMostDiffSeconds) &&
           measure.peak_mib <= kMostDiffMib;
  }
  std::printf("]}\n");
  for (const std::string& database : databases) std::filesystem::remove(database);
  if (!good) std::fprintf(stderr, "loader_bench: diff takes too long, or too much memory\n");
  return settings.check && !good ? 1 : 0;
}

// For counts of instructions and other tools (bench/loader_count.py): no process but this one.
int load_only(const Settings& settings) {
  const auto database = std::filesystem::path(settings.load).concat(".db");
  std::filesystem::remove(database);
  load_it(settings.load, database, settings.shape.events);
  return 0;
}

int write_only(const Settings& settings) {
  std::filesystem::remove(settings.write);
  write_raw(settings.write, settings.shape);
  return 0;
}

int run(const Settings& settings) {
  const auto raw = settings.folder / "loader_bench.raw";
  const auto loaded_db = settings.folder / "loader_bench.db";
  const auto bare_db = settings.folder / "loader_bench_bare.db";
  std::filesystem::remove(raw);
  in_child([&] { write_raw(raw, settings.shape); });
  std::vector<Measure> loads;
  std::vector<Measure> bares;
  for (int round = 0; round < settings.rounds; round++) {
    loads.push_back(in_child([&] { load_it(raw, loaded_db, settings.shape.events); }));
    bares.push_back(in_child([&] { insert_bare(bare_db, settings.shape); }));
    std::filesystem::remove(bare_db);
  }
  std::filesystem::remove(raw);
  const Measure load_time = median(loads);
  const Measure bare_time = median(bares);
  double peak = 0;
  for (const Measure& load_measure : loads) peak = std::max(peak, load_measure.peak_mib);
  const auto events = static_cast<double>(settings.shape.events);
  const double ratio = bare_time.seconds / load_time.seconds;
  const double processor_ratio = bare_time.processor / load_time.processor;
  std::printf(
      "{\"events\": %.0f, \"stacks\": %u, \"rounds\": %d,\n  \"load\": {\"seconds\": %.2f, \"processor_seconds\": "
      "%.2f, "
      "\"events_per_second\": %.0f, \"peak_mib\": %.1f},\n  \"bare\": {\"seconds\": %.2f, \"processor_seconds\": %.2f, "
      "\"events_per_second\": %.0f, \"peak_mib\": %.1f},\n  \"ratio\": %.3f, \"processor_ratio\": %.3f,\n  "
      "\"answers\": [",
      events, settings.shape.stacks, settings.rounds, load_time.seconds, load_time.processor,
      events / load_time.seconds, peak, bare_time.seconds, bare_time.processor, events / bare_time.seconds,
      bare_time.peak_mib, ratio, processor_ratio);
  const bool in_time = ask_all(loaded_db);
  std::printf("]}\n");
  std::filesystem::remove(loaded_db);
  if (!settings.check) return 0;
  const bool fast = std::max(ratio, processor_ratio) >= kLeastRatio;
  if (!fast) std::fprintf(stderr, "loader_bench: the ratio is below %.2f\n", kLeastRatio);
  if (peak > kMostMib) std::fprintf(stderr, "loader_bench: memory is above %.0f MiB\n", kMostMib);
  return fast && peak <= kMostMib && in_time ? 0 : 1;
}

}  // namespace
}  // namespace uscope::store

int main(int argc, char** argv) {
  uscope::store::Settings settings;
  for (int i = 1; i < argc; i++) {
    const std::string option = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    if (option == "--even" || option == "--check" || option == "--diff") {
      (option == "--even" ? settings.shape.even : option == "--check" ? settings.check : settings.diff) = true;
      continue;
    }
    i++;
    if (option == "--events")
      settings.shape.events = std::strtoull(value, nullptr, 10);
    else if (option == "--stacks")
      settings.shape.stacks = static_cast<std::uint32_t>(std::strtoul(value, nullptr, 10));
    else if (option == "--threads")
      settings.shape.threads = static_cast<std::uint32_t>(std::strtoul(value, nullptr, 10));
    else if (option == "--rounds")
      settings.rounds = std::atoi(value);
    else if (option == "--folder")
      settings.folder = value;
    else if (option == "--calls" && std::string_view(value) == "server")
      settings.shape.calls = uscope::store::Calls::kServer;
    else if (option == "--calls" && std::string_view(value) == "copies")
      settings.shape.calls = uscope::store::Calls::kCopies;
    else if (option == "--calls" && std::string_view(value) == "stats")
      settings.shape.calls = uscope::store::Calls::kStats;
    else if (option == "--write")
      settings.write = value;
    else if (option == "--load")
      settings.load = value;
    else
      settings.rounds = 0;
  }
  if (settings.shape.events == 0 || settings.shape.stacks == 0 || settings.shape.threads == 0 || settings.rounds < 1) {
    std::fprintf(
        stderr,
        "usage: loader_bench [--diff | --write RAW | --load RAW] [--events N] [--stacks N] [--threads N] [--rounds N] "
        "[--folder F] [--calls server|copies|stats] [--even] [--check]\n");
    return 2;
  }
  if (!settings.write.empty()) return uscope::store::write_only(settings);
  if (!settings.load.empty()) return uscope::store::load_only(settings);
  return settings.diff ? uscope::store::run_diff(settings) : uscope::store::run(settings);
}
