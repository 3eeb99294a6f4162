#include "tracer/attached_calls.h"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <utility>

namespace uscope::tracer {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::size_t kMostBytes = kPage * 2 * USC_SAMPLE_PAGES;
constexpr std::size_t kPagesAtOnce = 64;

// The stack from `base` on, up to the first page that cannot be read. A page at a time: a piece that is not all there
// gives nothing.
std::vector<char> copy_stack(std::uint32_t tid, std::uint64_t base) {
  std::vector<char> bytes;
  while (bytes.size() < kMostBytes) {
    std::array<iovec, kPagesAtOnce> remote{};
    std::uint64_t at = base + bytes.size();
    std::size_t asked = 0;
    for (iovec& piece : remote) {
      const std::uint64_t length = kPage - at % kPage;
      piece = {reinterpret_cast<void*>(at), length};  // NOLINT(performance-no-int-to-ptr)
      at += length;
      asked += length;
    }
    const std::size_t before = bytes.size();
    bytes.resize(before + asked);
    const iovec local = {bytes.data() + before, asked};
    const ssize_t got = process_vm_readv(static_cast<pid_t>(tid), &local, 1, remote.data(), remote.size(), 0);
    bytes.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (bytes.size() < before + asked) break;
  }
  return bytes;
}

// The sample with the copy: what does not fit the window is its second part.
std::vector<char> make_sample(usc_sample head, const std::vector<char>& stack) {
  const auto page_bits = [](std::uint64_t bytes) {
    const std::uint64_t pages = (bytes + kPage - 1) / kPage;
    return pages >= USC_SAMPLE_PAGES ? ~std::uint64_t{0} : (std::uint64_t{1} << pages) - 1;
  };
  const std::uint64_t window_end = (head.base & ~(kPage - 1)) + USC_SAMPLE_PAGES * kPage;
  head.bytes = static_cast<__u32>(std::min<std::uint64_t>(stack.size(), window_end - head.base));
  head.pages = page_bits(head.base % kPage + head.bytes);
  head.end_bytes = static_cast<__u32>(stack.size() - head.bytes);
  head.end_base = head.end_bytes != 0 ? window_end : 0;
  head.end_pages = page_bits(head.end_bytes);
  std::vector<char> bytes((sizeof(head) + stack.size() + 7) & ~std::size_t{7});
  head.head.size = static_cast<__u32>(bytes.size());
  std::memcpy(bytes.data(), &head, sizeof(head));
  if (!stack.empty()) std::memcpy(bytes.data() + sizeof(head), stack.data(), stack.size());
  return bytes;
}

}  // namespace

Result<std::vector<AttachedCall>> copy_attached_calls(Backend& backend) {
  std::vector<AttachedCall> calls;
  std::vector<std::uint32_t> tids;
  auto listed = backend.list_attached_calls([&](const usc_attached_call& call) {
    calls.push_back({call.event, {}});
    usc_sample head{};
    std::memcpy(&head, &call.sample, sizeof(head));
    head.base = head.regs[USC_REG_RSP] & ~std::uint64_t{7};
    std::vector<char> bytes(sizeof(head));
    std::memcpy(bytes.data(), &head, sizeof(head));
    calls.back().sample = std::move(bytes);
    tids.push_back(call.tid);
  });
  if (!listed) return listed.error();
  for (std::size_t i = 0; i < calls.size(); i++) {
    usc_sample head{};
    std::memcpy(&head, calls[i].sample.data(), sizeof(head));
    if (calls[i].event.abi != USC_ABI_I386) calls[i].sample = make_sample(head, copy_stack(tids[i], head.base));
  }
  std::set<std::pair<std::uint32_t, std::uint64_t>> there;
  listed = backend.list_attached_calls(
      [&](const usc_attached_call& call) { there.emplace(call.event.head.task, call.event.entry_ns); });
  if (!listed) return listed.error();
  std::erase_if(calls, [&](const AttachedCall& call) {
    return there.count({call.event.head.task, call.event.entry_ns}) == 0;
  });
  return calls;
}

}  // namespace uscope::tracer
