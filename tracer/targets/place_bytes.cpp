// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/targets/place_bytes.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "support/regular_file.h"
#include "tracer/process/process_list.h"
#include "tracer/scouts/code_look.h"

namespace uscope::tracer {
namespace {

bool is_asked_for(const TargetMatch& match) {
  return match.why_not.empty() && !match.probe.path.empty();
}

// The places of all matches, by file.
std::map<std::string, std::vector<std::uint64_t>> places_by_path(const std::vector<TargetAnswer>& answers) {
  std::map<std::string, std::vector<std::uint64_t>> files;
  for (const TargetAnswer& answer : answers)
    for (const TargetMatch& match : answer.matches) {
      if (!is_asked_for(match)) continue;
      const std::vector<std::uint64_t> places = all_places(match.probe);
      auto& of_file = files[match.probe.path];
      of_file.insert(of_file.end(), places.begin(), places.end());
    }
  return files;
}

std::string reason(const CodeFinding& finding) {
  if (finding.what == CodeFinding::What::kDebugged)
    return fmt::format("process {} ({}) is debugged, and the probe would hide a breakpoint there", finding.pid,
                       name_of(finding.pid));
  if (finding.what == CodeFinding::What::kTranslated)
    return fmt::format(
        "process {} ({}) translates the code instead of executing it, as valgrind does, and would translate the probe",
        finding.pid, name_of(finding.pid));
  if (finding.what == CodeFinding::What::kOwnBreakpoint)
    return fmt::format(
        "process {} ({}) has a breakpoint of its own there (or one that another tracer has put into it alone, or that "
        "was left over when a tracer was killed: then restart the process), and the probe would hide it",
        finding.pid, name_of(finding.pid));
  if (finding.what == CodeFinding::What::kCopyChanged)
    return fmt::format(
        "process {} ({}) has changed a copy of the file there, which it does not execute, and the probe "
        "would change that, too",
        finding.pid, name_of(finding.pid));
  return fmt::format("process {} ({}) has changed its code there, so the file does not have what it executes",
                     finding.pid, name_of(finding.pid));
}

// That is not the user's risk alone, so it cannot be forced.
void refuse_all(const std::string& why, std::vector<TargetAnswer>& answers) {
  for (TargetAnswer& answer : answers)
    for (TargetMatch& match : answer.matches)
      if (is_asked_for(match)) match.why_not = why;
}

}  // namespace

void refuse_changed_code(Scouts* scouts, std::vector<TargetAnswer>& answers) {
  std::vector<std::string> paths;
  std::vector<CodeFile> files;
  for (auto& [path, places] : places_by_path(answers)) {
    const auto fd = open_regular(path, "");
    struct stat status {};
    if (!fd || fstat(fd->get(), &status) != 0) continue;
    paths.push_back(path);
    files.push_back(read_code(fd->get(), status, std::move(places)));
  }
  if (files.empty()) return;
  CodeLook look(scouts, std::move(files), running_processes(), false);
  look.finish();
  if (!look.silent().empty()) return refuse_all(why_silent(look.silent().front()), answers);
  std::map<std::pair<std::string, std::uint64_t>, CodeFinding> found;
  for (const CodeFinding& finding : look.take())
    found.emplace(std::pair(paths.at(finding.file), finding.offset), finding);
  if (found.empty()) return;
  for (TargetAnswer& answer : answers)
    for (TargetMatch& match : answer.matches) {
      if (!is_asked_for(match)) continue;
      for (const std::uint64_t place : all_places(match.probe)) {
        const auto at = found.find({match.probe.path, place});
        if (at == found.end()) continue;
        match.why_not = reason(at->second);
        match.can_be_forced = true;
        break;
      }
    }
}

}  // namespace uscope::tracer
