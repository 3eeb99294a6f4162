// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/session/text_output.h"

#include <cerrno>
#include <csignal>
#include <utility>

#include "cli/session/confined_reader.h"
#include "cli/session/interruption.h"
#include "cli/session/output_owner.h"
#include "support/private_file.h"
#include "support/unique_fd.h"

namespace uscope::cli {
namespace {

using Databases = std::vector<const store::Database*>;

// Writes to a file that gets its name when it is complete. A signal ends it without a name.
Result<void> write_file(store::OutputFile file, const Databases& databases, const TextWriter& write) {
  OutputOwner owner({file.fd()});
  if (auto confined = confine_reader({file.folder()}); !confined) return confined;
  Result<void> done;
  {
    const Interruption interruption;
    constexpr int kSteps = 10'000;
    for (const store::Database* database : databases)
      sqlite3_progress_handler(
          database->handle(), kSteps, [](void*) { return Interruption::signal() != 0 ? 1 : 0; }, nullptr);
    auto stream = stream_over(file.fd());
    done = stream ? write(stream->get()) : stream.error();
    if (done)
      done = file.commit();
    else
      file.abandon();
  }
  if (done)
    owner.give();
  else if (Interruption::signal() != 0)
    std::raise(Interruption::signal());
  return done;
}

}  // namespace

Result<Stream> stream_over(int fd, const char* mode) {
  auto copy = duplicate(fd);
  if (!copy) return copy.error();
  Stream stream(fdopen(copy->get(), mode));
  if (!stream) return errno_error("cannot use the output", errno);
  (void)copy->release();
  return stream;
}

Result<void> write_text_output(const store::OutputPlace& place, const Databases& databases, const TextWriter& write) {
  if (place.stream() >= 0) {
    if (auto confined = confine_reader(); !confined) return confined;
    auto stream = stream_over(place.stream());
    return stream ? write(stream->get()) : stream.error();
  }
  for (const store::Database* database : databases)
    if (place.is(database->fd()))
      return Error{"the output is the trace itself: " + database->path().string(), "give the output another name"};
  auto file = place.begin();
  return file ? write_file(std::move(*file), databases, write) : file.error();
}

}  // namespace uscope::cli
