// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/verbs/doctor.h"

#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/verbs/shared_options.h"
#include "support/text.h"
#include "tracer/preflight/preflight.h"

namespace uscope::cli {
namespace {

constexpr int kNothingUsable = 1;

void print_text(const tracer::BackendReport& report, Output& out) {
  out.write("backend " + report.backend + ": " + (report.usable ? "can run here" : "cannot run here") + "\n");
  for (const tracer::Check& check : report.checks) {
    out.write(std::string(check.ok ? "  ok       " : "  MISSING  ") + check.name + ": " + escape_terminal(check.found) +
              "\n");
    if (!check.ok && !check.remedy.empty()) out.write("           " + escape_terminal(check.remedy) + "\n");
  }
}

nlohmann::json to_json(const tracer::BackendReport& report) {
  nlohmann::json checks = nlohmann::json::array();
  for (const tracer::Check& check : report.checks)
    checks.push_back({{"name", check.name},
                      {"ok", check.ok},
                      {"found", to_utf8(check.found)},
                      {"remedy", check.ok ? "" : to_utf8(check.remedy)}});
  return {{"backend", report.backend}, {"usable", report.usable}, {"checks", checks}};
}

}  // namespace

void add_doctor(CommandLine& line) {
  auto options = std::make_shared<DoctorOptions>();
  Verb* verb = line.add_verb("doctor", "show which backend can run here, and what is missing");
  add_format(*verb, options->format);
  verb->runs([options] { return run_doctor(*options); });
}

Result<int> run_doctor(const DoctorOptions& options) {
  const std::array<tracer::BackendReport, 2> reports = {tracer::examine_bpf(), tracer::examine_kmod()};
  Output out(stdout);
  if (options.format == Format::kJson) {
    const nlohmann::json backends = {to_json(reports[0]), to_json(reports[1])};
    out.write(nlohmann::json({{"backends", backends}}).dump(2) + "\n");
  } else {
    for (const tracer::BackendReport& report : reports) print_text(report, out);
  }
  if (auto done = out.finish(); !done) return done.error();
  return reports[0].usable || reports[1].usable ? 0 : kNothingUsable;
}

}  // namespace uscope::cli
