// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/targets/met_files.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "support/glob.h"
#include "support/sandbox/confine.h"
#include "support/text.h"
#include "tracer/targets/answer_wire.h"
#include "tracer/targets/binary_search.h"
#include "tracer/targets/confined_search.h"
#include "tracer/targets/resolve.h"

namespace uscope::tracer {
namespace {

bool is_path(const std::string& binary) {
  return binary.find('/') != std::string::npos;
}

}  // namespace

MetFiles::MetFiles(std::vector<Target> targets, const TargetSearch& search, const ProbePlan& plan)
    : targets_(std::move(targets)), with_arguments_(search.with_arguments), may_use_nop5_(may_use_nop5(search.host)) {
  std::erase_if(targets_, [](const Target& target) { return !is_in_binaries(target); });
  for (const Probe& probe : plan.probes) {
    kinds_[{probe.source, description_of(probe)}] = probe.kind;
    std::uint32_t& last = last_kind_[probe.source];
    last = std::max(last, probe.kind);
  }
}

bool MetFiles::means(const std::string& path) const {
  const ApplicationFile file{{std::string(base_name(path))}, path, UniqueFd(), {}};
  return std::any_of(targets_.begin(), targets_.end(), [&](const Target& target) {
    return is_path(target.binary) ? glob_matches(target.binary, path) : goes_by(file, target.binary);
  });
}

std::vector<std::string> MetFiles::paths() const {
  std::vector<std::string> paths;
  for (const Target& target : targets_)
    if (is_path(target.binary) && target.binary.find_first_of("*?[") == std::string::npos)
      paths.push_back(target.binary);
  return paths;
}

Result<void> MetFiles::begin(int fd, const std::string& path) {
  std::array<int, 2> pipe_ends{};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) return errno_error("cannot make a pipe", errno);
  answer_.reset(pipe_ends[0]);
  const UniqueFd to_parent(pipe_ends[1]);
  if (fcntl(answer_.get(), F_SETFL, O_NONBLOCK) != 0) return errno_error("cannot make a pipe", errno);
  bytes_.clear();
  path_ = path;
  auto child = ChildWork::start([&] {
    const UniqueFd own(dup(fd));
    return answer_confined(to_parent.get(), [&] {
      std::vector<ApplicationFile> files;
      files.push_back({{std::string(base_name(path))}, path, UniqueFd(dup(own.get())), {}});
      BinarySearch search(std::move(files), with_arguments_, may_use_nop5_);
      std::vector<TargetAnswer> answers;
      for (const Target& target : targets_) answers.push_back(search.find_in_files(target));
      return encode_answers(answers);
    });
  });
  if (!child) return child.error();
  child_.reset();
  child_.emplace(std::move(*child));
  return {};
}

std::optional<std::vector<Probe>> MetFiles::poll() {
  std::array<char, 8192> piece{};
  while (true) {
    const ssize_t got = read(answer_.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return std::nullopt;
    if (got <= 0 || bytes_.size() > kMostAnswerBytes) break;
    bytes_.append(piece.data(), static_cast<std::size_t>(got));
  }
  child_.reset();
  answer_.reset();
  return take_probes(bytes_);
}

// An answer that is no answer holds no probes: so the file is one in which nothing is known to be probed.
std::vector<Probe> MetFiles::take_probes(const std::string& bytes) {
  std::vector<Probe> probes;
  auto answers = decode_answers(bytes);
  if (!answers) return probes;
  for (TargetAnswer& answer : *answers)
    for (TargetMatch& match : answer.matches) {
      Probe& probe = match.probe;
      const auto same = [&](const Probe& other) { return other.name == probe.name && other.source == probe.source; };
      if (!match.why_not.empty() || std::any_of(probes.begin(), probes.end(), same)) continue;
      const auto [kind, is_new] = kinds_.try_emplace({probe.source, description_of(probe)}, 0);
      if (is_new) kind->second = ++last_kind_[probe.source];
      probe.kind = kind->second;
      probe.path = path_;
      probes.push_back(std::move(probe));
    }
  return probes;
}

}  // namespace uscope::tracer
