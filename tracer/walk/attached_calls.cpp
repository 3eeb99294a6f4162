// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/walk/attached_calls.h"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "support/end_signals.h"
#include "trace/record_builder.h"
#include "tracer/walk/stack_copy.h"

namespace uscope::tracer {
namespace {

constexpr std::size_t kMostBytes = kPageBytes * 2 * USC_SAMPLE_PAGES;
constexpr std::uint32_t kPagesAtOnce = 64;
constexpr int kMostHangs = 3;        // of one process
constexpr int kMostHangsOfAll = 32;  // after these, a process is asked until it hangs for the first time

// A thread whose stack is to be copied.
struct StackRequest {
  std::uint64_t base = 0;
  std::uint32_t tid = 0;
  std::uint32_t pid = 0;
  std::uint32_t pages_at_once = kPagesAtOnce;
  std::uint32_t number = 0;  // in the list of all
};

// The stack from its base on, up to the first page that cannot be read, in pieces that are answered one by one. A page
// at a time: a piece that is not all there gives nothing.
void copy_stack(ScoutDesk& desk, const StackRequest& request) {
  std::vector<char> bytes;
  for (std::size_t have = 0; have < kMostBytes; have += bytes.size()) {
    std::array<iovec, kPagesAtOnce> remote{};
    std::uint64_t at = request.base + have;
    std::size_t asked = 0;
    const auto pieces = std::span(remote).first(std::min<std::size_t>(request.pages_at_once, remote.size()));
    for (iovec& piece : pieces) {
      const std::uint64_t length = kPageBytes - at % kPageBytes;
      piece = {reinterpret_cast<void*>(at), length};  // NOLINT(performance-no-int-to-ptr)
      at += length;
      asked += length;
    }
    bytes.resize(asked);
    const iovec local = {bytes.data(), asked};
    const ssize_t got = process_vm_readv(static_cast<pid_t>(request.tid), &local, 1, pieces.data(), pieces.size(), 0);
    if (got <= 0) return;
    bytes.resize(static_cast<std::size_t>(got));
    desk.answer(ScoutWriter().put(request.number).put_bytes(std::as_bytes(std::span(bytes))).bytes());
    if (bytes.size() < asked) return;
  }
}

void copy_stacks(ScoutDesk& desk) {
  ScoutReader reader(desk.request().bytes);
  while (!reader.empty()) {
    const auto request = reader.get<StackRequest>();
    desk.goes_to(request.number);
    copy_stack(desk, request);
  }
}

// The stacks of threads, by scouts.
class StackCopies {
 public:
  StackCopies(Scouts* scouts, std::size_t threads) : scouts_(scouts), stacks_(threads) {}

  Result<void> copy(std::vector<StackRequest> left, const std::function<Result<void>()>& meanwhile);
  std::vector<std::vector<char>> take() { return std::move(stacks_); }

 private:
  void add(const ScoutMessage& message);
  void avoid(std::vector<StackRequest>& left, std::uint32_t number);

  Scouts* scouts_;
  std::vector<std::vector<char>> stacks_;
  std::map<std::uint32_t, int> hung_;  // by pid
  int hangs_ = 0;
};

void StackCopies::add(const ScoutMessage& message) {
  ScoutReader reader(message.bytes);
  const auto number = reader.get<std::uint32_t>();
  const auto bytes = reader.get_bytes();
  if (number >= stacks_.size()) return;
  const auto* from = reinterpret_cast<const char*>(bytes.data());
  stacks_[number].insert(stacks_[number].end(), from, from + bytes.size());
}

std::uint32_t process_of(const std::vector<StackRequest>& requests, std::uint32_t number) {
  const auto at =
      std::find_if(requests.begin(), requests.end(), [&](const auto& request) { return request.number == number; });
  return at == requests.end() ? 0 : at->pid;
}

// What came of a stack until the first of its pages that did not answer is what is had of it; of a process with several
// such threads, the others are not asked.
void StackCopies::avoid(std::vector<StackRequest>& left, std::uint32_t number) {
  const auto at = std::find_if(left.begin(), left.end(), [&](const auto& request) { return request.number == number; });
  if (at == left.end()) return left.clear();
  StackRequest request = *at;
  left.erase(left.begin(), at + 1);
  scouts_->note_unresponsive(request.pid);
  const int times = ++hung_[request.pid];
  if (++hangs_ >= kMostHangsOfAll) {
    std::erase_if(left, [&](const auto& other) { return hung_.count(other.pid) != 0; });
  } else if (times > kMostHangs) {
    std::erase_if(left, [&](const auto& other) { return other.pid == request.pid; });
  } else if (request.pages_at_once != 1) {
    stacks_[number].clear();
    request.pages_at_once = 1;
    left.insert(left.begin(), request);
  }
}

Result<void> StackCopies::copy(std::vector<StackRequest> left, const std::function<Result<void>()>& meanwhile) {
  while (!left.empty()) {
    const auto bytes = std::as_bytes(std::span(left));
    if (scouts_ == nullptr) {
      for (const ScoutMessage& message : run_here(copy_stacks, bytes)) add(message);
      return {};
    }
    auto errand = scouts_->send(0, copy_stacks, bytes);
    if (!errand) return {};
    while (true) {
      ScoutMessage message;
      const Errand::Came came = errand->next(message);
      if (came == Errand::Came::kDone) return {};
      if (came == Errand::Came::kAnswer) {
        add(message);
        continue;
      }
      errand->blame(process_of(left, errand->at()));
      if (came == Errand::Came::kLost || errand->hangs()) break;
      if (auto done = meanwhile(); !done) return done;
      constexpr int kWaitMs = 5;
      errand->wait(kWaitMs);
    }
    if (end_is_asked_for()) return {};
    avoid(left, errand->at());
  }
  return {};
}

// The sample with the copy: what does not fit the window is its second part.
std::vector<char> make_sample(usc_sample head, const std::vector<char>& stack) {
  const auto page_bits = [](std::uint64_t bytes) {
    const std::uint64_t pages = (bytes + kPageBytes - 1) / kPageBytes;
    return pages >= USC_SAMPLE_PAGES ? ~std::uint64_t{0} : (std::uint64_t{1} << pages) - 1;
  };
  const std::uint64_t window_end = (head.base & ~(kPageBytes - 1)) + USC_SAMPLE_PAGES * kPageBytes;
  head.bytes = static_cast<__u32>(std::min<std::uint64_t>(stack.size(), window_end - head.base));
  head.pages = page_bits(head.base % kPageBytes + head.bytes);
  head.end_bytes = static_cast<__u32>(stack.size() - head.bytes);
  head.end_base = head.end_bytes != 0 ? window_end : 0;
  head.end_pages = page_bits(head.end_bytes);
  return trace::RecordBuilder<usc_sample>(head).add(stack).take();
}

}  // namespace

Result<std::vector<AttachedCall>> copy_attached_calls(Backend& backend, Scouts* scouts,
                                                      const std::function<Result<void>()>& meanwhile) {
  std::vector<AttachedCall> calls;
  std::vector<StackRequest> requests;
  auto listed = backend.list_attached_calls([&](const usc_attached_call& call) {
    calls.push_back({call.event, {}});
    usc_sample head{};
    std::memcpy(&head, &call.sample, sizeof(head));
    head.base = head.regs[USC_REG_SP] & ~std::uint64_t{7};
    std::vector<char> bytes(sizeof(head));
    std::memcpy(bytes.data(), &head, sizeof(head));
    calls.back().sample = std::move(bytes);
    if (call.event.abi == USC_ABI_COMPAT) return;
    const auto number = static_cast<std::uint32_t>(calls.size() - 1);
    requests.push_back({head.base, call.tid, call.pid, kPagesAtOnce, number});
  });
  if (!listed) return listed.error();
  StackCopies copies(scouts, calls.size());
  if (auto copied = copies.copy(requests, meanwhile); !copied) return copied.error();
  const std::vector<std::vector<char>> stacks = copies.take();
  for (const StackRequest& request : requests) {
    AttachedCall& call = calls[request.number];
    usc_sample head{};
    std::memcpy(&head, call.sample.data(), sizeof(head));
    call.sample = make_sample(head, stacks[request.number]);
  }
  std::set<std::pair<trace::TaskId, std::uint64_t>> there;
  listed = backend.list_attached_calls(
      [&](const usc_attached_call& call) { there.emplace(trace::TaskId(call.event.head.task), call.event.entry_ns); });
  if (!listed) return listed.error();
  std::erase_if(calls, [&](const AttachedCall& call) {
    return there.count({trace::TaskId(call.event.head.task), call.event.entry_ns}) == 0;
  });
  return calls;
}

}  // namespace uscope::tracer
