// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/verbs/doctor.h"

#include <fmt/core.h>

#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "cli/render/json.h"
#include "cli/session/installation.h"
#include "cli/session/nearby_traces.h"
#include "cli/terminal/paint.h"
#include "cli/verbs/shared_options.h"
#include "support/text.h"
#include "tracer/preflight/preflight.h"

namespace uscope::cli {
namespace {

constexpr int kNothingUsable = 1;

std::string backend_text(const tracer::BackendReport& report, Paint paint) {
  std::string out = paint(Ink::kHeading, "backend " + report.backend) + ": " +
                    (report.usable ? "can run here" : paint(Ink::kBad, "cannot run here")) + "\n";
  for (const tracer::Check& check : report.checks) {
    out += fmt::format("  {}  {}: {}\n", check.ok ? "ok     " : paint(Ink::kBad, "MISSING"), check.name,
                       escape_terminal(check.found));
    if (!check.ok && !check.remedy.empty()) out += "           " + escape_terminal(check.remedy) + "\n";
  }
  return out;
}

std::string origin_text(const Installation& installation) {
  switch (installation.origin) {
    case Origin::kPackage:
      return "from the package " + installation.program.note;
    case Origin::kTarball:
      return "from an unpacked tarball";
    case Origin::kBuildTree:
      return "in the tree in which it was built";
    default:
      return "not from a package: put there by `cmake --install`, or copied";
  }
}

std::string_view origin_name(Origin origin) {
  switch (origin) {
    case Origin::kPackage:
      return "package";
    case Origin::kTarball:
      return "tarball";
    case Origin::kBuildTree:
      return "build_tree";
    default:
      return "files";
  }
}

std::string part_text(const char* name, const Part& part) {
  const std::string note = part.path.empty() || part.note.empty() ? part.note : " (" + part.note + ")";
  return fmt::format("  {:<14}  {}{}\n", name, escape_terminal(part.path), escape_terminal(note));
}

std::string installation_text(const Installation& found, Paint paint) {
  std::string out = fmt::format("{}: uscope {}, {}\n", paint(Ink::kHeading, "installation"), found.version,
                                escape_terminal(origin_text(found)));
  out += part_text("program", {found.program.path, ""});
  for (const std::string& other : found.others) out += part_text("also in PATH", {other, "another file"});
  for (const std::string& package : found.packages) out += part_text("package", {package, ""});
  return out + part_text("tapset", found.tapset) + part_text("kernel module", found.module) +
         part_text("its sources", found.module_sources);
}

std::string reads_text(const NearbyTraces& found) {
  return fmt::format("this uscope reads databases of schema {} to {} and raw traces with records of version {} to {}",
                     found.oldest_schema, found.schema, found.oldest_record_abi, found.record_abi);
}

std::string remedy(const UnreadableTrace& trace) {
  if (trace.is_newer) return "a newer uscope made it: read it with that one";
  return trace.is_raw ? "an older uscope made it: load it with uscope " USC_RECORD_ABI_READER
                      : "an older uscope made it: load it again from its raw trace, or read it with that one";
}

std::string traces_text(const NearbyTraces& found, Paint paint) {
  std::string folders;
  for (const std::string& folder : found.folders) folders += (folders.empty() ? "" : ", ") + escape_terminal(folder);
  std::string out =
      fmt::format("{}: {} in {}{}\n  {}\n", paint(Ink::kHeading, "traces"), plural(found.readable, "readable file"),
                  folders, found.all ? "" : ", of which not all files were looked at", reads_text(found));
  for (const UnreadableTrace& trace : found.unreadable)
    out += fmt::format("  {}  {}: {} {}\n         {}\n", paint(Ink::kBad, trace.is_newer ? "NEWER" : "OLDER"),
                       escape_terminal(trace.path),
                       trace.is_raw ? "a raw trace with records of version" : "a database of schema", trace.version,
                       remedy(trace));
  return out;
}

using Json = nlohmann::ordered_json;

Json json_of(const tracer::BackendReport& report) {
  Json checks = Json::array();
  for (const tracer::Check& check : report.checks)
    checks.push_back({{"name", check.name},
                      {"ok", check.ok},
                      {"found", to_utf8(check.found)},
                      {"remedy", check.ok ? "" : to_utf8(check.remedy)}});
  return {{"backend", report.backend}, {"usable", report.usable}, {"checks", checks}};
}

Json json_of(const Part& part) {
  return {{"path", part.path.empty() ? Json() : Json(trace_text(part.path))}, {"note", trace_text(part.note)}};
}

Json json_of(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(trace_text(text));
  return list;
}

Json json_of(const Installation& found) {
  return {{"version", found.version},          {"origin", origin_name(found.origin)},
          {"program", json_of(found.program)}, {"packages", json_of(found.packages)},
          {"others", json_of(found.others)},   {"tapset", json_of(found.tapset)},
          {"module", json_of(found.module)},   {"module_sources", json_of(found.module_sources)}};
}

Json json_of(const NearbyTraces& found) {
  Json unreadable = Json::array();
  for (const UnreadableTrace& trace : found.unreadable)
    unreadable.push_back({{"path", trace_text(trace.path)},
                          {"kind", trace.is_raw ? "raw" : "database"},
                          {"version", trace.version},
                          {"newer", trace.is_newer}});
  return {{"folders", json_of(found.folders)},
          {"all", found.all},
          {"schema_oldest", found.oldest_schema},
          {"schema", found.schema},
          {"record_abi_oldest", found.oldest_record_abi},
          {"record_abi", found.record_abi},
          {"readable", found.readable},
          {"unreadable", unreadable}};
}

void define_doctor(Verb& verb) {
  auto options = std::make_shared<DoctorOptions>();
  add_format(verb, options->format);
  add_color(verb);
  verb.runs([options] { return run_doctor(*options); });
}

}  // namespace

void add_doctor(CommandLine& line) {
  line.add_verb("doctor",
                "show which backend can run here and what is missing, how uscope is installed, and traces "
                "that it does not read",
                define_doctor);
}

Result<int> run_doctor(const DoctorOptions& options) {
  const std::array<tracer::BackendReport, 2> reports = {tracer::examine_bpf(), tracer::examine_kmod()};
  const Installation installation = examine_installation();
  const NearbyTraces traces = look_for_traces(usual_folders());
  Output out(stdout);
  if (options.format == Format::kJson) {
    const Json backends = {json_of(reports[0]), json_of(reports[1])};
    out.write(dump({{"backends", backends}, {"installation", json_of(installation)}, {"traces", json_of(traces)}}) +
              "\n");
  } else {
    const Paint paint = paint_for(stdout);
    for (const tracer::BackendReport& report : reports) out.write(backend_text(report, paint));
    out.write(installation_text(installation, paint) + traces_text(traces, paint));
  }
  if (auto done = out.finish(); !done) return done.error();
  return reports[0].usable || reports[1].usable ? 0 : kNothingUsable;
}

}  // namespace uscope::cli
