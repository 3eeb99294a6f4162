// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The BPF backend: loads the programs with maps sized for this machine, reads the per-CPU rings. Nothing is pinned:
// when this process ends, in whatever way, the kernel drops links, programs and maps.
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "support/clock.h"
#include "support/unique_fd.h"
#include "tracer/backend/backend.h"
#include "tracer/backend/bpf_handles.h"
#include "tracer/backend/bpf_map_memory.h"
#include "tracer/backend/bpf_probes.h"
#include "tracer/backend/bpf_rings.h"
#include "tracer/backend/bpf_rows.h"
#include "tracer/backend/bpf_samples.h"
#include "tracer/backend/bpf_sums.h"
#include "tracer/backend/load_failure.h"
#include "tracer/backend/query_check.h"
#include "tracer/backend/ring_limits.h"
#include "tracer/host/host.h"
#include "tracer/probes/kernel_symbols.h"
#include "tracer/process/process_list.h"
#include "tracer/scouts/process_looks.h"
#include "tracer/scouts/scouts.h"

namespace uscope::tracer {
namespace {

constexpr std::uint64_t kLongestKeyNs =
    2'000'000'000;  // while another thread holds the lock of this process's mappings
constexpr std::chrono::microseconds kKeyPause{50};
constexpr int kMappingAttempts = 20;  // one each millisecond

// May the kernel preempt programs at tracepoints (bpf/preemption.h)? Its tracepoints are then guarded by a kind of SRCU
// whose guard's type did not exist before. True only where perf's system call events can be had instead.
bool programs_are_preempted() {
  const auto has_events = [](const char* folder) {
    return access((std::string(folder) + "/events/raw_syscalls/sys_enter/id").c_str(), R_OK) == 0;
  };
  if (!has_events("/sys/kernel/tracing") && !has_events("/sys/kernel/debug/tracing")) return false;
  // Some 6 MB, read at once: by the character it takes a tenth of the time until tracing.
  const std::string path = "/sys/kernel/btf/vmlinux";
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  if (error) return false;
  std::string names(bytes, '\0');
  std::ifstream(path, std::ios::binary).read(names.data(), static_cast<std::streamsize>(names.size()));
  return names.find("class_srcu_fast_notrace_t") != std::string::npos &&
         names.find("bpf_preempt_disable") != std::string::npos;
}

class BpfBackend : public Backend {
 public:
  Result<void> load(const usc_config& config, const BackendSizes& sizes, const ProbePlan& probes);

  [[nodiscard]] const char* name() const override { return "bpf"; }
  Result<void> set_target(const TargetNames& names) override;
  Result<void> attach() override;
  Result<void> adopt() override;
  void set_scouts(Scouts& scouts) override { scouts_ = &scouts; }
  Result<bool> announce_mappings(std::uint32_t pid) override;
  Result<void> list_attached_calls(const AttachedHandler& handle) override;
  Result<trace::StackId> reserve_stack() override;
  Result<trace::StackId> resend_stacks() override;
  void close_entries() override;
  Result<void> tend_sources(std::uint64_t now_ns, const SourceLossHandler& tell) override;
  [[nodiscard]] std::vector<ProbedFile> probed_files() override { return probes_.files().probed(); }
  Result<void> attach_file(int fd, const std::string& path, const std::vector<Probe>& probes) override {
    const auto debugged = list_debugged();
    return debugged ? probes_.attach_file(fd, path, probes, *debugged) : debugged.error();
  }
  [[nodiscard]] std::set<std::uint32_t> debugged_processes() override {
    auto debugged = list_debugged();
    return debugged ? std::move(debugged->pids) : std::set<std::uint32_t>();
  }
  bool remove_file_probes(const std::string& path) override { return probes_.remove_file(path); }
  [[nodiscard]] int sources_fd() const override { return probes_.fd(); }
  void detach() override;
  Result<void> set_launched(int pid) override;
  Result<std::size_t> drain(const RecordHandler& handle) override;
  void wait(int milliseconds) override;
  [[nodiscard]] int wait_fd() const override { return epoll_.get(); }
  Result<std::uint64_t> list_open_calls(std::uint64_t before_ns, const RecordHandler& handle) override;
  Result<void> list_open_hits(const RecordHandler& handle) override;
  Result<Publish> publish_rows(trace::FileId file, const BpfRows::Table& table, std::uint32_t classes) override {
    return rows_.publish(file, table, classes);
  }
  Result<void> publish_state(trace::FileId file, usc_file_state state, std::uint32_t classes) override {
    return rows_.publish_state(file, state, classes);
  }
  [[nodiscard]] bool can_withdraw_rows() const override { return true; }
  Result<void> withdraw_rows(std::span<const trace::FileId> files) override {
    return rows_.withdraw(files, [this] { return ring_maps_.wait_for_programs(); });
  }
  Result<void> take_sums(const SumHandler& handle) override;
  Result<usc_file_key> own_file_key(const void* address) override;
  Result<trace::FileId> reserve_file(const usc_file_key& key) override;
  Result<void> forget_files(std::span<const usc_file_key> keys) override;
  Result<void> release_files(std::span<const trace::FileId> files) override {
    return rows_.release(files, [this] { return ring_maps_.wait_for_programs(); });
  }
  Result<std::vector<usc_stats>> stats() override;
  Result<std::vector<std::pair<usc_loss_key, std::uint64_t>>> process_losses() override;
  Result<std::vector<std::uint64_t>> sequence_numbers() override;

 private:
  Result<void> size_maps(const BackendSizes& sizes);
  void choose_programs(const usc_config& config, const ProbePlan& probes);
  Result<void> open_rings();
  Result<Debugged> list_debugged();
  void tell_of_doubts_left_out(const SourceLossHandler& tell);
  std::uint64_t missed_probes();
  // What a BPF iterator writes, in pieces of `item` bytes.
  static Result<void> read_iterator(bpf_link* link, std::size_t item, const std::function<void(const char*)>& handle);
  void ask_for_ranges(std::span<const AddressRange> mappings);
  Result<bool> tell_mappings(bpf_link* link, std::span<const AddressRange> some, bool is_last);
  static int on_record(void* self, void* data, std::size_t bytes);

  Scouts* scouts_ = nullptr;
  bool told_of_doubts_ = false;
  std::uint32_t cpus_ = 0;
  bool preempted_ = false;
  BackendSizes sizes_;
  SkeletonHandle skeleton_;
  BpfRings ring_maps_;
  std::vector<RingBufferHandle> rings_;
  UniqueFd epoll_;
  LinkHandle open_calls_;
  LinkHandle open_waits_;
  LinkHandle open_functions_;
  BpfSamples samples_;
  BpfProbes probes_;
  std::uint32_t sample_hz_ = 0;
  std::vector<std::uint32_t> pids_;  // of the target
  std::uint32_t batch_ = 0;          // records of the ring at hand
  std::uint64_t batch_bytes_ = 0;    // with their heads in it
  BpfSums sums_;
  BpfRows rows_;
  const RecordHandler* handler_ = nullptr;
};

Result<void> BpfBackend::size_maps(const BackendSizes& sizes) {
  const auto& maps = skeleton_->maps;
  const auto size_for_each_cpu = [this](bpf_map* map) {
    bpf_map__set_max_entries(map, bpf_map__max_entries(map) * cpus_);
  };
#define USC_SLOT(function, array, type, count, per_cpu) \
  if ((per_cpu) != 0) size_for_each_cpu(maps.array);
#include "uscope/core/slots.def"
#undef USC_SLOT
  size_for_each_cpu(maps.cpus);
  size_for_each_cpu(maps.name_scratches);
  bpf_map__set_max_entries(maps.rows, sizes.rows);
  bpf_map__set_max_entries(maps.row_index, sizes.index_entries / 2);
  bpf_map__set_max_entries(maps.rules, sizes.rules);
  return {};
}

// Where the kernel's code lies that serves interrupts: what the CPU calls, and what it makes up for later. Nothing if
// the kernel hides its addresses.
std::vector<address_range> interrupt_code() {
  const KernelSymbols symbols = KernelSymbols::read();
  std::vector<address_range> ranges;
  for (const std::string name : {"__irqentry_text", "__softirqentry_text"}) {
    const auto start = symbols.find(name + "_start");
    const auto end = symbols.find(name + "_end");
    if (start && end) ranges.push_back({start->start, end->start});
  }
  if (ranges.size() != 2) return {};
  // From 6.10 on, what those symbols enclose has jumped here.
  if (const auto function = symbols.find("handle_softirqs")) ranges.push_back({function->start, function->end});
  return ranges;
}

void BpfBackend::choose_programs(const usc_config& config, const ProbePlan& probes) {
  const auto& progs = skeleton_->progs;
  // These run when asked, not at events.
  for (bpf_program* program :
       {progs.look_up_own_file, progs.list_open_calls, progs.spare_own_process, progs.adopt_tasks, progs.tell_mappings,
        progs.list_attached_calls, progs.list_open_waits, progs.on_sample, progs.meet_waiting})
    bpf_program__set_autoattach(program, false);
  bpf_program__set_autoload(progs.on_sample, probes.sample_hz != 0);
  for (bpf_program* program : {progs.on_switch, progs.on_waking, progs.list_open_waits, progs.meet_waiting})
    bpf_program__set_autoload(program, probes.offcpu);
  const_cast<bool&>(skeleton_->rodata->has_offcpu) = probes.offcpu;
  if (probes.offcpu) {
    const std::vector<address_range> ranges = interrupt_code();
    std::copy(ranges.begin(), ranges.end(), const_cast<address_range*>(&skeleton_->rodata->interrupt_code[0]));
  }
  sample_hz_ = probes.sample_hz;
  const_cast<__u64&>(skeleton_->rodata->sample_period_ns) = sample_period_ns(probes.sample_hz);
  if ((config.target.kinds & USC_TARGET_CGROUP) == 0) bpf_program__set_autoload(progs.on_cgroup_attach, false);
  // Who starts a command takes in nothing that runs already: each program takes milliseconds to load.
  if (config.target.kinds == USC_TARGET_LAUNCH)
    for (bpf_program* program : {progs.adopt_tasks, progs.list_attached_calls})
      bpf_program__set_autoload(program, false);
  for (bpf_program* program : {progs.on_signal_sent, progs.on_signal_delivered})
    bpf_program__set_autoload(program, config.signals != 0);
  bpf_program__set_autoload(progs.on_call_interrupted, config.signals == 0);
  preempted_ = programs_are_preempted();
  const_cast<bool&>(skeleton_->rodata->preemptible) = preempted_;
  for (bpf_program* program : {progs.on_sys_enter, progs.on_sys_exit}) bpf_program__set_autoload(program, !preempted_);
  for (bpf_program* program :
       {progs.on_sys_enter_perf, progs.on_sys_exit_perf, progs.on_fork_2, progs.on_fork_3, progs.on_exec_2,
        progs.on_exec_3, progs.on_exit_2, progs.on_exit_3, progs.on_rename_2, progs.on_rename_3})
    bpf_program__set_autoload(program, preempted_);
}

Result<void> BpfBackend::load(const usc_config& config, const BackendSizes& sizes, const ProbePlan& probes) {
  if (auto sound = check_query(config.query); !sound) return sound;
  sizes_ = sizes;
  cpus_ = config.cpus;
  sizes_.ring_bytes = bounded_ring_bytes(sizes_.ring_bytes, cpus_);
  collect_libbpf_log();
  skeleton_.reset(uscope_bpf__open());
  if (!skeleton_) return errno_error("cannot open the BPF programs", errno);
  if (auto sized = size_maps(sizes); !sized) return sized;
  sums_.prepare(*skeleton_, config, cpus_);
  choose_programs(config, probes);
  if (auto prepared = probes_.prepare(*skeleton_, probes, config.query, cpus_); !prepared) return prepared;
  std::memcpy(const_cast<usc_config*>(&skeleton_->rodata->config), &config, sizeof(config));
  skeleton_->bss->query = config.query;
  struct stat pid_namespace {};
  if (stat("/proc/self/ns/pid", &pid_namespace) != 0)
    return errno_error("cannot look at this process's pid namespace (/proc/self/ns/pid)", errno, "mount /proc");
  const_cast<__u64&>(skeleton_->rodata->pid_namespace_dev) = pid_namespace.st_dev;
  const_cast<__u64&>(skeleton_->rodata->pid_namespace_ino) = pid_namespace.st_ino;
  const auto ring_map = ring_maps_.begin(cpus_, sizes_.ring_bytes);
  if (!ring_map) return explained_by(ring_map.error(), bpf_checks(this_host()));
  if (const int error = bpf_map__reuse_fd(skeleton_->maps.rings, *ring_map); error != 0)
    return errno_error("cannot load the BPF programs with the map of the rings", -error);
  if (const int error = uscope_bpf__load(skeleton_.get()); error != 0)
    return load_failure(-error, libbpf_log(), bpf_checks(this_host()));
  if (auto opened = rows_.open(*skeleton_, sizes); !opened) return opened;
  if (auto opened = sums_.open(*skeleton_); !opened) return opened;
  return open_rings();
}

Result<void> BpfBackend::open_rings() {
  const auto maps = ring_maps_.finish();
  if (!maps) return maps.error();
  epoll_.reset(epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_) return errno_error("cannot make an epoll descriptor", errno);
  for (const UniqueFd& ring : **maps) {
    rings_.emplace_back(ring_buffer__new(ring.get(), on_record, this, nullptr));
    epoll_event event{};
    event.events = EPOLLIN;
    if (!rings_.back() || epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, ring.get(), &event) != 0)
      return errno_error(fmt::format("cannot read the ring of CPU {}", rings_.size() - 1), errno);
  }
  return {};
}

Result<void> BpfBackend::attach() {
  skeleton_->bss->hold_until = monotonic_ns() + USC_HOLD_NS;
  if (const int error = uscope_bpf__attach(skeleton_.get()); error != 0)
    return errno_error("cannot attach the BPF programs to the system call tracepoints", -error, bpf_remedy(-error));
  open_calls_.reset(bpf_program__attach_iter(skeleton_->progs.list_open_calls, nullptr));
  if (!open_calls_) return errno_error("cannot attach the list of calls under way", errno, bpf_remedy(errno));
  if (bpf_program__fd(skeleton_->progs.list_open_waits) >= 0) {
    open_waits_.reset(bpf_program__attach_iter(skeleton_->progs.list_open_waits, nullptr));
    if (!open_waits_) return errno_error("cannot attach the list of threads that wait", errno, bpf_remedy(errno));
  }
  if (probes_.has_returns()) {
    open_functions_.reset(bpf_program__attach_iter(skeleton_->progs.list_open_functions, nullptr));
    if (!open_functions_) return errno_error("cannot attach the list of open functions", errno, bpf_remedy(errno));
  }
  const auto debugged = list_debugged();
  if (!debugged) return debugged.error();
  if (auto attached = probes_.attach(*debugged); !attached) return attached;
  return sample_hz_ == 0 ? Result<void>() : samples_.attach(skeleton_->progs.on_sample, sample_hz_);
}

void BpfBackend::close_entries() {
  skeleton_->bss->entries_closed = 1;
  bpf_link__destroy(std::exchange(skeleton_->links.on_sys_enter, nullptr));
  bpf_link__destroy(std::exchange(skeleton_->links.on_sys_enter_perf, nullptr));
}

// Once: whoever goes on so does it for the rest of the recording.
void BpfBackend::tell_of_doubts_left_out(const SourceLossHandler& tell) {
  const std::uint32_t pid = skeleton_->bss->doubts_left_out_of;
  if (pid == 0 || std::exchange(told_of_doubts_, true)) return;
  tell({USC_LOSS_PROBE_NOT_THERE, 0, 0,
        fmt::format("process {} ({}) makes more calls that may come before a breakpoint of its own than uscope looks "
                    "at: if it sets one, probes stay where they would hide it, for a second or two",
                    pid, name_of(pid)),
        ""});
}

Result<void> BpfBackend::tend_sources(std::uint64_t now_ns, const SourceLossHandler& tell) {
  probes_.tend(now_ns, tell);
  tell_of_doubts_left_out(tell);
  const auto ticked = [this](std::uint32_t cpu) {
    cpu_state state{};
    (void)bpf_map_lookup_elem(bpf_map__fd(skeleton_->maps.cpus), &cpu, &state);
    return state.ticked_ns;
  };
  return samples_.tend(ticked, now_ns, tell);
}

void BpfBackend::detach() {
  samples_.detach();
  probes_.detach();
  uscope_bpf__detach(skeleton_.get());
}

Result<void> BpfBackend::set_launched(int pid) {
  skeleton_->bss->launch_pending = static_cast<__u32>(pid);
  return {};
}

int BpfBackend::on_record(void* self, void* data, std::size_t bytes) {
  const auto* record = static_cast<const usc_record*>(data);
  auto* backend = static_cast<BpfBackend*>(self);
  if (bytes >= sizeof(usc_record) && record->size <= bytes) (*backend->handler_)(*record);
  backend->batch_++;
  backend->batch_bytes_ += BPF_RINGBUF_HDR_SZ + (bytes + 7) / 8 * 8;
  // Nothing that was there at first is left, and a ring that is filled as fast as it is read does not keep the reader.
  return backend->batch_bytes_ < backend->sizes_.ring_bytes ? 0 : -EAGAIN;
}

Result<std::size_t> BpfBackend::drain(const RecordHandler& handle) {
  handler_ = &handle;
  std::size_t total = 0;
  for (const RingBufferHandle& ring : rings_) {
    batch_ = batch_bytes_ = 0;
    const int count = ring_buffer__consume(ring.get());
    if (count < 0 && count != -EAGAIN) return errno_error("cannot read the rings", -count);
    total += batch_;
  }
  handler_ = nullptr;
  return total;
}

void BpfBackend::wait(int milliseconds) {
  epoll_event event{};
  // An error (EINTR among them) only ends the wait early.
  (void)epoll_wait(wait_fd(), &event, 1, milliseconds);
}

Result<void> BpfBackend::read_iterator(bpf_link* link, std::size_t item,
                                       const std::function<void(const char*)>& handle) {
  const UniqueFd iterator(bpf_iter_create(bpf_link__fd(link)));
  if (!iterator) return errno_error("cannot iterate over the tasks", errno);
  std::vector<char> bytes(512 * item);
  std::size_t have = 0;
  while (true) {
    const ssize_t got = read(iterator.get(), bytes.data() + have, bytes.size() - have);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (got < 0) return errno_error("cannot iterate over the tasks", errno);
    if (got == 0) return {};
    have += static_cast<std::size_t>(got);
    std::size_t at = 0;
    for (; at + item <= have; at += item) handle(bytes.data() + at);
    std::memmove(bytes.data(), bytes.data() + at, have - at);
    have -= at;
  }
}

Result<std::uint64_t> BpfBackend::list_open_calls(std::uint64_t before_ns, const RecordHandler& handle) {
  skeleton_->bss->open_before_ns = before_ns;
  skeleton_->bss->traced_tasks = 0;
  auto read = read_iterator(open_calls_.get(), sizeof(usc_event),
                            [&](const char* bytes) { handle(reinterpret_cast<const usc_event*>(bytes)->head); });
  if (!read) return read.error();
  return std::uint64_t{skeleton_->bss->traced_tasks};
}

Result<void> BpfBackend::list_open_hits(const RecordHandler& handle) {
  // Open functions come by the rings: those of one thread may be more than an iterator passes on at once.
  if (open_functions_)
    if (auto done = read_iterator(open_functions_.get(), 1, [](const char*) {}); !done) return done;
  if (!open_waits_) return {};
  return read_iterator(open_waits_.get(), sizeof(hit_room),
                       [&](const char* bytes) { handle(reinterpret_cast<const hit_room*>(bytes)->hit.head); });
}

Result<void> BpfBackend::set_target(const TargetNames& names) {
  LIBBPF_OPTS(bpf_test_run_opts, options);
  if (bpf_prog_test_run_opts(bpf_program__fd(skeleton_->progs.spare_own_process), &options) != 0)
    return errno_error("cannot keep this process out of the trace", errno);
  const __u32 one = 1;
  for (const std::string& name : names.apps) {
    app_name key{};
    if (name.empty() || name.size() >= sizeof(key.name)) return Error{"not the name of an application: " + name, ""};
    std::memcpy(key.name, name.data(), name.size());
    if (bpf_map_update_elem(bpf_map__fd(skeleton_->maps.target_names), &key, &one, BPF_ANY) != 0)
      return errno_error("cannot trace the application " + name, errno, "name at most 64 applications");
  }
  for (const std::uint32_t pid : names.pids) {
    if (bpf_map_update_elem(bpf_map__fd(skeleton_->maps.target_pids), &pid, &one, BPF_ANY) != 0)
      return errno_error(fmt::format("cannot trace the process {}", pid), errno);
  }
  for (const std::uint64_t id : names.cgroups) {
    if (bpf_map_update_elem(bpf_map__fd(skeleton_->maps.target_cgroups), &id, &one, BPF_ANY) != 0)
      return errno_error(fmt::format("cannot trace the control group with the id {}", id), errno,
                         "name at most 64 control groups");
  }
  pids_ = names.pids;
  return {};
}

Result<void> BpfBackend::adopt() {
  skeleton_->bss->hold_until = monotonic_ns() + USC_HOLD_NS;
  const LinkHandle link(bpf_program__attach_iter(skeleton_->progs.adopt_tasks, nullptr));
  if (!link) return errno_error("cannot attach the iterator over running tasks", errno, bpf_remedy(errno));
  // Twice: a thread whose process was being decided elsewhere is decided then.
  for (int pass = 0; pass < 2; pass++)
    if (auto done = read_iterator(link.get(), 1, [](const char*) {}); !done) return done;
  if (open_waits_) {
    const LinkHandle waiting(bpf_program__attach_iter(skeleton_->progs.meet_waiting, nullptr));
    if (!waiting) return errno_error("cannot attach the iterator over waiting threads", errno, bpf_remedy(errno));
    if (auto done = read_iterator(waiting.get(), 1, [](const char*) {}); !done) return done;
  }
  // A process that is moved between control groups is looked at with its next call, whoever it is.
  if ((skeleton_->rodata->config.target.kinds & USC_TARGET_CGROUP) == 0) skeleton_->bss->settled = 1;
  // From here on these numbers may become those of other processes.
  for (const std::uint32_t pid : pids_) (void)bpf_map_delete_elem(bpf_map__fd(skeleton_->maps.target_pids), &pid);
  return {};
}

// Who gets a debugger from now on is told by the hooks. Nobody where nothing in files is probed.
Result<Debugged> BpfBackend::list_debugged() {
  Debugged debugged;
  debugged.scouts = scouts_;
  if (bpf_program__fd(skeleton_->progs.list_debugged) < 0) return debugged;
  const LinkHandle link(bpf_program__attach_iter(skeleton_->progs.list_debugged, nullptr));
  if (!link) return errno_error("cannot attach the list of debugged processes", errno, bpf_remedy(errno));
  auto read = read_iterator(link.get(), sizeof(std::uint32_t), [&](const char* item) {
    std::uint32_t pid = 0;
    std::memcpy(&pid, item, sizeof(pid));
    debugged.pids.insert(pid);
  });
  return read ? Result<Debugged>(std::move(debugged)) : read.error();
}

// What lies between executable mappings counts as executable, but for the largest hole: between program and libraries.
void BpfBackend::ask_for_ranges(std::span<const AddressRange> mappings) {
  std::size_t second = 0;  // the first one behind the hole
  for (std::size_t i = 1; i < mappings.size(); i++)
    if (second == 0 || mappings[i].start - mappings[i - 1].end > mappings[second].start - mappings[second - 1].end)
      second = i;
  auto& ranges = skeleton_->bss->mapping_request.ranges;
  ranges[0] = {mappings.front().start, mappings[second != 0 ? second - 1 : 0].end};
  ranges[1] = {mappings[second].start, mappings.back().end};
}

// Whether the kernel side knows them now, and may remember them: not if the lock of the mappings was never free when it
// tried, or if calls that change mappings were under way all the time, or one was when the last of them was told. As
// long as it does not, it records no call of the process (is_held() of core/walk/mappings.h).
Result<bool> BpfBackend::tell_mappings(bpf_link* link, std::span<const AddressRange> some, bool is_last) {
  auto& request = skeleton_->bss->mapping_request;
  for (std::size_t i = 0; i < MAPPING_REQUEST_MOST; i++) request.addresses[i] = i < some.size() ? some[i].start : 0;
  request.left = static_cast<__u32>(some.size());
  request.is_last = static_cast<__u32>(is_last);
  for (int attempt = 0; attempt < kMappingAttempts && request.left != 0; attempt++) {
    if (attempt != 0) poll(nullptr, 0, 1);
    request.seen = request.undecided = 0;
    request.at_once = static_cast<__u32>(attempt == kMappingAttempts - 1);
    if (auto done = read_iterator(link, 1, [](const char*) {}); !done) return done.error();
    if (request.seen == 0) return request.undecided == 0;  // it has ended, or is not traced any more
    if (request.changed != 0) return false;
  }
  return request.left == 0 && request.at_once == 0 && (!is_last || request.known != 0);
}

Result<bool> BpfBackend::announce_mappings(std::uint32_t pid) {
  const auto found = ProcessLooks(scouts_).executable_ranges_of(pid);
  if (!found) return false;
  std::span<const AddressRange> left(*found);
  if (left.empty()) return true;
  ask_for_ranges(left);
  bpf_iter_link_info info{};
  info.task.pid = pid;
  LIBBPF_OPTS(bpf_iter_attach_opts, options, .link_info = &info, .link_info_len = sizeof(info));
  const LinkHandle link(bpf_program__attach_iter(skeleton_->progs.tell_mappings, &options));
  if (!link) {
    if (errno == ESRCH) return true;
    return errno_error("cannot attach the iterator over a process", errno, bpf_remedy(errno));
  }
  skeleton_->bss->mapping_request.key = 0;
  skeleton_->bss->mapping_request.changed = 0;
  skeleton_->bss->mapping_request.known = 0;
  bool all_told = true;
  while (!left.empty()) {
    const auto some = left.first(std::min<std::size_t>(left.size(), MAPPING_REQUEST_MOST));
    left = left.subspan(some.size());
    const auto told = tell_mappings(link.get(), some, left.empty() && all_told);
    if (!told) return told.error();
    all_told = all_told && *told;
  }
  return all_told;
}

Result<void> BpfBackend::list_attached_calls(const AttachedHandler& handle) {
  const LinkHandle link(bpf_program__attach_iter(skeleton_->progs.list_attached_calls, nullptr));
  if (!link) return errno_error("cannot attach the list of calls that were under way", errno, bpf_remedy(errno));
  return read_iterator(link.get(), sizeof(usc_attached_call),
                       [&](const char* bytes) { handle(*reinterpret_cast<const usc_attached_call*>(bytes)); });
}

Result<trace::StackId> BpfBackend::reserve_stack() {
  return trace::StackId(__atomic_add_fetch(&skeleton_->bss->last_stack, 1, __ATOMIC_SEQ_CST));
}

Result<trace::StackId> BpfBackend::resend_stacks() {
  auto first = reserve_stack();
  if (!first) return first;
  __atomic_store_n(&skeleton_->bss->first_stack, first->value(), __ATOMIC_SEQ_CST);
  if (auto waited = ring_maps_.wait_for_programs(); !waited) return waited.error();
  return first;
}

Result<void> BpfBackend::take_sums(const SumHandler& handle) {
  if (!sums_.has_question()) return {};
  const __u32 full = skeleton_->bss->query_turn;
  __atomic_store_n(&skeleton_->bss->query_turn, full ^ 1, __ATOMIC_SEQ_CST);
  if (auto waited = ring_maps_.wait_for_programs(); !waited) return waited;
  sums_.take(full, handle);
  probes_.take_counts(full, handle);
  return {};
}

// A program cannot wait for the lock of this process's mappings. A thread of it that holds the lock may itself wait for
// this CPU, which it gets while this thread sleeps.
Result<usc_file_key> BpfBackend::own_file_key(const void* address) {
  auto& request = skeleton_->bss->key_request;
  request.address = reinterpret_cast<std::uintptr_t>(address);
  LIBBPF_OPTS(bpf_test_run_opts, options);
  const std::uint64_t until_ns = monotonic_ns() + kLongestKeyNs;
  while (true) {
    request.found = 0;
    if (bpf_prog_test_run_opts(bpf_program__fd(skeleton_->progs.look_up_own_file), &options) != 0)
      return errno_error("cannot ask the kernel for a mapped file's key", errno);
    if (request.found != 0) break;
    if (request.error != -EBUSY || monotonic_ns() > until_ns)
      return Error{fmt::format("the kernel gives no key for a mapped file: error {}", request.error), ""};
    std::this_thread::sleep_for(kKeyPause);
  }
  usc_file_key key{};
  std::memcpy(&key, &request.key, sizeof(key));
  return key;
}

Result<trace::FileId> BpfBackend::reserve_file(const usc_file_key& key) {
  const auto taken = rows_.take_file(skeleton_->data->last_file);
  if (!taken) return taken.error();
  const std::uint32_t serial = taken->value();
  if (bpf_map_update_elem(bpf_map__fd(skeleton_->maps.file_serials), &key, &serial, BPF_NOEXIST) != 0) {
    const int number = errno;
    if (auto done = rows_.free_slot(*taken); !done) return done.error();
    return errno_error("cannot reserve a file serial", number);
  }
  return *taken;
}

// A key that is not there was met under another one since: memory whose content has changed.
Result<void> BpfBackend::forget_files(std::span<const usc_file_key> keys) {
  const int map = bpf_map__fd(skeleton_->maps.file_serials);
  for (const usc_file_key& key : keys)
    if (bpf_map_delete_elem(map, &key) != 0 && errno != ENOENT) return errno_error("cannot forget a file", errno);
  return ring_maps_.wait_for_programs();
}

Result<std::vector<usc_stats>> BpfBackend::stats() {
  std::vector<usc_stats> all;
  for (std::uint32_t cpu = 0; cpu < cpus_; cpu++) {
    cpu_state state{};
    if (bpf_map_lookup_elem(bpf_map__fd(skeleton_->maps.cpus), &cpu, &state) != 0)
      return errno_error(fmt::format("cannot read the counters of CPU {}", cpu), errno);
    all.push_back(state.stats);
  }
  if (!all.empty()) {
    all[0].events += sums_.counted();
    all[0].loss[USC_LOSS_RECURSION] += missed_probes();
    all[0].loss[USC_LOSS_PROBE_MISSED] += probes_.missed();
  }
  return all;
}

// The kernel skips a program that is already running on the processor, and counts that. Of several programs for one
// event the last one counts: what it missed may have been seen by those before, never the other way round.
std::uint64_t BpfBackend::missed_probes() {
  std::uint64_t missed = 0;
  bpf_program* program = nullptr;
  const auto& progs = skeleton_->progs;
  const std::array<bpf_program*, 8> relieved = {progs.on_fork,   progs.on_exec,   progs.on_exit,   progs.on_rename,
                                                progs.on_fork_2, progs.on_exec_2, progs.on_exit_2, progs.on_rename_2};
  const auto of_probes = BpfProbes::programs(*skeleton_);
  bpf_object__for_each_program(program, skeleton_->obj) {
    if (preempted_ && std::find(relieved.begin(), relieved.end(), program) != relieved.end()) continue;
    if (std::find(of_probes.begin(), of_probes.end(), program) != of_probes.end()) continue;
    missed += times_skipped(program);
  }
  return missed;
}

Result<std::vector<std::uint64_t>> BpfBackend::sequence_numbers() {
  std::vector<std::uint64_t> all;
  for (std::uint32_t cpu = 0; cpu < cpus_; cpu++) {
    cpu_state state{};
    if (bpf_map_lookup_elem(bpf_map__fd(skeleton_->maps.cpus), &cpu, &state) != 0)
      return errno_error(fmt::format("cannot read the counters of CPU {}", cpu), errno);
    all.push_back(state.seq);
  }
  return all;
}

Result<std::vector<std::pair<usc_loss_key, std::uint64_t>>> BpfBackend::process_losses() {
  std::vector<std::pair<usc_loss_key, std::uint64_t>> all;
  const int map = bpf_map__fd(skeleton_->maps.loss_by_process);
  usc_loss_key key{};
  usc_loss_key* previous = nullptr;
  usc_loss_key next{};
  while (bpf_map_get_next_key(map, previous, &next) == 0) {
    std::uint64_t count = 0;
    if (bpf_map_lookup_elem(map, &next, &count) == 0) all.emplace_back(next, count);
    key = next;
    previous = &key;
  }
  return all;
}

}  // namespace

Result<std::unique_ptr<Backend>> open_bpf_backend(const usc_config& config, const BackendSizes& sizes,
                                                  const ProbePlan& probes) {
  auto backend = std::make_unique<BpfBackend>();
  if (auto loaded = backend->load(config, sizes, probes); !loaded) return loaded.error();
  return std::unique_ptr<Backend>(std::move(backend));
}

}  // namespace uscope::tracer
