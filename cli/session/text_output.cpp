// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/session/text_output.h"

#include <cerrno>
#include <utility>

#include "cli/session/confined_reader.h"
#include "cli/session/interruption.h"
#include "cli/session/output_owner.h"
#include "store/files/output_folder.h"
#include "support/end_signals.h"
#include "support/private_file.h"
#include "support/unique_fd.h"

namespace uscope::cli {
namespace {

using Databases = std::vector<const store::Database*>;

// Calls `write`, which a signal ends, and gives what it has written to the caller, or ends by that signal.
template <typename Write>
Result<void> write_until_signal(OutputOwner& owner, const Databases& databases, const Write& write) {
  Result<void> done;
  {
    const Interruption interruption;
    constexpr int kSteps = 10'000;
    for (const store::Database* database : databases)
      sqlite3_progress_handler(
          database->handle(), kSteps, [](void*) { return Interruption::signal() != 0 ? 1 : 0; }, nullptr);
    done = write();
  }
  if (done)
    owner.give();
  else if (Interruption::signal() != 0)
    end_by_signal(Interruption::signal());
  return done;
}

// Writes to a file that gets its name when it is complete. A signal ends it without a name.
Result<void> write_file(store::OutputFile file, const Databases& databases, const TextWriter& write) {
  OutputOwner owner({file.fd()});
  if (auto confined = confine_reader({file.folder()}); !confined) return confined;
  return write_until_signal(owner, databases, [&]() -> Result<void> {
    auto stream = stream_over(file.fd());
    auto done = stream ? write(stream->get()) : stream.error();
    if (done) return file.commit();
    file.abandon();
    return done;
  });
}

Result<void> write_and_commit(std::vector<store::OutputFile>& files, const FilesWriter& write) {
  std::vector<Stream> streams;
  for (const store::OutputFile& file : files) {
    auto stream = stream_over(file.fd());
    if (!stream) return stream.error();
    streams.push_back(std::move(*stream));
  }
  auto done = write(streams);
  for (store::OutputFile& file : files)
    if (done) done = file.commit();
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

Result<void> write_folder_output(const std::filesystem::path& path, const Databases& databases,
                                 const std::vector<std::string>& names, const FilesWriter& write) {
  auto folder = store::OutputFolder::make(path);
  if (!folder) return folder.error();
  std::vector<store::OutputFile> files;
  std::vector<int> made{folder->fd()};
  for (const std::string& name : names) {
    auto file = folder->begin(name);
    if (!file) return file.error();
    made.push_back(file->fd());
    files.push_back(std::move(*file));
  }
  OutputOwner owner(made);
  if (auto confined = confine_reader({folder->parent(), folder->fd()}); !confined) return confined;
  return write_until_signal(owner, databases, [&]() -> Result<void> {
    auto done = write_and_commit(files, write);
    if (done) {
      folder->keep();
    } else {
      for (store::OutputFile& file : files) file.abandon();
      folder->abandon();
    }
    return done;
  });
}

}  // namespace uscope::cli
