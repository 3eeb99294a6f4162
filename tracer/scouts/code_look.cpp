// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/scouts/code_look.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "support/clock.h"
#include "support/page_size.h"
#include "support/unique_fd.h"
#include "symbolizer/code/instruction.h"
#include "tracer/process/process_list.h"
#include "tracer/scouts/foreign_code.h"
#include "tracer/scouts/kernel_breakpoints.h"

namespace uscope::tracer {
namespace {

const std::uint64_t kPageSize = page_bytes();
constexpr std::uint64_t kNumberInLayer = 0xffffffff;  // overlayfs may put the layer's number into the upper bits (xino)

using What = CodeFinding::What;

// How far a scout has come with a process: Errand::at() is this much of its number, and one of these. Reading maps
// waits for the memory's lock up to Linux 6.16, and each step behind it does.
enum Stage : std::uint32_t { kBegins, kHasNone, kHasMapped, kStages };

struct Request {
  CodeLook::Mode mode = CodeLook::Mode::kUnprobed;
  std::vector<CodeFile> files;
  std::vector<CodeDoubt> asked;

  [[nodiscard]] bool is_probed() const { return mode == CodeLook::Mode::kProbed; }
};

Request read_request(std::span<const std::byte> bytes) {
  ScoutReader in(bytes);
  Request request;
  request.mode = in.get<CodeLook::Mode>();
  request.files.resize(in.get<std::uint32_t>());
  for (CodeFile& file : request.files) {
    file.id = in.get<CodeFileId>();
    for (auto left = in.get<std::uint64_t>(); left > 0 && !in.empty(); left--)
      file.places.push_back(in.get<CodePlace>());
  }
  while (!in.empty()) request.asked.push_back(in.get<CodeDoubt>());
  return request;
}

// Of a file.
struct PrivateMapping {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;
  std::uint64_t inode = 0;  // of the line
  bool writable = false;
  bool executable = false;

  [[nodiscard]] bool holds(std::uint64_t place) const { return place - offset < end - start; }
};

// A line of /proc/PID/maps: "start-end rwxp offset device inode path".
std::optional<PrivateMapping> private_mapping(std::string_view line) {
  PrivateMapping mapping;
  const char* at = line.data();
  const char* const end = at + line.size();
  const auto number = [&](std::uint64_t& value, int base) {
    const auto [behind, error] = std::from_chars(at, end, value, base);
    at = behind < end ? behind + 1 : end;
    return error == std::errc();
  };
  constexpr int kHex = 16;
  constexpr std::ptrdiff_t kModes = 5;
  if (!number(mapping.start, kHex) || !number(mapping.end, kHex) || end - at < kModes) return std::nullopt;
  const std::string_view modes(at, kModes);
  if (modes[3] != 'p') return std::nullopt;
  mapping.writable = modes[1] == 'w';
  mapping.executable = modes[2] == 'x';
  at += kModes;
  if (!number(mapping.offset, kHex)) return std::nullopt;
  while (at < end && *at != ' ') at++;  // the device
  if (at++ == end || !number(mapping.inode, 10) || mapping.inode == 0) return std::nullopt;
  return mapping;
}

std::string read_whole(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  std::array<char, 8192> piece{};
  for (ssize_t got = 0; (got = read(fd.get(), piece.data(), piece.size())) > 0;)
    text.append(piece.data(), static_cast<std::size_t>(got));
  return text;
}

std::uint64_t own_time_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * kSecondNs + static_cast<std::uint64_t>(time.tv_nsec);
}

// One process.
class ProcessCode {
 public:
  ProcessCode(const CodeDoubt& asked, const Request& request, KernelBreakpoints& kernels)
      : asked_(asked), pid_(asked.pid), tid_(living_thread_of(asked.pid)), request_(request), kernels_(kernels) {}

  // Before the memory is looked at, `tell_stage` says whether the process has one of the files mapped.
  template <typename TellStage>
  std::set<CodeFinding> look(const TellStage& tell_stage) {
    maps_ = read_whole(fmt::format("/proc/{}/maps", tid_));
    std::vector<PrivateMapping> mappings;
    for (std::string_view rest = maps_; !rest.empty();) {
      const std::size_t line_end = std::min(rest.find('\n'), rest.size());
      if (const auto mapping = private_mapping(rest.substr(0, line_end))) mappings.push_back(*mapping);
      rest.remove_prefix(std::min(line_end + 1, rest.size()));
    }
    tell_stage(
        std::any_of(mappings.begin(), mappings.end(), [&](const PrivateMapping& one) { return may_be_asked(one); })
            ? kHasMapped
            : kHasNone);
    if (request_.mode == CodeLook::Mode::kInDoubt && is_by_loader(mappings)) return {};
    for (const PrivateMapping& mapping : mappings) look_at(mapping);
    return std::move(findings_);
  }

 private:
  // By the number alone: file systems of layers show other devices.
  [[nodiscard]] bool may_be_asked(const PrivateMapping& mapping) const {
    return std::any_of(request_.files.begin(), request_.files.end(), [&](const CodeFile& file) {
      return (file.id.shown.inode & kNumberInLayer) == (mapping.inode & kNumberInLayer);
    });
  }

  void look_at(const PrivateMapping& mapping) {
    struct stat status {};
    for (std::uint32_t i = 0; i < request_.files.size(); i++) {
      const CodeFile& file = request_.files[i];
      const auto first =
          std::lower_bound(file.places.begin(), file.places.end(), mapping.offset,
                           [](const CodePlace& place, std::uint64_t offset) { return place.offset < offset; });
      auto last = first;
      while (last != file.places.end() && mapping.holds(last->offset)) last++;
      if (first == last) continue;
      // Device and inode of the line are not those of stat() on every file system.
      if (status.st_mode == 0 && stat(map_files_entry(tid_, mapping.start, mapping.end).c_str(), &status) != 0) return;
      if (!file.id.may_be(CodeFileId::of(status))) continue;
      if (request_.mode == CodeLook::Mode::kInDoubt)
        doubt(mapping, i, std::span(first, last));
      else if (const auto why = why_none())
        for (const CodePlace& place : std::span(first, last)) findings_.insert({pid_, i, place.offset, *why});
      else
        compare(mapping, i, std::span(first, last));
    }
  }

  // Nothing of the file may have a breakpoint of the kernel's in this process.
  std::optional<What> why_none() {
    if (has_writing_tracer()) return What::kDebugged;
    return is_translator() ? std::optional(What::kTranslated) : std::nullopt;
  }

  void doubt(const PrivateMapping& mapping, std::uint32_t file, std::span<const CodePlace> places) {
    if (asked_.of_translators_only && !is_translator()) return;
    for (const CodePlace& place : places) {
      const std::uint64_t at = mapping.start + (place.offset - mapping.offset);
      if (at < asked_.end && at + place.count > asked_.start)
        findings_.insert({pid_, file, place.offset, What::kInDoubt});
    }
  }

  // The call came from the file that the kernel has loaded as the process's dynamic loader.
  [[nodiscard]] bool is_by_loader(const std::vector<PrivateMapping>& mappings) const {
    if (asked_.pc == 0) return false;
    const std::uint64_t loader = loader_base_of(tid_);
    const auto file_at = [&](std::uint64_t address) {
      for (const PrivateMapping& one : mappings)
        if (address - one.start < one.end - one.start) return one.inode;
      return std::uint64_t{0};
    };
    return loader != 0 && file_at(loader) != 0 && file_at(loader) == file_at(asked_.pc);
  }

  bool has_writing_tracer() {
    if (!written_) written_ = can_write_memory(tracer_of(tid_));
    return *written_;
  }

  bool is_translator() {
    if (!translates_) translates_ = translates_code(tid_, maps_);
    return *translates_;
  }

  void compare(const PrivateMapping& mapping, std::uint32_t file, std::span<const CodePlace> places) {
    const auto address_of = [&](const CodePlace& place) { return mapping.start + (place.offset - mapping.offset); };
    read_pages(address_of(places.front()), std::min(address_of(places.back()) + CodePlace::kMostBytes, mapping.end));
    for (const CodePlace& place : places) {
      const std::uint64_t at = address_of(place);
      const std::uint64_t count = std::min(place.count, mapping.end - at);
      if (!is_own_page(at) && !is_own_page(at + count - 1)) {
        if (is_unprobed(mapping, place, place.bytes[0])) findings_.insert({pid_, file, place.offset, What::kUnprobed});
        continue;
      }
      if (!memory_) memory_.reset(::open(fmt::format("/proc/{}/mem", tid_).c_str(), O_RDONLY | O_CLOEXEC));
      std::array<unsigned char, CodePlace::kMostBytes> here{};
      if (pread(memory_.get(), here.data(), count, static_cast<off_t>(at)) != static_cast<ssize_t>(count)) continue;
      if (const auto what = what_of(mapping, file, place, std::span(here).first(count)))
        findings_.insert({pid_, file, place.offset, *what});
    }
  }

  [[nodiscard]] bool is_unprobed(const PrivateMapping& mapping, const CodePlace& place, unsigned char first) const {
    return request_.is_probed() && mapping.executable && !mapping.writable && first == place.bytes[0] &&
           first != kBreakpoint;
  }

  // A breakpoint on it, of whatever tracer, is no change of the instruction. Into a mapping that is writable the kernel
  // puts none (valid_vma() of kernel/events/uprobes.c); one that was put there before stays.
  std::optional<What> what_of(const PrivateMapping& mapping, std::uint32_t file, const CodePlace& place,
                              std::span<const unsigned char> here) {
    const bool has_breakpoint = here[0] == kBreakpoint && place.bytes[0] != kBreakpoint;
    if (mapping.writable && !mapping.executable && !(request_.is_probed() && has_breakpoint)) return std::nullopt;
    for (std::size_t i = 0; i < here.size(); i++)
      if (here[i] != place.bytes[i] && !(i == 0 && here[i] == kBreakpoint))
        return mapping.executable ? What::kChanged : What::kCopyChanged;
    if (!request_.is_probed()) return has_breakpoint ? of_breakpoint(mapping, file, place) : std::nullopt;
    if (has_breakpoint && mapping.executable && mapping.writable) return What::kWritable;
    return is_unprobed(mapping, place, here[0]) ? std::optional(What::kUnprobed) : std::nullopt;
  }

  // The process has one where nobody has probes of ours.
  std::optional<What> of_breakpoint(const PrivateMapping& mapping, std::uint32_t file, const CodePlace& place) {
    if (is_debugged()) return What::kDebugged;
    if (kernels_.is_one_at(file, map_files_entry(tid_, mapping.start, mapping.end), place.offset)) return std::nullopt;
    // Another tracer may have taken its own away meanwhile.
    unsigned char now = 0;
    const auto at = static_cast<off_t>(mapping.start + (place.offset - mapping.offset));
    if (pread(memory_.get(), &now, sizeof(now), at) == sizeof(now) && now != kBreakpoint) return std::nullopt;
    return mapping.executable ? What::kOwnBreakpoint : What::kCopyChanged;
  }

  bool is_debugged() {
    if (!debugged_) debugged_ = tracer_of(tid_) != 0;
    return *debugged_;
  }

  void read_pages(std::uint64_t from, std::uint64_t end) {
    if (!pagemap_) pagemap_.reset(::open(fmt::format("/proc/{}/pagemap", tid_).c_str(), O_RDONLY | O_CLOEXEC));
    first_page_ = from / kPageSize;
    pages_.assign((end + kPageSize - 1) / kPageSize - first_page_, 0);
    const std::size_t bytes = pages_.size() * sizeof(pages_[0]);
    if (pread(pagemap_.get(), pages_.data(), bytes, static_cast<off_t>(first_page_ * sizeof(pages_[0]))) !=
        static_cast<ssize_t>(bytes))
      pages_.assign(pages_.size(), 0);
  }

  // Whether the process has a copy of the page that is no longer the file's (Documentation/admin-guide/mm/pagemap.rst).
  [[nodiscard]] bool is_own_page(std::uint64_t address) const {
    constexpr std::uint64_t kPresent = std::uint64_t{1} << 63;
    constexpr std::uint64_t kSwapped = std::uint64_t{1} << 62;
    constexpr std::uint64_t kOfFile = std::uint64_t{1} << 61;
    const std::uint64_t page = pages_[address / kPageSize - first_page_];
    return (page & (kPresent | kSwapped)) != 0 && (page & kOfFile) == 0;
  }

  const CodeDoubt& asked_;
  std::uint32_t pid_;
  std::uint32_t tid_;
  std::string maps_;
  const Request& request_;
  KernelBreakpoints& kernels_;
  UniqueFd pagemap_;
  UniqueFd memory_;
  std::uint64_t first_page_ = 0;
  std::vector<std::uint64_t> pages_;  // of pagemap, from first_page_ on
  std::optional<bool> debugged_;
  std::optional<bool> written_;
  std::optional<bool> translates_;
  std::set<CodeFinding> findings_;
};

// An answer: for how long this look has run on a CPU so far, and findings.
void look_at_code(ScoutDesk& desk) {
  const std::uint64_t began_ns = own_time_ns();
  const Request request = read_request(desk.request().bytes);
  KernelBreakpoints kernels;
  for (std::uint32_t i = 0; i < request.asked.size(); i++) {
    desk.goes_to(i * kStages + kBegins);
    const std::set<CodeFinding> findings =
        ProcessCode(request.asked[i], request, kernels).look([&](Stage stage) { desk.goes_to(i * kStages + stage); });
    const bool is_last = i + 1 == request.asked.size();
    if (findings.empty() && !is_last) continue;
    ScoutWriter out;
    out.put(own_time_ns() - began_ns);
    for (const CodeFinding& finding : findings) out.put(finding);
    desk.answer(out.bytes());
  }
}

}  // namespace

CodeFileId CodeFileId::of(const struct stat& status) {
  return {identity_of(status), static_cast<std::uint64_t>(status.st_size), status.st_mtim.tv_sec,
          status.st_mtim.tv_nsec};
}

bool CodeFileId::may_be(const CodeFileId& other) const {
  if (shown == other.shown) return true;
  const auto is_virtual = [](const FileIdentity& file) { return major(file.device) == 0; };
  return (is_virtual(shown) || is_virtual(other.shown)) &&
         (shown.inode & kNumberInLayer) == (other.shown.inode & kNumberInLayer) &&
         std::tie(size, changed_s, changed_ns) == std::tie(other.size, other.changed_s, other.changed_ns);
}

CodeFile read_code(int fd, const struct stat& status, std::vector<std::uint64_t> offsets) {
  std::sort(offsets.begin(), offsets.end());
  offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
  CodeFile file{CodeFileId::of(status), {}};
  const symbolizer::InstructionDecoder decoder;
  for (const std::uint64_t offset : offsets) {
    CodePlace place;
    place.offset = offset;
    const ssize_t got = pread(fd, place.bytes.data(), place.bytes.size(), static_cast<off_t>(offset));
    if (got <= 0) continue;
    place.count = static_cast<std::uint64_t>(got);
    if (const auto one = decoder.decode(std::as_bytes(std::span(place.bytes).first(place.count)), offset))
      place.count = one->decoded.length;
    file.places.push_back(place);
  }
  return file;
}

CodeLook::CodeLook(Scouts* scouts, std::vector<CodeFile> files, const std::vector<std::uint32_t>& pids, bool probed)
    : scouts_(scouts), files_(std::move(files)), mode_(probed ? Mode::kProbed : Mode::kUnprobed) {
  for (const std::uint32_t pid : pids) left_.push_back({.pid = pid});
}

CodeLook::CodeLook(Scouts* scouts, std::vector<CodeFile> files, std::vector<CodeDoubt> doubts)
    : scouts_(scouts), files_(std::move(files)), left_(std::move(doubts)), mode_(Mode::kInDoubt) {}

std::vector<std::byte> CodeLook::request() const {
  ScoutWriter out;
  out.put(mode_).put(static_cast<std::uint32_t>(files_.size()));
  for (const CodeFile& file : files_) {
    out.put(file.id).put(std::uint64_t{file.places.size()});
    for (const CodePlace& place : file.places) out.put(place);
  }
  for (const CodeDoubt& one : left_) out.put(one);
  return {out.bytes().begin(), out.bytes().end()};
}

void CodeLook::add(const ScoutMessage& message) {
  ScoutReader in(message.bytes);
  took_ns_ = before_ns_ + in.get<std::uint64_t>();
  while (!in.empty()) findings_.push_back(in.get<CodeFinding>());
}

// The process that the scout has not come back from, and all before it.
void CodeLook::skip_silent() {
  const std::uint32_t number = errand_->at() / kStages;
  if (errand_->at() % kStages != kHasNone && number < left_.size()) silent_.push_back(left_[number].pid);
  left_.erase(left_.begin(), left_.begin() + std::min<std::ptrdiff_t>(number + 1, std::ssize(left_)));
  errand_.reset();
  before_ns_ = took_ns_;
}

bool CodeLook::go_on() {
  if (!errand_ && left_.empty()) return true;
  if (scouts_ == nullptr) {
    for (const ScoutMessage& message : run_here(look_at_code, request())) add(message);
    left_.clear();
    return true;
  }
  if (!errand_) {
    auto sent = scouts_->send(0, look_at_code, request());
    if (!sent) left_.clear();
    if (!sent) return true;
    errand_.emplace(std::move(*sent));
  }
  while (true) {
    ScoutMessage message;
    const Errand::Came came = errand_->next(message);
    if (came == Errand::Came::kAnswer) {
      add(message);
      continue;
    }
    errand_->blame(left_[std::min<std::size_t>(errand_->at() / kStages, left_.size() - 1)].pid);
    if (came == Errand::Came::kDone) {
      errand_.reset();
      left_.clear();
      return true;
    }
    if (came == Errand::Came::kLost || errand_->hangs()) skip_silent();
    return !errand_ && left_.empty();
  }
}

std::string why_silent(std::uint32_t pid) {
  return fmt::format(
      "process {} ({}) has it mapped, or may have, and lets nobody look at its memory, as while it waits in munmap for "
      "a "
      "file server: until it goes on, attaching would keep every process of this machine from forking",
      pid, name_of(pid));
}

bool CodeLook::go_on_for(int milliseconds) {
  const std::uint64_t until_ns = monotonic_ns() + static_cast<std::uint64_t>(milliseconds) * kMillisecondNs;
  while (!go_on()) {
    const std::uint64_t now_ns = monotonic_ns();
    if (now_ns >= until_ns) return false;
    if (errand_) errand_->wait(static_cast<int>((until_ns - now_ns) / kMillisecondNs) + 1);
  }
  return true;
}

void CodeLook::finish() {
  constexpr int kWaitMs = 5;
  while (!go_on())
    if (errand_) errand_->wait(kWaitMs);
}

}  // namespace uscope::tracer
