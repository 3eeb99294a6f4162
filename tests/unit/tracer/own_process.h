// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// This process as a traced one: its mappings as records, its files met, and samples of its own threads as the kernel
// side would take them, beside what glibc's backtrace() says of the same moment.
#pragma once

#include <execinfo.h>
#include <pthread.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "support/clock.h"
#include "tests/support/frame_word.h"
#include "tests/unit/tracer/fake_backend.h"
#include "trace/record_builder.h"
#include "tracer/files/file_table.h"
#include "tracer/model/mapping_timeline.h"

namespace uscope::tracer {

constexpr std::uint32_t kOwnMm = 5;

struct OwnSample {
  std::vector<char> bytes;               // a usc_sample
  std::vector<std::uint64_t> addresses;  // return addresses by backtrace(), from the sampled function's caller on
  [[nodiscard]] usc_sample& record() { return *reinterpret_cast<usc_sample*>(bytes.data()); }
};

namespace detail {

inline std::uint64_t stack_end() {
  pthread_attr_t attributes;
  void* start = nullptr;
  std::size_t size = 0;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &start, &size);
  pthread_attr_destroy(&attributes);
  return reinterpret_cast<std::uint64_t>(start) + size;
}

// All of the stack from rsp on that a window of 64 pages holds.
__attribute__((no_sanitize("address"))) inline void copy_stack(OwnSample& out, const ucontext_t& context) {
  constexpr std::array<int, 16> kDwarf = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
                                          REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  usc_sample head{};
  for (std::size_t i = 0; i < kDwarf.size(); i++)
    head.regs[i] = static_cast<__u64>(context.uc_mcontext.gregs[kDwarf[i]]);
  head.pc = static_cast<__u64>(context.uc_mcontext.gregs[REG_RIP]);
  head.base = head.regs[USC_REG_SP] & ~std::uint64_t{7};
  constexpr std::uint64_t kPage = 4096;
  const std::uint64_t first_page = head.base & ~(kPage - 1);
  const std::uint64_t window_end = first_page + 64 * kPage;
  const std::uint64_t end = std::min(window_end, stack_end());
  head.bytes = static_cast<__u32>(end - head.base);
  const std::uint64_t pages = (end - first_page + kPage - 1) / kPage;
  head.pages = pages >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << pages) - 1;
  head.mm = kOwnMm;
  head.head.time = monotonic_ns();
  out.bytes = trace::RecordBuilder<usc_sample>(head).add(std::vector<char>(head.bytes)).take();
  const auto* from = reinterpret_cast<const volatile char*>(head.base);  // NOLINT(performance-no-int-to-ptr)
  for (std::size_t i = 0; i < head.bytes; i++) out.bytes[sizeof(head) + i] = from[i];
}

}  // namespace detail

// Of the thread that calls, at this call.
__attribute__((noinline)) inline OwnSample take_sample() {
  OwnSample sample;
  ucontext_t context;
  getcontext(&context);
  detail::copy_stack(sample, context);
  std::array<void*, 128> found{};
  const int count = backtrace(found.data(), static_cast<int>(found.size()));
  // The sanitizers' backtrace() has frames of its own before.
  const auto* caller = std::find(found.begin(), found.begin() + count, __builtin_return_address(0));
  for (; caller != found.begin() + count; caller++)
    sample.addresses.push_back(reinterpret_cast<std::uint64_t>(*caller));
  return sample;
}

// The executable mappings of this process, told to a time line and a file table.
class OwnProcess {
 public:
  OwnProcess() {
    std::uint32_t next = USC_FILE_FIRST;
    for (const OwnMapping& mapping : own_mappings()) {
      if (!mapping.executable || mapping.path == "[vsyscall]") continue;
      std::uint32_t serial = USC_FILE_NONE;
      if (mapping.path == "[vdso]") {
        serial = USC_FILE_VDSO;
      } else if (mapping.ino != 0) {
        const auto [at, fresh] = serials_.emplace(mapping.path, next);
        if (fresh) files_.emplace_back(next++, mapping);
        serial = at->second;
      }
      usc_map record{};
      record.mm = kOwnMm;
      record.file = serial;
      record.start = mapping.start;
      record.end = mapping.end;
      record.offset = mapping.offset;
      maps_.push_back(record);
    }
  }

  [[nodiscard]] const std::vector<usc_map>& maps() const { return maps_; }
  [[nodiscard]] const std::vector<std::pair<std::uint32_t, OwnMapping>>& files() const { return files_; }

  // The frame word of a return address.
  [[nodiscard]] std::uint64_t frame_of(std::uint64_t address) const {
    for (const usc_map& map : maps_)
      if (address - 1 >= map.start && address - 1 < map.end)
        return test::frame_word(map.file, address - map.start + map.offset, 0);
    return 0;
  }
  [[nodiscard]] std::vector<std::uint64_t> frames_of(const std::vector<std::uint64_t>& addresses) const {
    std::vector<std::uint64_t> frames(addresses.size());
    std::transform(addresses.begin(), addresses.end(), frames.begin(), [this](auto at) { return frame_of(at); });
    return frames;
  }

 private:
  std::map<std::string, std::uint32_t> serials_;
  std::vector<usc_map> maps_;
  std::vector<std::pair<std::uint32_t, OwnMapping>> files_;
};

// Hands a usc_file with its path to FileTable::add_announced.
inline Result<void> announce(FileTable& table, std::uint32_t serial, const OwnMapping& mapping,
                             std::uint32_t links = 1) {
  const std::vector<char> record = file_record(serial, mapping, links);
  return table.add_announced(*reinterpret_cast<const usc_file*>(record.data()));
}

}  // namespace uscope::tracer
