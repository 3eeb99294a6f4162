// The loader against a bare prepared-insert loop of the same event rows, with the same SQLite settings and indices, in
// turn (A B A B …), each in a process of its own so that peak memory is its own.
//
//   loader_bench [EVENTS [ROUNDS [FOLDER]]]      prints one JSON object
//
// The trace: 4 processors, 16 threads, 2000 distinct stacks of 12 frames, 300 numbers of calls, one for
// each stack; durations up to 2 ms,
// one call in 5000 of 0.5 s. The bare loop makes its rows by the same arithmetic, in ascending order of id, without
// names, stacks, cells or pairing: the floor that SQLite itself sets.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "store/database.h"
#include "store/loader.h"
#include "store/raw_writer.h"
#include "store/schema.h"
#include "store/statement.h"

namespace uscope::store {
namespace {

constexpr std::uint64_t kStart = 1'000'000'000'000;
constexpr std::uint32_t kThreads = 16;
constexpr std::uint32_t kStacks = 2000;
constexpr std::uint32_t kFrames = 12;
constexpr std::uint32_t kCpus = 4;

std::uint64_t mix(std::uint64_t value) {
  value = (value ^ value >> 31) * 0x9e3779b97f4a7c15ULL;
  return value ^ value >> 29;
}

usc_event event_of(std::uint64_t i) {
  const std::uint64_t random = mix(i + 1);
  usc_event event{};
  event.head.size = sizeof(event);
  event.head.type = USC_RECORD_EVENT;
  event.head.cpu = static_cast<__u16>(i % kCpus);
  event.head.task = 1 + static_cast<__u32>(random % kThreads);
  event.head.time = kStart + 1'000'000'000 + i * 1000;
  event.entry_ns = event.head.time - (random % 5000 == 0 ? 500'000'000 : random >> 20 & 0x1fffff);
  event.result = random % 50 == 0 ? -2 : static_cast<std::int64_t>(random & 0xfff);
  for (std::uint32_t arg = 0; arg < 6; arg++) event.args[arg] = arg < 3 ? mix(random + arg) >> (arg * 20 + 8) : 0;
  event.stack = 1 + static_cast<__u32>(random >> 8) % kStacks;
  event.image = 1;
  event.nr = event.stack % 300;
  return event;
}

void check(const Result<void>& result) {
  if (result) return;
  std::fprintf(stderr, "loader_bench: %s\n", result.error().what.c_str());
  std::exit(1);
}

// Names addresses at no cost: what is measured is the loader, not the symbols.
class PlainNamer : public FrameNamer {
 public:
  std::vector<NamedFrame> name(const ModuleRequest&, std::uint64_t address, bool) override {
    return {{"function_" + std::to_string(address), 0, "", 0, false}};
  }
};

void write_definitions(RawWriter& writer) {
  for (std::uint32_t serial = 1; serial <= kThreads; serial++) {
    usc_task task{};
    task.head = {sizeof(task), USC_RECORD_TASK, 0, 0, serial, kStart};
    task.process = 1;
    task.pid = 100;
    task.tid = 100 + serial;
    task.flags = serial == 1 ? USC_TASK_PROCESS : 0;
    check(writer.append_fixed(task));
  }
  for (std::uint32_t number = 1; number <= kStacks; number++) {
    std::vector<std::byte> bytes(sizeof(usc_stack) + kFrames * sizeof(std::uint64_t));
    usc_stack stack{};
    stack.head = {static_cast<__u32>(bytes.size()), USC_RECORD_STACK, 0, 0, 1, kStart};
    stack.stack = number;
    stack.depth = kFrames;
    std::memcpy(bytes.data(), static_cast<const void*>(&stack), sizeof(stack));
    for (std::uint32_t i = 0; i < kFrames; i++) {
      const std::uint64_t frame = USC_FRAME(2 + i / 4, (number * (i + 1)) % 3000, i == 0);
      std::memcpy(bytes.data() + sizeof(stack) + i * sizeof(frame), &frame, sizeof(frame));
    }
    check(writer.append(bytes));
  }
}

void write_raw(const std::filesystem::path& path, std::uint64_t events) {
  usc_raw_header header{};
  header.start_ns = kStart;
  header.cpus = kCpus;
  auto writer = RawWriter::create(path, header);
  if (!writer) check(writer.error());
  write_definitions(*writer);
  std::vector<std::uint32_t> seq(kCpus);
  for (std::uint64_t i = 0; i < events; i++) {
    usc_event event = event_of(i);
    event.head.seq = seq[event.head.cpu]++;
    check(writer->append(std::as_bytes(std::span(&event, 1))));
  }
  check(writer->close());
}

void load_it(const std::filesystem::path& raw, const std::filesystem::path& database, std::uint64_t events) {
  LoadOptions options;
  options.namer = std::make_unique<PlainNamer>();
  auto summary = load(raw, database, options);
  if (!summary) check(summary.error());
  if (summary->events != events) check(Error{"loaded " + std::to_string(summary->events) + " events", ""});
}

void bind_event(Statement& insert, std::uint64_t id, const usc_event& event) {
  sqlite3_stmt* row = insert.handle();
  sqlite3_bind_int64(row, 1, static_cast<std::int64_t>(id));
  sqlite3_bind_int64(row, 2, static_cast<std::int64_t>(event.entry_ns));
  sqlite3_bind_int64(row, 3, static_cast<std::int64_t>(event.head.time - event.entry_ns));
  sqlite3_bind_text(row, 4, "returned", 8, SQLITE_STATIC);
  sqlite3_bind_int64(row, 5, event.head.task);
  sqlite3_bind_null(row, 6);
  sqlite3_bind_int64(row, 7, event.nr + 1);
  sqlite3_bind_int64(row, 8, event.result);
  sqlite3_bind_int64(row, 9, event.stack);
  for (int arg = 0; arg < 6; arg++) sqlite3_bind_int64(row, 10 + arg, static_cast<std::int64_t>(event.args[arg]));
}

void insert_bare(const std::filesystem::path& path, std::uint64_t events) {
  auto writer = DatabaseWriter::create(path);
  if (!writer) check(writer.error());
  {
    auto insert =
        writer->prepare("INSERT INTO event VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)");
    if (!insert) check(insert.error());
    for (std::uint64_t i = 0; i < events; i++) {
      bind_event(*insert, i + 1, event_of(i));
      if (sqlite3_step(insert->handle()) != SQLITE_DONE) check(insert->failure());
      sqlite3_reset(insert->handle());
    }
  }
  check(writer->commit());
}

struct Measure {
  double seconds = 0;
  long peak_kib = 0;
};

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
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), usage.ru_maxrss};
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

int run(std::uint64_t events, int rounds, const std::filesystem::path& folder) {
  const auto raw = folder / "loader_bench.raw";
  std::filesystem::remove(raw);
  in_child([&] { write_raw(raw, events); });
  std::vector<double> load_seconds;
  std::vector<double> bare_seconds;
  long load_peak = 0;
  long bare_peak = 0;
  for (int round = 0; round < rounds; round++) {
    const Measure loaded = in_child([&] { load_it(raw, folder / "loader_bench.db", events); });
    const Measure bare = in_child([&] { insert_bare(folder / "loader_bench_bare.db", events); });
    load_seconds.push_back(loaded.seconds);
    bare_seconds.push_back(bare.seconds);
    load_peak = std::max(load_peak, loaded.peak_kib);
    bare_peak = std::max(bare_peak, bare.peak_kib);
  }
  for (const char* name : {"loader_bench.raw", "loader_bench.db", "loader_bench_bare.db"})
    std::filesystem::remove(folder / name);
  const double load_time = median(load_seconds);
  const double bare_time = median(bare_seconds);
  std::printf(
      "{\"events\": %llu, \"rounds\": %d, \"load_seconds\": %.3f, \"bare_seconds\": %.3f, "
      "\"load_events_per_second\": %.0f, \"bare_events_per_second\": %.0f, \"ratio\": %.3f, "
      "\"load_peak_mib\": %.1f, \"bare_peak_mib\": %.1f}\n",
      static_cast<unsigned long long>(events), rounds, load_time, bare_time, static_cast<double>(events) / load_time,
      static_cast<double>(events) / bare_time, bare_time / load_time, static_cast<double>(load_peak) / 1024,
      static_cast<double>(bare_peak) / 1024);
  return 0;
}

}  // namespace
}  // namespace uscope::store

int main(int argc, char** argv) {
  const std::uint64_t events = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 3;
  const std::filesystem::path folder = argc > 3 ? argv[3] : "/var/tmp";
  if (events == 0 || rounds < 1) {
    std::fprintf(stderr, "usage: loader_bench [EVENTS [ROUNDS [FOLDER]]]\n");
    return 2;
  }
  return uscope::store::run(events, rounds, folder);
}
