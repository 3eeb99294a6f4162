// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A backend without a kernel side: records are those that a test queues, file keys are those of our own mappings, and
// what is published is written down.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <deque>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "trace/record_builder.h"
#include "tracer/backend/backend.h"

namespace uscope::tracer {

// One line of /proc/self/maps.
struct OwnMapping {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;
  std::uint64_t dev = 0;
  std::uint64_t ino = 0;
  bool executable = false;
  std::string path;
};

inline std::vector<OwnMapping> own_mappings() {
  std::vector<OwnMapping> mappings;
  std::ifstream file("/proc/self/maps");
  for (std::string line; std::getline(file, line);) {
    OwnMapping mapping;
    char dash = 0;
    char colon = 0;
    std::string permissions;
    std::uint64_t minor = 0;
    std::istringstream words(line);
    words >> std::hex >> mapping.start >> dash >> mapping.end >> permissions >> mapping.offset >> mapping.dev >>
        colon >> minor >> std::dec >> mapping.ino;
    std::getline(words >> std::ws, mapping.path);
    mapping.dev = mapping.dev << 32 | minor;
    mapping.executable = permissions.size() > 2 && permissions[2] == 'x';
    mappings.push_back(std::move(mapping));
  }
  return mappings;
}

class FakeBackend : public Backend {
 public:
  struct Published {
    usc_file_state state = USC_FILE_PENDING;
    std::uint32_t classes = 0;
    std::shared_ptr<const symbolizer::UnwindTable> rows;
  };

  // What the next drain() hands out, after what was queued before.
  template <typename Record>
  void queue(const Record& record, const std::string& tail = "") {
    records.push_back(trace::RecordBuilder<Record>(record).add(tail).take());
  }

  [[nodiscard]] const char* name() const override { return "fake"; }
  Result<void> set_target(const TargetNames&) override { return {}; }
  Result<void> attach() override { return {}; }
  Result<void> adopt() override { return {}; }
  Result<bool> announce_mappings(std::uint32_t pid) override {
    if (on_asked_for_mappings) on_asked_for_mappings(pid);
    return !mappings_are_locked;
  }
  Result<void> list_attached_calls(const AttachedHandler& handle) override {
    for (const usc_attached_call& call : attached_calls) handle(call);
    return {};
  }
  Result<trace::StackId> reserve_stack() override { return trace::StackId(next_stack++); }
  void close_entries() override {}
  void detach() override {}
  Result<void> set_launched(int) override { return {}; }
  Result<std::size_t> drain(const RecordHandler& handle) override {
    const std::size_t count = records.size();
    for (const auto& bytes : std::exchange(records, {})) handle(*reinterpret_cast<const usc_record*>(bytes.data()));
    return count;
  }
  void wait(int) override {}
  [[nodiscard]] int wait_fd() const override { return -1; }
  Result<std::uint64_t> list_open_calls(std::uint64_t, const RecordHandler& handle) override {
    for (const usc_event& event : open_calls) handle(event.head);
    return std::uint64_t{open_calls.size()};
  }
  Result<Publish> publish_rows(trace::FileId file, const std::shared_ptr<const symbolizer::UnwindTable>& table,
                               std::uint32_t classes) override {
    if (never_fits) return Publish::kNever;
    if (!has_room || with_rows() >= most_with_rows) return Publish::kNoRoom;
    published[file.value()] = {USC_FILE_READY, classes, table};
    return Publish::kDone;
  }
  Result<void> publish_state(trace::FileId file, usc_file_state state, std::uint32_t classes) override {
    published[file.value()] = {state, classes, nullptr};
    return {};
  }
  [[nodiscard]] bool can_withdraw_rows() const override { return withdraws; }
  Result<void> withdraw_rows(std::span<const trace::FileId> files) override {
    withdrawals++;
    for (const trace::FileId file : files)
      published[file.value()] = {USC_FILE_USER_ONLY, published[file.value()].classes, nullptr};
    return {};
  }
  Result<void> take_sums(const SumHandler& handle) override {
    for (const usc_query_row& row : std::exchange(sums, {})) handle(row, nullptr);
    return {};
  }
  Result<usc_file_key> own_file_key(const void* address) override {
    const auto at = reinterpret_cast<std::uint64_t>(address);
    for (const OwnMapping& mapping : own_mappings())
      if (at >= mapping.start && at < mapping.end) {
        usc_file_key key = key_of(mapping);
        if (on_asked_for_key) on_asked_for_key(key);
        return key;
      }
    return Error{"no mapping there", ""};
  }
  Result<trace::FileId> reserve_file(const usc_file_key&) override {
    if (!reserves) return Error{"the file was met before", ""};
    return trace::FileId(next_serial++);
  }
  Result<void> forget_files(std::span<const usc_file_key> keys) override {
    forgotten.insert(forgotten.end(), keys.begin(), keys.end());
    return {};
  }
  Result<void> release_files(std::span<const trace::FileId> files) override {
    released.insert(released.end(), files.begin(), files.end());
    for (const trace::FileId file : files) published.erase(file.value());
    return {};
  }
  Result<std::vector<usc_stats>> stats() override { return counters; }
  Result<std::vector<std::pair<usc_loss_key, std::uint64_t>>> process_losses() override { return losses_by_process; }
  Result<std::vector<std::uint64_t>> sequence_numbers() override { return sequences; }

  [[nodiscard]] std::ptrdiff_t with_rows() const {
    return std::count_if(published.begin(), published.end(),
                         [](const auto& file) { return file.second.rows != nullptr; });
  }

  static usc_file_key key_of(const OwnMapping& mapping) {
    usc_file_key key{};
    key.dev = mapping.dev;
    key.ino = mapping.ino;
    return key;
  }

  std::function<void(std::uint32_t pid)> on_asked_for_mappings;
  std::function<void(usc_file_key&)> on_asked_for_key;  // may change it, as writing to a file does
  bool mappings_are_locked = false;
  bool has_room = true;
  bool never_fits = false;                  // asked for rows, says that there will never be room
  std::ptrdiff_t most_with_rows = 1 << 20;  // files
  bool withdraws = false;
  int withdrawals = 0;
  bool reserves = false;
  std::uint32_t next_serial = 1000;
  std::uint32_t next_stack = 5000;
  std::vector<usc_attached_call> attached_calls;
  std::deque<std::vector<char>> records;
  std::vector<usc_query_row> sums;  // of a question
  std::vector<usc_event> open_calls;
  std::map<std::uint32_t, Published> published;
  std::vector<usc_stats> counters{2};
  std::vector<std::pair<usc_loss_key, std::uint64_t>> losses_by_process;
  std::vector<usc_file_key> forgotten;
  std::vector<trace::FileId> released;
  std::vector<std::uint64_t> sequences{7, 9};
};

// The record (a usc_file) with which the kernel side would tell of the file behind one of our mappings.
inline std::vector<char> file_record(std::uint32_t serial, const OwnMapping& mapping, std::uint32_t links = 1) {
  std::string components;
  std::string rest = mapping.path;
  while (!rest.empty()) {
    const std::size_t slash = rest.rfind('/');
    components += rest.substr(slash + 1) + '\0';
    rest.erase(slash == std::string::npos ? 0 : slash);
  }
  usc_file record{};
  record.file = serial;
  record.pid = static_cast<__u32>(getpid());
  record.key = FakeBackend::key_of(mapping);
  record.start = mapping.start;
  record.end = mapping.end;
  record.offset = mapping.offset;
  record.links = links;
  record.path_bytes = static_cast<__u16>(components.size());
  return trace::RecordBuilder<usc_file>(record).add(components).take();
}

}  // namespace uscope::tracer
