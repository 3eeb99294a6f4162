// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/targets/binary_search.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "support/nearest.h"
#include "support/text.h"
#include "tracer/targets/tracepoints.h"

namespace uscope::tracer {
namespace {

ProbeArgument argument_of(symbolizer::FoundArgument found) {
  using From = symbolizer::FoundArgument::From;
  ProbeArgument out;
  out.name = std::move(found.name);
  out.type = std::move(found.type);
  out.from = found.from == From::kRegister ? ProbeArgument::From::kRegister
             : found.from == From::kMemory ? ProbeArgument::From::kMemory
                                           : ProbeArgument::From::kConstant;
  out.reg = found.reg;
  out.bytes = found.bytes;
  out.is_signed = found.is_signed;
  out.is_string = found.is_string;
  out.offset = found.offset;
  return out;
}

// Whether glibc 2.34 has moved this library's functions into libc.so.6.
bool is_part_of_libc(std::string_view library) {
  constexpr std::string_view kLibraries[] = {"libpthread.so.0", "libdl.so.2", "librt.so.1", "libutil.so.1",
                                             "libanl.so.1"};
  return std::find(std::begin(kLibraries), std::end(kLibraries), library) != std::end(kLibraries);
}

TargetMatch match_of(const Target& target, const ApplicationFile& file, const FileIdentity& id,
                     symbolizer::FoundProbe found) {
  const bool usdt = target.what == TargetClass::kUsdt;
  const bool by_path = target.binary.find('/') != std::string::npos;
  const bool by_link = std::find(file.names.begin(), file.names.end(), target.binary) != file.names.end();
  const std::string& binary = by_path ? file.path : by_link ? target.binary : file.names.front();
  TargetMatch match;
  match.target = fmt::format("{}:{}:{}{}{}", form_of(target.what).name, binary, usdt ? found.provider + ":" : "",
                             found.name, target.with_return ? kReturnSuffix : "");
  match.why_not = std::move(found.why_not);
  match.can_be_forced = found.can_be_forced;
  match.probe.source = usdt ? USC_SOURCE_USDT : USC_SOURCE_UFUNCTION;
  match.probe.name = fmt::format("{}:{}{}", file.names.front(), usdt ? found.provider + ":" : "", found.full_name);
  match.probe.path = file.path;
  match.probe.file = id;
  match.probe.places = std::move(found.places);
  match.probe.semaphore = found.semaphore;
  match.probe.with_return = target.with_return;
  match.probe.returns = std::move(found.returns);
  for (const symbolizer::FoundJump& jump : found.jumps)
    match.probe.jumps.push_back({jump.offset, jump.condition, jump.again, jump.may_return, jump.indirect});
  match.probe.result_type = std::move(found.result_type);
  match.probe.result_bytes = found.result_bytes;
  match.probe.result_is_signed = found.result_is_signed;
  for (symbolizer::FoundArgument& argument : found.arguments)
    match.probe.arguments.push_back(argument_of(std::move(argument)));
  match.probe.not_kept =
      what_is_not_kept(found.too_many, found.unreadable,
                       {"uscope cannot read the place where it is", "uscope cannot read the places where they are"});
  if (!found.left_out.empty()) match.probe.not_kept += (match.probe.not_kept.empty() ? "" : "; ") + found.left_out;
  return match;
}

}  // namespace

BinarySearch::Open& BinarySearch::open(const ApplicationFile& file) {
  const auto [at, is_new] = open_.try_emplace(file.path);
  Open& out = at->second;
  if (!is_new) return out;
  out.id = file.id;
  if (!file.fd) {
    auto opened = open_regular(file.path, "");
    if (!opened) {
      out.file = opened.error();
      return out;
    }
    out.fd = std::move(*opened);
    struct stat status {};
    if (fstat(out.fd.get(), &status) == 0) out.id = identity_of(status);
  }
  out.file = symbolizer::ProbedFile::open(out.fd ? out.fd.get() : file.fd.get(), file.path);
  return out;
}

std::vector<const ApplicationFile*> BinarySearch::files_for(const Target& target) {
  std::vector<const ApplicationFile*> files;
  for (const ApplicationFile& file : files_)
    if (goes_by(file, target.binary)) files.push_back(&file);
  if (!files.empty() || is_pattern(target.binary)) return files;
  if (auto named = file_named(target.binary)) {
    named_.push_back(std::make_unique<ApplicationFile>(std::move(*named)));
    files.push_back(named_.back().get());
  }
  return files;
}

Error BinarySearch::no_file(const Target& target) const {
  const std::string what = fmt::format("{}: no file is called '{}'", target.text, target.binary);
  if (files_.empty() && is_pattern(target.binary))
    return {fmt::format("{}: '{}' stands for files of an application, and none is known", target.text, target.binary),
            "give its path, or name a command or an application that runs"};
  std::vector<std::string> names;
  for (const ApplicationFile& file : files_) names.insert(names.end(), file.names.begin(), file.names.end());
  const std::string meant = did_you_mean(target.binary, names);
  if (!meant.empty()) return {what, meant};
  return {what,
          "give its path, a library's file name (libssl.so.3), or a pattern of the names of files that the "
          "application maps"};
}

Error BinarySearch::no_name(const Target& target, const std::vector<const ApplicationFile*>& files) {
  const bool usdt = target.what == TargetClass::kUsdt;
  const std::string wanted = usdt ? target.group + ":" + target.name : target.name;
  std::vector<std::string> names;
  std::string in;
  for (const ApplicationFile* file : files) {
    Open& opened = open(*file);
    if (!opened.file) {
      if (files.size() == 1) return opened.file.error().in(target.text);
      continue;
    }
    const auto more = usdt ? (*opened.file)->usdt_names() : (*opened.file)->function_names();
    names.insert(names.end(), more.begin(), more.end());
  }
  if (files.size() == 1)
    in = files.front()->names.front();
  else
    in = plural(files.size(), "file");
  const char* things = usdt ? "USDT probe" : "function";
  if (names.empty())
    return {fmt::format("{}: {} has no {}s that could be named", target.text, in, things),
            usdt ? "its authors put none into it" : "install its debug symbols (Debian: the package with -dbgsym)"};
  const std::string meant = did_you_mean(wanted, names);
  const bool moved = !usdt && is_part_of_libc(base_name(target.binary));
  return {fmt::format("{}: no {} of {} matches '{}'", target.text, things, in, wanted),
          moved ? fmt::format("glibc 2.34 moved the functions of {} into libc.so.6: write ufunction:libc.so.6:{}",
                              base_name(target.binary), wanted)
          : meant.empty()
              ? fmt::format("`uscope list '{}:{}'` shows what there is", form_of(target.what).name, target.binary)
              : meant};
}

TargetAnswer BinarySearch::find(const Target& target) {
  TargetAnswer answer;
  const std::vector<const ApplicationFile*> files = files_for(target);
  if (files.empty()) {
    answer.problem = no_file(target);
    return answer;
  }
  answer = find_in(target, files);
  if (answer.matches.empty()) answer.problem = no_name(target, files);
  return answer;
}

TargetAnswer BinarySearch::find_in_files(const Target& target) {
  std::vector<const ApplicationFile*> files;
  for (const ApplicationFile& file : files_)
    if (goes_by(file, target.binary)) files.push_back(&file);
  return find_in(target, files);
}

TargetAnswer BinarySearch::find_in(const Target& target, const std::vector<const ApplicationFile*>& files) {
  TargetAnswer answer;
  const symbolizer::NamePattern pattern{target.group, target.name, target.word};
  for (const ApplicationFile* file : files) {
    Open& opened = open(*file);
    if (!opened.file) continue;
    auto found = target.what == TargetClass::kUsdt
                     ? (*opened.file)->usdt_probes(pattern, may_use_nop5_)
                     : (*opened.file)->functions(pattern, with_arguments_, target.with_return);
    for (symbolizer::FoundProbe& probe : found)
      answer.matches.push_back(match_of(target, *file, opened.id, std::move(probe)));
  }
  return answer;
}

}  // namespace uscope::tracer
