// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/scouts/scout_work.h"

#include <fcntl.h>

#include <utility>

namespace uscope::tracer {
namespace {

class LocalDesk final : public ScoutDesk {
 public:
  LocalDesk(std::span<const std::byte> request, std::span<const int> fds) {
    request_.bytes.assign(request.begin(), request.end());
    for (const int fd : fds) request_.fds.emplace_back(fcntl(fd, F_DUPFD_CLOEXEC, 0));
  }
  ScoutMessage& request() override { return request_; }
  void goes_to(std::uint32_t) override {}
  void answer(std::span<const std::byte> bytes, std::span<const int> fds) override {
    ScoutMessage& message = answers_.emplace_back();
    message.bytes.assign(bytes.begin(), bytes.end());
    for (const int fd : fds) message.fds.emplace_back(fcntl(fd, F_DUPFD_CLOEXEC, 0));
  }
  void be_last() override {}
  std::vector<ScoutMessage> take() { return std::move(answers_); }

 private:
  ScoutMessage request_;
  std::vector<ScoutMessage> answers_;
};

}  // namespace

std::vector<ScoutMessage> run_here(ScoutWork work, std::span<const std::byte> request, std::span<const int> fds) {
  LocalDesk desk(request, fds);
  work(desk);
  return desk.take();
}

}  // namespace uscope::tracer
