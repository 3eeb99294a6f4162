// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A kernel side that does nothing, so that a FileTable can stand alone.
#pragma once

#include "tracer/backend/backend.h"

namespace uscope::testkit {

class QuietBackend final : public tracer::Backend {
 public:
  [[nodiscard]] const char* name() const override { return "quiet"; }
  Result<void> set_target(const tracer::TargetNames&) override { return {}; }
  Result<void> attach() override { return {}; }
  Result<void> adopt() override { return {}; }
  Result<bool> announce_mappings(std::uint32_t) override { return true; }
  Result<void> list_attached_calls(const AttachedHandler&) override { return {}; }
  Result<trace::StackId> reserve_stack() override { return trace::StackId(1); }
  void close_entries() override {}
  void detach() override {}
  Result<void> set_launched(int) override { return {}; }
  Result<std::size_t> drain(const RecordHandler&) override { return std::size_t{0}; }
  void wait(int) override {}
  [[nodiscard]] int wait_fd() const override { return -1; }
  Result<std::uint64_t> list_open_calls(std::uint64_t, const RecordHandler&) override { return std::uint64_t{0}; }
  Result<tracer::Publish> publish_rows(trace::FileId, const std::shared_ptr<const symbolizer::UnwindTable>&,
                                       std::uint32_t) override {
    return tracer::Publish::kDone;
  }
  Result<void> publish_state(trace::FileId, usc_file_state, std::uint32_t) override { return {}; }
  Result<usc_file_key> own_file_key(const void*) override { return usc_file_key{}; }
  Result<trace::FileId> reserve_file(const usc_file_key&) override {
    return Error{"no file is met by reservation", ""};
  }
  Result<void> forget_files(std::span<const usc_file_key>) override { return {}; }
  Result<void> release_files(std::span<const trace::FileId>) override { return {}; }
  Result<std::vector<usc_stats>> stats() override { return std::vector<usc_stats>(); }
  Result<std::vector<std::pair<usc_loss_key, std::uint64_t>>> process_losses() override {
    return std::vector<std::pair<usc_loss_key, std::uint64_t>>();
  }
  Result<std::vector<std::uint64_t>> sequence_numbers() override { return std::vector<std::uint64_t>(); }
};

}  // namespace uscope::testkit
