// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/verbs/raw.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <utility>

#include "cli/render/raw_render.h"
#include "cli/session/confined_reader.h"
#include "cli/terminal/output.h"
#include "cli/terminal/pager.h"
#include "cli/verbs/shared_options.h"
#include "support/private_file.h"
#include "trace/raw_reader.h"
#include "trace/record_fields.h"

namespace uscope::cli {
namespace {

constexpr const char* kInput = "standard input";

// Copies a pipe into a temporary file without a name, since the reader moves back and forth in its file.
Result<UniqueFd> copy_input() {
  auto folder = open_temporary_folder();
  if (!folder) return folder.error();
  auto file = open_nameless(folder->get());
  if (!file) return file.error();
  std::vector<char> buffer(std::size_t{1} << 16);
  for (;;) {
    const ssize_t count = read(STDIN_FILENO, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno_error("cannot read standard input", errno, "give a file: uscope raw FILE");
    if (count == 0) return file;
    for (ssize_t done = 0; done < count;) {
      const ssize_t written = write(file->get(), buffer.data() + done, static_cast<std::size_t>(count - done));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0)
        return errno_error("cannot copy standard input to a temporary file", errno,
                           "give a file instead (uscope raw FILE), or set TMPDIR to a folder with more room");
      done += written;
    }
  }
}

Result<trace::RawReader> open_input() {
  struct stat status {};
  if (fstat(STDIN_FILENO, &status) != 0)
    return errno_error("cannot read standard input", errno, "give a file: uscope raw FILE");
  auto file = S_ISREG(status.st_mode) ? duplicate(STDIN_FILENO) : copy_input();
  if (!file) return file.error();
  return trace::RawReader::open(std::move(*file), kInput);
}

// Prints records until the file ends or `most` of them have been printed.
class RawPrinter {
 public:
  RawPrinter(const RawOptions& options, trace::RawReader& reader) : options_(options), reader_(reader) {
    reader_.on_gap(
        [this](const trace::RawGap& gap) { out_.write(options_.json ? raw_gap_json(gap) : raw_gap_text(gap)); });
  }

  Result<void> run() {
    const usc_raw_header& header = reader_.header();
    out_.write(options_.json ? raw_header_json(header) : raw_header_text(header));
    std::uint64_t records = 0;
    std::uint64_t shown = 0;
    trace::RawRecord record;
    while (!out_.has_no_reader() && (!options_.most || shown < *options_.most)) {
      auto more = reader_.next(record);
      if (!more) return more.error();
      if (!*more) break;
      records++;
      if (!is_wanted(record)) continue;
      shown++;
      out_.write(options_.json ? raw_record_json(record) : raw_record_text(record));
    }
    if (!options_.json) out_.write(raw_totals_text(records, shown, reader_.damage()));
    return out_.finish();
  }

 private:
  [[nodiscard]] bool is_wanted(const trace::RawRecord& record) const {
    const auto& types = options_.types;
    return types.empty() ||
           std::find(types.begin(), types.end(), trace::record_type_name(record.head.type)) != types.end();
  }

  const RawOptions& options_;
  trace::RawReader& reader_;
  Output out_{stdout};
};

void define_raw(Verb& verb) {
  auto options = std::make_shared<RawOptions>();
  verb.add_option("RAW", options->file, "a raw trace of `uscope record --keep-raw`; - reads standard input")
      ->required();
  verb.add_option("--type", options->types, "only records of this type; may be given several times")
      ->one_of(trace::record_type_names())
      ->type_name("TYPE");
  take_number(verb.add_option("-n,--limit", options->most, "stop after this many records"), 0, kMostNumber)
      ->type_name("N");
  verb.add_flag("--json", options->json, "print a JSON object a line");
  add_no_pager(verb);
  verb.runs([options] { return run_raw(*options); });
}

}  // namespace

void add_raw(CommandLine& line) {
  line.add_verb("raw", "print the records of a raw trace, one a line, for debugging", define_raw);
}

Result<int> run_raw(const RawOptions& options) {
  const Pager pager;
  auto reader = options.file == "-" ? open_input() : trace::RawReader::open(options.file);
  if (!reader) return reader.error();
  if (auto confined = confine_reader(); !confined) return confined.error();
  if (auto done = RawPrinter(options, *reader).run(); !done) return done.error();
  return 0;
}

}  // namespace uscope::cli
