// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/verbs/load.h"

#include <fmt/core.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/render/json.h"
#include "cli/render/units.h"
#include "cli/session/confined_load.h"
#include "cli/session/output_owner.h"
#include "cli/session/record_outputs.h"
#include "cli/terminal/status_line.h"
#include "cli/verbs/shared_options.h"
#include "store/loader.h"
#include "support/text.h"

namespace uscope::cli {
namespace {

constexpr std::uint64_t kProgressSteps = 1000;

using Client = std::optional<symbolizer::Debuginfod>;

std::string load_text(const store::LoadSummary& loaded, const Client& debuginfod, const std::string& output,
                      const store::OutputPlace& place) {
  std::string text = plural(loaded.events, "event") + ", " + group_digits(loaded.lost) + " lost, " +
                     plural(loaded.processes, "process") + " -> " + escape_terminal(output) + replaced_text(place) +
                     "\n";
  if (loaded.lost_beside) text += lost_beside_text(loaded.lost_beside) + "\n";
  if (!loaded.complete) text += "  the raw trace breaks off: its recording was not ended in order\n";
  if (loaded.damaged_bytes)
    text += fmt::format("  {} of it {} damaged\n", plural(loaded.damaged_bytes, "byte"),
                        loaded.damaged_bytes == 1 ? "is" : "are");
  if (debuginfod) text += "  " + escape_terminal(debuginfod_text(debuginfod->figures())) + "\n";
  return text;
}

std::string load_json(const store::LoadSummary& loaded, const Client& debuginfod, const std::string& output) {
  nlohmann::ordered_json json = {{"output", json_value(output)},      {"events", loaded.events},
                                 {"stacks", loaded.stacks},           {"processes", loaded.processes},
                                 {"threads", loaded.threads},         {"lost", loaded.lost},
                                 {"lost_beside", loaded.lost_beside}, {"damaged_bytes", loaded.damaged_bytes},
                                 {"complete", loaded.complete}};
  if (debuginfod) json["debuginfod"] = debuginfod_json(debuginfod->figures());
  return dump(json) + "\n";
}

void define_load(Verb& verb) {
  auto options = std::make_shared<LoadVerbOptions>();
  verb.add_option("RAW", options->raw,
                  "a raw trace: of `uscope record --keep-raw`, or the .raw.part of a recording that was killed")
      ->required();
  verb.add_option("-o,--output", options->output, "the database to write")->type_name("FILE.db")->required();
  verb.add_flag("--force", options->force, "also replace a file that is not a database of uscope's");
  add_format(verb, options->format);
  add_debuginfod(verb, options->debuginfod);
  verb.runs([options] { return run_load(*options); });
}

}  // namespace

void add_load(CommandLine& line) {
  line.add_verb("load", "symbolise a raw trace and load it into a database", define_load);
}

Result<int> run_load(const LoadVerbOptions& options) {
  auto debuginfod = open_debuginfod(options.debuginfod);
  if (!debuginfod) return debuginfod.error();
  StatusLine status(stderr);
  store::LoadOptions how;
  how.progress = [&status](double fraction) {
    status.progress("loading", static_cast<std::uint64_t>(fraction * static_cast<double>(kProgressSteps)),
                    kProgressSteps);
  };
  if (*debuginfod) how.fetch_debug_file = [&](const std::string& build_id) { return (*debuginfod)->fetch(build_id); };
  auto raw = trace::RawReader::open(options.raw);
  if (!raw) return raw.error();
  auto place = store::OutputPlace::find(options.output, store::OutputKind::kDatabase, options.force);
  if (!place) return place.error();
  if (place->is(raw->fd()))
    return Error{"the output is the raw trace itself: " + options.raw.string(), "give another name with -o"};
  auto database = place->begin();
  if (!database) return database.error();
  OutputOwner owner({database->fd()});
  const ConfinedLoad where{options.raw, options.output, {place->folder()}, debuginfod->has_value()};
  auto loaded = load_confined(where, std::move(*raw), std::move(*database), std::move(how), status);
  if (!loaded) return loaded.error();
  owner.give();
  Output out(stdout);
  const std::string output = options.output.string();
  out.write(options.format == Format::kText ? load_text(*loaded, *debuginfod, output, *place)
                                            : load_json(*loaded, *debuginfod, output));
  if (auto done = out.finish(); !done) return done.error();
  return 0;
}

}  // namespace uscope::cli
