#include "cli/export.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <memory>

#include "cli/output.h"
#include "store/database.h"
#include "support/text.h"
#include "support/unique_fd.h"

namespace uscope::cli {
namespace {

struct StreamCloser {
  void operator()(std::FILE* stream) const { std::fclose(stream); }
};
using Stream = std::unique_ptr<std::FILE, StreamCloser>;

// A new file of mode 0600 beside `path`, to be renamed when complete.
Result<Stream> create_part(const std::string& part) {
  ::unlink(part.c_str());
  UniqueFd fd(::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) return errno_error("cannot create " + part, errno);
  Stream stream(fdopen(fd.get(), "w"));
  if (!stream) return errno_error("cannot write " + part, errno);
  (void)fd.release();
  return stream;
}

Result<void> write_folded(const ExportOptions& options, std::FILE* stream) {
  auto database = store::Database::open(options.file);
  if (!database) return database.error();
  Output out(stream);
  auto totals = analyzer::fold_stacks(*database, options.folded, [&](const std::string& stack, std::uint64_t weight) {
    out.write(to_utf8(stack) + " " + std::to_string(weight) + "\n");
  });
  if (!totals) return totals.error();
  if (totals->events_left_out > 0)
    std::fprintf(stderr, "uscope: %s of %s events have no duration (they never returned) and no weight here\n",
                 group_digits(totals->events_left_out).c_str(),
                 group_digits(totals->events + totals->events_left_out).c_str());
  return out.finish();
}

}  // namespace

void add_export(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App* verb = app.add_subcommand("export", "a trace in the formats of other tools");
  verb->add_option("FILE.db", options->file, "a trace that `uscope record` or `uscope load` has written")->required();
  verb->add_option("--format", "folded: process;root;…;leaf and a number, for flame graphs")
      ->check(CLI::IsMember({"folded"}))
      ->default_str("folded");
  verb->add_option_function<std::string>(
          "--weight",
          [options](const std::string& weight) {
            options->folded.weight = weight == "time" ? analyzer::FoldedWeight::kTime : analyzer::FoldedWeight::kEvents;
          },
          "what the number counts: events, or nanoseconds inside the calls")
      ->check(CLI::IsMember({"events", "time"}))
      ->default_str("events");
  verb->add_flag("--with-call", options->folded.with_call, "the system call as the innermost frame");
  verb->add_option("-o,--output", options->output, "write to this file instead of standard output")->type_name("FILE");
  verb->callback([options, &invocation] { invocation.run = [options] { return run_export(*options); }; });
}

Result<int> run_export(const ExportOptions& options) {
  if (options.output.empty()) {
    auto done = write_folded(options, stdout);
    if (!done) return done.error();
    return 0;
  }
  const std::string part = options.output.string() + ".part";
  auto stream = create_part(part);
  if (!stream) return stream.error();
  auto done = write_folded(options, stream->get());
  if (done && std::fclose(stream->release()) != 0) done = errno_error("cannot write " + part, errno);
  if (done && ::rename(part.c_str(), options.output.c_str()) != 0)
    done = errno_error("cannot create " + options.output.string(), errno);
  if (done) return 0;
  ::unlink(part.c_str());
  return done.error();
}

}  // namespace uscope::cli
