#include "cli/doctor.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "support/text.h"
#include "tracer/preflight.h"

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

void print_json(const tracer::BackendReport& report, Output& out) {
  nlohmann::json checks = nlohmann::json::array();
  for (const tracer::Check& check : report.checks)
    checks.push_back({{"name", check.name},
                      {"ok", check.ok},
                      {"found", to_utf8(check.found)},
                      {"remedy", check.ok ? "" : to_utf8(check.remedy)}});
  const nlohmann::json backend = {{"backend", report.backend}, {"usable", report.usable}, {"checks", checks}};
  out.write(nlohmann::json({{"backends", nlohmann::json::array({backend})}}).dump(2) + "\n");
}

}  // namespace

void add_doctor(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<DoctorOptions>();
  CLI::App* verb = app.add_subcommand("doctor", "tell which backend can run here, and what is missing");
  add_format(*verb, options->format);
  verb->callback([options, &invocation] { invocation.run = [options] { return run_doctor(*options); }; });
}

Result<int> run_doctor(const DoctorOptions& options) {
  const tracer::BackendReport report = tracer::examine_bpf();
  Output out(stdout);
  if (options.format == Format::kJson)
    print_json(report, out);
  else
    print_text(report, out);
  if (auto done = out.finish(); !done) return done.error();
  return report.usable ? 0 : kNothingUsable;
}

}  // namespace uscope::cli
