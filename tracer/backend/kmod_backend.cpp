// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The kernel module's backend: one descriptor of /dev/uscope, its ioctls, and the rings mapped from it. When this
// process ends, in whatever way, the descriptor closes, and the module detaches and frees everything.
#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "support/page_size.h"
#include "support/unique_fd.h"
#include "symbolizer/rows/row_builder.h"
#include "tracer/backend/backend.h"
#include "tracer/backend/kmod_handles.h"
#include "tracer/backend/query_check.h"
#include "tracer/backend/ring_limits.h"
#include "tracer/backend/ring_reader.h"
#include "tracer/probes/kernel_probes.h"
#include "uscope/device.h"

namespace uscope::tracer {
namespace {

constexpr int kMappingAttempts = 20;  // one each millisecond

class KmodBackend : public Backend {
 public:
  Result<void> open(const usc_config& config, const BackendSizes& sizes, const ProbePlan& plan);

  [[nodiscard]] const char* name() const override { return "kmod"; }
  Result<void> attach() override;
  // Errors leave nothing to do: closing the descriptor detaches too.
  void close_entries() override { (void)plain(USC_DEVICE_CLOSE_ENTRIES, ""); }
  void detach() override { (void)plain(USC_DEVICE_DETACH, ""); }
  Result<void> set_launched(int pid) override;
  Result<void> set_target(const TargetNames& names) override;
  Result<void> adopt() override { return plain(USC_DEVICE_ADOPT, "look at the tasks that run"); }
  Result<bool> announce_mappings(std::uint32_t pid) override;
  Result<void> list_attached_calls(const AttachedHandler& handle) override;
  Result<trace::StackId> reserve_stack() override;
  Result<trace::StackId> resend_stacks() override;
  Result<std::size_t> drain(const RecordHandler& handle) override;
  void wait(int milliseconds) override;
  [[nodiscard]] int wait_fd() const override { return device_.get(); }
  Result<std::uint64_t> list_open_calls(std::uint64_t before_ns, const RecordHandler& handle) override;
  Result<Publish> publish_rows(trace::FileId file, const std::shared_ptr<const symbolizer::UnwindTable>& table,
                               std::uint32_t classes) override;
  Result<void> publish_state(trace::FileId file, usc_file_state state, std::uint32_t classes) override;
  Result<void> take_sums(const SumHandler& handle) override;
  Result<usc_file_key> own_file_key(const void* address) override;
  Result<trace::FileId> reserve_file(const usc_file_key& key) override;
  Result<void> forget_files(std::span<const usc_file_key> keys) override;
  Result<void> release_files(std::span<const trace::FileId> files) override;
  Result<std::vector<usc_stats>> stats() override;
  Result<std::vector<std::pair<usc_loss_key, std::uint64_t>>> process_losses() override;
  Result<std::vector<std::uint64_t>> sequence_numbers() override;

 private:
  Result<void> check_version();
  Result<void> give_plan(const ProbePlan& plan);
  Result<void> map_rings(std::uint64_t region_bytes, std::uint32_t ring_bytes);
  Result<void> plain(unsigned long command, const char* what);
  template <typename Request>
  Result<void> ask(unsigned long command, Request& request, const char* what);
  Result<usc_device_stats> cpu_stats(std::uint32_t cpu);
  Result<void> publish(trace::FileId file, std::uint32_t table, usc_file_state state, std::uint32_t classes);

  std::uint32_t cpus_ = 0;
  bool has_question_ = false;
  bool has_functions_ = false;
  UniqueFd device_;
  std::vector<MappedRange> mapped_;
  std::vector<RingReader> rings_;
  struct Published {
    std::uint32_t number = 0;  // the module's
    std::size_t files = 0;     // that have it
  };
  std::map<std::shared_ptr<const symbolizer::UnwindTable>, Published> published_;
  std::unordered_map<trace::FileId, std::shared_ptr<const symbolizer::UnwindTable>> tables_;  // of files with rows
};

Error device_error(const std::string& what, int number) {
  return errno_error(std::string("the kernel module cannot ") + what + " (" USC_DEVICE_PATH ")", number);
}

Result<void> KmodBackend::plain(unsigned long command, const char* what) {
  if (ioctl(device_.get(), command, 0) != 0) return device_error(what, errno);
  return {};
}

template <typename Request>
Result<void> KmodBackend::ask(unsigned long command, Request& request, const char* what) {
  request.size = sizeof(request);
  if (ioctl(device_.get(), command, &request) != 0) return device_error(what, errno);
  return {};
}

std::string holder() {
  std::ifstream file("/sys/module/uscope/parameters/holder");
  std::string text;
  std::getline(file, text);
  return text.empty() || text == "0" ? "another tracer" : "process " + text;
}

Result<void> KmodBackend::check_version() {
  usc_device_version version{};
  if (auto asked = ask(USC_DEVICE_VERSION, version, "tell its version"); !asked) return asked;
  if (version.device_abi != USC_DEVICE_ABI || version.control_abi != USC_CONTROL_ABI ||
      version.record_abi != USC_RECORD_ABI)
    return Error{
        "the loaded kernel module is of another version of uscope: " +
            std::string(version.module_version, strnlen(version.module_version, sizeof(version.module_version))),
        "unload it (rmmod uscope) and load the one that came with this uscope"};
  return {};
}

Error not_probed(const ProbePlan& plan, std::uint64_t address) {
  for (const Probe& probe : plan.probes)
    if (std::find(probe.places.begin(), probe.places.end(), address) != probe.places.end())
      return {probe.name + " cannot be probed: ftrace has no place in it, or the module's own hooks use it",
              "leave it out"};
  return {"the kernel module cannot take a probe", "please report this as a fault of uscope"};
}

Result<void> KmodBackend::give_plan(const ProbePlan& plan) {
  has_functions_ = !plan.probes.empty();
  if (!has_functions_) return {};
  const auto probes = kernel_probes(plan);
  if (!probes) return probes.error();
  std::vector<usc_device_place> places;
  for (std::size_t i = 0; i < plan.probes.size(); i++)
    for (const std::uint64_t address : plan.probes[i].places) places.push_back({address, static_cast<__u32>(i), 0});
  usc_device_probes request{};
  request.count = static_cast<__u32>(probes->size());
  request.probes = reinterpret_cast<std::uintptr_t>(probes->data());
  request.place_count = static_cast<__u32>(places.size());
  request.places = reinterpret_cast<std::uintptr_t>(places.data());
  if (auto asked = ask(USC_DEVICE_PROBES, request, "take the functions to trace"); !asked) return asked;
  if (request.refused != 0) return not_probed(plan, request.refused);
  return {};
}

Result<void> KmodBackend::attach() {
  if (ioctl(device_.get(), USC_DEVICE_ATTACH, 0) == 0) return {};
  const int number = errno;
  if (has_functions_ && number == EBUSY)
    return Error{"the kernel module cannot attach to functions: function tracing is turned off",
                 "sysctl kernel.ftrace_enabled=1"};
  return device_error(has_functions_ ? "attach to system calls and functions" : "attach to the system call tracepoints",
                      number);
}

Result<void> KmodBackend::open(const usc_config& config, const BackendSizes& sizes, const ProbePlan& plan) {
  if (auto sound = check_query(config.query); !sound) return sound;
  device_.reset(::open(USC_DEVICE_PATH, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!device_) {
    const int number = errno;
    if (number == EBUSY)
      return Error{"the kernel module is in use by " + holder(), "wait until it has ended, or use --backend bpf"};
    if (number == ENOENT || number == ENODEV || number == ENXIO)
      return Error{"the kernel module is not loaded: there is no " USC_DEVICE_PATH,
                   "modprobe uscope; `uscope doctor` says more"};
    return errno_error("cannot open " USC_DEVICE_PATH, number, "run as root, or with CAP_SYS_ADMIN");
  }
  if (auto same = check_version(); !same) return same;
  cpus_ = config.cpus;
  has_question_ = config.query.length != 0;
  usc_device_start start{};
  start.config = config;
  start.ring_bytes = sizes.ring_bytes;
  start.ring_bytes = bounded_ring_bytes(start.ring_bytes, cpus_);
  start.rows = sizes.rows;
  start.index_entries = sizes.index_entries;
  start.rules = sizes.rules;
  if (auto started = ask(USC_DEVICE_START, start, "begin a session"); !started) return started;
  if (auto mapped = map_rings(start.region_bytes, start.ring_bytes); !mapped) return mapped;
  return give_plan(plan);
}

Result<void> KmodBackend::map_rings(std::uint64_t region_bytes, std::uint32_t ring_bytes) {
  for (std::uint32_t cpu = 0; cpu < cpus_; cpu++) {
    const auto offset = static_cast<off_t>(cpu * region_bytes);
    const std::string what = fmt::format("map the ring of CPU {}", cpu);
    const std::size_t page = page_bytes();
    const std::size_t bytes = page + 2 * std::size_t{ring_bytes};
    void* place = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) return device_error(what, errno);
    MappedRange range(place, bytes);
    const auto map = [&](std::size_t at, std::size_t count, int protection, off_t from) {
      return mmap(range.bytes() + at, count, protection, MAP_SHARED | MAP_FIXED, device_.get(), from) != MAP_FAILED;
    };
    if (!map(0, page, PROT_READ | PROT_WRITE, offset) ||
        !map(page, ring_bytes, PROT_READ, offset + static_cast<off_t>(page)) ||
        !map(page + ring_bytes, ring_bytes, PROT_READ, offset + static_cast<off_t>(page)))
      return device_error(what, errno);
    rings_.emplace_back(reinterpret_cast<usc_ring_control*>(range.bytes()), range.bytes() + page, ring_bytes);
    mapped_.push_back(std::move(range));
  }
  return {};
}

Result<void> KmodBackend::set_launched(int pid) {
  usc_device_launch launch{};
  launch.pid = pid;
  return ask(USC_DEVICE_LAUNCH, launch, "take the command to trace");
}

Result<void> KmodBackend::set_target(const TargetNames& names) {
  for (const std::string& name : names.apps) {
    usc_device_target request{};
    request.kind = USC_TARGET_APP;
    if (name.size() >= sizeof(request.name)) return Error{"not the name of an application: " + name, ""};
    std::memcpy(request.name, name.data(), name.size());
    if (auto set = ask(USC_DEVICE_TARGET, request, "trace an application by its name"); !set) return set;
  }
  for (const std::uint32_t pid : names.pids) {
    usc_device_target request{};
    request.size = sizeof(request);
    request.kind = USC_TARGET_PID;
    request.value = pid;
    // It may have ended by now.
    if (ioctl(device_.get(), USC_DEVICE_TARGET, &request) != 0 && errno != ESRCH)
      return device_error("trace a process by its number", errno);
  }
  for (const std::uint64_t id : names.cgroups) {
    usc_device_target request{};
    request.kind = USC_TARGET_CGROUP;
    request.value = id;
    if (auto set = ask(USC_DEVICE_TARGET, request, "trace a control group"); !set) return set;
  }
  return {};
}

Result<bool> KmodBackend::announce_mappings(std::uint32_t pid) {
  usc_device_mappings request{};
  request.size = sizeof(request);
  request.pid = static_cast<__s32>(pid);
  // ESRCH: it has ended; EALREADY: after detach(). The module does not wait for the lock of the mappings, which is most
  // often free soon.
  for (int attempt = 0; attempt < kMappingAttempts; attempt++) {
    if (ioctl(device_.get(), USC_DEVICE_MAPPINGS, &request) == 0 || errno == ESRCH || errno == EALREADY) return true;
    if (errno != EAGAIN) return device_error("tell of a process's mappings", errno);
    poll(nullptr, 0, 1);
  }
  return false;
}

Result<void> KmodBackend::list_attached_calls(const AttachedHandler& handle) {
  std::vector<usc_attached_call> calls(1024);
  usc_device_attached request{};
  while (true) {
    request = {};
    request.capacity = static_cast<__u32>(calls.size());
    request.buffer = reinterpret_cast<std::uintptr_t>(calls.data());
    if (auto asked = ask(USC_DEVICE_ATTACHED, request, "list the calls that were under way"); !asked) return asked;
    if (request.count < request.capacity || calls.size() >= USC_DEVICE_ATTACHED_MAX) break;
    calls.resize(std::min<std::size_t>(calls.size() * 8, USC_DEVICE_ATTACHED_MAX));
  }
  for (std::uint32_t i = 0; i < std::min(request.count, request.capacity); i++) handle(calls[i]);
  return {};
}

Result<trace::StackId> KmodBackend::reserve_stack() {
  usc_device_stack request{};
  if (auto asked = ask(USC_DEVICE_STACK, request, "reserve a stack id"); !asked) return asked.error();
  return trace::StackId(request.stack);
}

Result<trace::StackId> KmodBackend::resend_stacks() {
  usc_device_stack request{};
  if (auto asked = ask(USC_DEVICE_RESEND, request, "send stacks anew"); !asked) return asked.error();
  return trace::StackId(request.stack);
}

Result<std::size_t> KmodBackend::drain(const RecordHandler& handle) {
  std::size_t total = 0;
  for (RingReader& ring : rings_) {
    total += ring.drain(handle);
    if (ring.damaged())
      return Error{"a ring of the kernel module is damaged", "please report this as a fault of uscope"};
  }
  return total;
}

void KmodBackend::wait(int milliseconds) {
  pollfd ready{device_.get(), POLLIN, 0};
  std::uint64_t urgent = 0;
  // An error (EINTR among them) only ends the wait early.
  if (poll(&ready, 1, milliseconds) > 0) (void)!read(device_.get(), &urgent, sizeof(urgent));
}

Result<std::uint64_t> KmodBackend::list_open_calls(std::uint64_t before_ns, const RecordHandler& handle) {
  std::vector<usc_event> events(1024);
  usc_device_open_calls request{};
  do {
    request = {};
    request.capacity = static_cast<__u32>(events.size());
    request.before_ns = before_ns;
    request.buffer = reinterpret_cast<std::uintptr_t>(events.data());
    if (auto asked = ask(USC_DEVICE_OPEN_CALLS, request, "list the calls under way"); !asked) return asked.error();
    for (std::uint32_t i = 0; i < std::min(request.count, request.capacity); i++) handle(events[i].head);
  } while (request.count == request.capacity);
  return std::uint64_t{request.traced};
}

Result<void> KmodBackend::publish(trace::FileId file, std::uint32_t table, usc_file_state state,
                                  std::uint32_t classes) {
  usc_device_file request{};
  request.file = file.value();
  request.table = table;
  request.state = state;
  request.classes = classes;
  return ask(USC_DEVICE_FILE, request, "take what is known of a file");
}

Result<Publish> KmodBackend::publish_rows(trace::FileId file,
                                          const std::shared_ptr<const symbolizer::UnwindTable>& table,
                                          std::uint32_t classes) {
  auto published = published_.find(table);
  if (published == published_.end()) {
    usc_device_table request{};
    request.size = sizeof(request);
    request.rows = reinterpret_cast<std::uintptr_t>(table->rows.data());
    request.index = reinterpret_cast<std::uintptr_t>(table->index.data());
    request.rules = reinterpret_cast<std::uintptr_t>(table->rules.data());
    request.row_count = static_cast<__u32>(table->rows.size());
    request.index_count = static_cast<__u32>(table->index.size());
    request.rule_count = static_cast<__u32>(table->rules.size());
    request.text_start = table->text_start;
    request.text_end = table->text_end;
    // Memory that cannot be had is no room either: walks through this file are finished in user space.
    if (ioctl(device_.get(), USC_DEVICE_TABLE, &request) != 0) {
      if (errno == ENOSPC || errno == ENOMEM) return Publish::kNoRoom;
      return device_error("take unwind rows", errno);
    }
    published = published_.emplace(table, Published{request.table, 0}).first;
  }
  if (auto done = publish(file, published->second.number, USC_FILE_READY, classes); !done) return done.error();
  published->second.files++;
  tables_[file] = table;
  return Publish::kDone;
}

Result<void> KmodBackend::publish_state(trace::FileId file, usc_file_state state, std::uint32_t classes) {
  return publish(file, 0, state, classes);
}

Result<void> KmodBackend::take_sums(const SumHandler& handle) {
  if (!has_question_) return {};
  std::vector<usc_query_row> rows(USC_QUERY_ROWS);
  for (std::uint32_t cpu = 0; cpu < cpus_; cpu++) {
    usc_device_rows request{};
    request.cpu = cpu;
    request.buffer = reinterpret_cast<std::uintptr_t>(rows.data());
    if (auto asked = ask(USC_DEVICE_ROWS, request, "tell what a question has summed"); !asked) return asked;
    for (std::uint32_t i = 0; i < request.count && i < USC_QUERY_ROWS; i++) handle(rows[i], nullptr);
  }
  return {};
}

Result<usc_file_key> KmodBackend::own_file_key(const void* address) {
  usc_device_file_key request{};
  request.address = reinterpret_cast<std::uintptr_t>(address);
  if (auto asked = ask(USC_DEVICE_FILE_KEY, request, "tell the key of a mapped file"); !asked) return asked.error();
  return request.key;
}

Result<trace::FileId> KmodBackend::reserve_file(const usc_file_key& key) {
  usc_device_reserve request{};
  request.key = key;
  if (auto asked = ask(USC_DEVICE_RESERVE, request, "reserve a file serial"); !asked) return asked.error();
  return trace::FileId(request.file);
}

Result<void> KmodBackend::forget_files(std::span<const usc_file_key> keys) {
  usc_device_files request{};
  request.count = static_cast<__u32>(keys.size());
  request.buffer = reinterpret_cast<std::uintptr_t>(keys.data());
  return ask(USC_DEVICE_FORGET, request, "forget files");
}

// The module frees a table with its last file.
Result<void> KmodBackend::release_files(std::span<const trace::FileId> files) {
  std::vector<__u32> serials;
  for (const trace::FileId file : files) serials.push_back(file.value());
  usc_device_files request{};
  request.count = static_cast<__u32>(serials.size());
  request.buffer = reinterpret_cast<std::uintptr_t>(serials.data());
  if (auto asked = ask(USC_DEVICE_RELEASE, request, "release files"); !asked) return asked;
  for (const trace::FileId file : files) {
    const auto table = tables_.find(file);
    if (table == tables_.end()) continue;
    const auto published = published_.find(table->second);
    if (--published->second.files == 0) published_.erase(published);
    tables_.erase(table);
  }
  return {};
}

Result<usc_device_stats> KmodBackend::cpu_stats(std::uint32_t cpu) {
  usc_device_stats request{};
  request.cpu = cpu;
  if (auto asked = ask(USC_DEVICE_STATS, request, "give its counters"); !asked) return asked.error();
  return request;
}

Result<std::vector<usc_stats>> KmodBackend::stats() {
  std::vector<usc_stats> all;
  for (std::uint32_t cpu = 0; cpu < cpus_; cpu++) {
    const auto one = cpu_stats(cpu);
    if (!one) return one.error();
    all.push_back(one->stats);
  }
  return all;
}

Result<std::vector<std::uint64_t>> KmodBackend::sequence_numbers() {
  std::vector<std::uint64_t> all;
  for (std::uint32_t cpu = 0; cpu < cpus_; cpu++) {
    const auto one = cpu_stats(cpu);
    if (!one) return one.error();
    all.push_back(one->sequence);
  }
  return all;
}

Result<std::vector<std::pair<usc_loss_key, std::uint64_t>>> KmodBackend::process_losses() {
  std::vector<usc_device_loss> losses(USC_DEVICE_LOSSES_MAX);
  usc_device_losses request{};
  request.capacity = static_cast<__u32>(losses.size());
  request.buffer = reinterpret_cast<std::uintptr_t>(losses.data());
  if (auto asked = ask(USC_DEVICE_LOSSES, request, "tell what was lost"); !asked) return asked.error();
  std::vector<std::pair<usc_loss_key, std::uint64_t>> all;
  for (std::uint32_t i = 0; i < std::min(request.count, request.capacity); i++)
    all.emplace_back(losses[i].key, losses[i].count);
  return all;
}

bool only_kernel_functions(const ProbePlan& plan) {
  return plan.sample_hz == 0 && !plan.offcpu &&
         std::all_of(plan.probes.begin(), plan.probes.end(),
                     [](const Probe& probe) { return probe.source == USC_SOURCE_KFUNCTION; });
}

}  // namespace

Result<std::unique_ptr<Backend>> open_kmod_backend(const usc_config& config, const BackendSizes& sizes,
                                                   const ProbePlan& probes) {
  auto backend = std::make_unique<KmodBackend>();
  if (!only_kernel_functions(probes))
    return Error{
        "the kernel module records system calls and functions of the kernel only, and other targets (-t) are asked for",
        "record them apart: functions of the kernel by the module, the others with --backend bpf"};
  if (auto opened = backend->open(config, sizes, probes); !opened) return opened.error();
  return std::unique_ptr<Backend>(std::move(backend));
}

}  // namespace uscope::tracer
