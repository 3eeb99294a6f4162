// `record --until-stall`: loads the raw trace as it is by now into a store beside the output, in a process of its own,
// and diagnoses it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "cli/child_work.h"
#include "tracer/stall_watch.h"

namespace uscope::cli {

class ForkedStallCheck : public tracer::StallCheck {
 public:
  // Threads must have waited for each other at least `stall_ns`.
  ForkedStallCheck(std::filesystem::path raw, const std::filesystem::path& output, std::uint64_t stall_ns)
      : raw_(std::move(raw)), store_(output.string() + ".stall.part"), stall_ns_(stall_ns) {}
  ~ForkedStallCheck() override;

  void begin() override;
  std::optional<bool> poll() override;

 private:
  [[nodiscard]] int check() const;

  std::filesystem::path raw_;
  std::filesystem::path store_;
  std::uint64_t stall_ns_;
  std::optional<ChildWork> work_;
};

}  // namespace uscope::cli
