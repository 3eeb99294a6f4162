// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The loader and everything that reads what it made: any file as a raw trace becomes a store whose rows fit together,
// and every reader prints it without a control character. Stores are made in /dev/shm.
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "analyzer/read/event_query.h"
#include "analyzer/read/process_tree.h"
#include "analyzer/read/query.h"
#include "analyzer/read/stack_reader.h"
#include "analyzer/summary/summary.h"
#include "cli/render/events_render.h"
#include "cli/render/files_render.h"
#include "cli/render/holders_render.h"
#include "cli/render/json.h"
#include "cli/render/report_render.h"
#include "cli/render/tree_render.h"
#include "cli/render/units.h"
#include "exporters/profiles/folded.h"
#include "fuzz.h"
#include "store/db/database.h"
#include "store/loader.h"
#include "support/text.h"

namespace {

using uscope::fuzz::require;
namespace analyzer = uscope::analyzer;
namespace cli = uscope::cli;
namespace store = uscope::store;
namespace symbolizer = uscope::symbolizer;
namespace trace = uscope::trace;
namespace exporters = uscope::exporters;

// Names that depend on the address alone, some of them hostile.
class HostileNamer : public symbolizer::FrameNamer {
 public:
  std::vector<symbolizer::NamedFrame> name(const symbolizer::ModuleRequest&, std::uint64_t address,
                                           bool exact) override {
    const std::string number = std::to_string(address);
    if (address % 3 == 0) return {{"f;\x1b[31m</script>\n\xff" + number, address, "a\xe2\x80\xae.c", 7, false}};
    if (address % 3 == 1)
      return {{"inlined" + number, std::nullopt, "b.c", 1, true}, {"f" + number, address, "", 0, false}};
    return {{"module+0x" + number, exact ? std::optional(address) : std::nullopt, "", 0, false}};
  }
};

struct Folder {
  Folder() {
    std::string name = "/dev/shm/uscope-fuzz-XXXXXX";
    require(::mkdtemp(name.data()) != nullptr, "a folder in /dev/shm");
    path = name;
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

void require_harmless(const std::string& text) {
  for (std::size_t i = 0; i < text.size(); i++) {
    const auto byte = static_cast<unsigned char>(text[i]);
    require(byte == '\n' || (byte >= 0x20 && byte != 0x7f), "no control character is printed");
    require(byte == '\n' || uscope::unsafe_length(std::string_view(text).substr(i)) == 0,
            "no character that turns the direction of writing is printed");
  }
}

void require_json(const std::string& text) {
  require_harmless(text);
  require(nlohmann::json::accept(text), "JSON is valid");
  require(text.find('<') == std::string::npos, "JSON can stand in a web page");
}

template <typename T>
T whole(uscope::Result<T> result) {
  require(static_cast<bool>(result), result ? "" : result.error().what);
  return std::move(*result);
}

std::int64_t number(const store::Database& database, const char* sql) {
  std::int64_t value = 0;
  auto done = analyzer::each_row(database, sql, [&](const analyzer::SqlRow& row) { value = row.integer(0); });
  require(static_cast<bool>(done), done ? "" : done.error().what);
  return value;
}

void check_rows(const store::Database& database, const store::LoadSummary& loaded) {
  const auto events = static_cast<std::int64_t>(loaded.events);
  require(number(database, "SELECT count(*) FROM event") == events, "events are as many as the summary says");
  require(number(database, "SELECT count(*) FROM v_event") == events, "the view has every event once");
  require(number(database, "SELECT coalesce(sum(events), 0) FROM cell") == events, "cells add up to the events");
  require(number(database, "SELECT count(*) FROM pragma_foreign_key_check") == 0, "no row refers to nowhere");
  require(
      number(database, "SELECT value FROM meta WHERE key = 'ordered'") == 0 ||
          number(database, "SELECT count(*) FROM event a JOIN event b ON b.id = a.id + 1 WHERE b.ts_ns < a.ts_ns") == 0,
      "ids rise with time where the store says so");
}

void read_everything(const store::Database& database) {
  for (const std::size_t lines : {std::size_t{0}, std::size_t{2}}) {
    const auto summary = whole(analyzer::summarize(database, {.lines = lines}));
    require_harmless(cli::report_text(summary, "a.db", 80));
    require_json(cli::report_json(summary));
  }
  const auto tree = whole(analyzer::build_tree(database));
  require_harmless(cli::tree_text(tree, true, 80));
  require_json(cli::tree_json(tree));
  auto stacks = whole(analyzer::StackReader::create(database));
  std::uint64_t events = 0;
  auto done = analyzer::for_each_event(database, {}, [&](const analyzer::EventRow& event) {
    events++;
    require_harmless(cli::event_text(event, cli::seconds(event.ts_ns)));
    require_json(cli::dump(cli::event_json(event, event.ts_ns), false));
    if (!event.stack_id) return true;
    const auto* frames = whole(stacks.frames(*event.stack_id));
    require_harmless(cli::frames_text(*frames, event));
    require_json(cli::dump(cli::frames_json(*frames), false));
    return true;
  });
  require(done && events == static_cast<std::uint64_t>(number(database, "SELECT count(*) FROM event")),
          "every event is listed");
  const auto catalog = whole(analyzer::read_catalog(database));
  const auto files = whole(analyzer::read_files(database, catalog, {.callers = true}));
  const auto held = whole(analyzer::read_holders(database, catalog, {}));
  require_harmless(cli::files_text(files, {"first", "first", true, true}, held, 80));
  require_harmless(cli::left_open_text(held, 80));
  require_json(cli::files_json(files, true, held, nullptr));
  require(files.all.calls <= events, "a call is about one object");
  const auto folded =
      whole(exporters::fold_stacks(database, catalog, {.levels = {.pid = true, .thread = true, .call = true}},
                                   [](const std::string& line, std::uint64_t) {
                                     require(line.find('\n') == std::string::npos, "a folded stack is one line");
                                     require_harmless(line);
                                   }));
  require(folded.events == events, "every event is folded");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Folder folder;
  const uscope::UniqueFd file = uscope::fuzz::as_file({data, size});
  const auto path = folder.path / "fuzz.db";
  store::LoadOptions options;
  options.namer = std::make_unique<HostileNamer>();
  auto loaded = store::load("/proc/self/fd/" + std::to_string(file.get()), path, options);
  if (!loaded) {
    require(!loaded.error().what.empty(), "an error says what it is");
    require(std::filesystem::is_empty(folder.path), "a load that fails leaves nothing");
    return 0;
  }
  {
    const auto database = whole(store::Database::open(path));
    check_rows(database, *loaded);
    read_everything(database);
  }
  std::filesystem::remove(path);
  return 0;
}
