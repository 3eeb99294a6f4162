// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "store/db/database.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <string>
#include <utility>

#include "store/db/reading_only.h"
#include "store/db/schema.h"
#include "store/files/trace_file.h"
#include "support/private_file.h"
#include "support/regular_file.h"
#include "support/text.h"

namespace uscope::store {
namespace {

// SQLite calls this for every action of each statement that it compiles. Anything that a read-only connection cannot do
// anyway is left to SQLite, whose messages are better.
int refuse_other_files(void*, int action, const char*, const char* second, const char*, const char*) {
  if (action == SQLITE_ATTACH || action == SQLITE_DETACH) return SQLITE_DENY;
  if (action == SQLITE_FUNCTION && second && std::string_view(second) == "load_extension") return SQLITE_DENY;
  return SQLITE_OK;
}

constexpr const char* kGive = "give a file that `uscope record` or `uscope load` has written";

// Checks whether the file is a store, before SQLite sees any of it. Returns its schema's version.
Result<std::int32_t> check_start(int file, const std::string& name) {
  const auto start = look_at_start(file);
  if (!start) return start.error().in(name);
  switch (start->kind) {
    case FileKind::kRawTrace:
      return Error{name + " is a raw trace, which has to be loaded first",
                   "uscope load " + shell_quoted(name) + " -o FILE.db"};
    case FileKind::kEmpty:
      return Error{name + " is empty", kGive};
    case FileKind::kOther:
      return Error{name + " is not a database", kGive};
    case FileKind::kForeignDatabase:
      return Error{name + " is a database, but not one of uscope's", kGive};
    case FileKind::kDatabase:
      break;
  }
  if (start->schema > kSchemaVersion || start->schema < kOldestSchema)
    return Error{fmt::format("{} was made by {} version of uscope: its schema is {}, this uscope reads {} to {}", name,
                             start->schema > kSchemaVersion ? "a newer" : "an older", start->schema, kOldestSchema,
                             kSchemaVersion),
                 start->schema > kSchemaVersion
                     ? "read it with that version, or load its raw trace with this one: `uscope load`"
                     : "load it again from its raw trace with `uscope load`, or read it with that version"};
  if (start->write_ahead_log)
    return Error{
        fmt::format("{0} is in SQLite's WAL mode: another program has written to it, and a part may be in {0}-wal",
                    name),
        fmt::format("as its owner: sqlite3 {} 'PRAGMA journal_mode=delete'", name)};
  return start->schema;
}

// When SQLite opens a file for writing, it undoes a change that was not finished. This code does not write, and ignores
// journals that others may have put next to the file.
Result<void> check_journal(int file, const std::string& name) {
  std::array<char, PATH_MAX> real{};
  const std::string self = fmt::format("/proc/self/fd/{}", file);
  const ssize_t length = ::readlink(self.c_str(), real.data(), real.size() - 1);
  struct stat own {};
  struct stat journal {};
  if (length <= 0 || ::fstat(file, &own) != 0 ||
      ::lstat((std::string(real.data()) + "-journal").c_str(), &journal) != 0)
    return {};
  const bool trusted = journal.st_uid == own.st_uid || journal.st_uid == 0 || journal.st_uid == ::geteuid();
  if (!S_ISREG(journal.st_mode) || journal.st_size == 0 || !trusted) return {};
  return Error{name + " has a journal beside it, " + name + "-journal: another program's change to it was not ended",
               "as its owner: sqlite3 " + name + " 'PRAGMA journal_mode=delete'"};
}

}  // namespace

Result<Database> Database::open(const std::filesystem::path& path) {
  auto file = open_regular(path, kGive, Leases::kBroken);
  if (!file) return file.error();
  auto temporary = open_temporary_folder();
  if (!temporary) return temporary.error();
  return open(std::move(*file), path, std::move(*temporary));
}

Result<Database> Database::open(UniqueFd file, const std::filesystem::path& path, UniqueFd temporary) {
  const std::string name = path.string();
  const auto schema = check_start(file.get(), name);
  if (!schema) return schema.error();
  if (auto fits = check_journal(file.get(), name); !fits) return fits.error();
  auto vfs = DescriptorVfs::create(file.get(), std::move(temporary), false);
  auto handle = vfs->open(name);
  if (!handle) return handle.error();
  if (auto done = harden(handle->get()); !done) return done.error();
  sqlite3_set_authorizer(handle->get(), refuse_other_files, nullptr);
  auto older = check_schema(handle->get(), name);
  if (!older) return older.error();
  Database database(std::move(file), std::move(vfs), std::move(*handle), path);
  database.schema_ = *schema;
  database.older_ = std::move(*older);
  return database;
}

std::string Database::table(std::string_view name) const {
  const auto supplied = older_.tables.find(name);
  return supplied == older_.tables.end() ? "main." + std::string(name) : "(" + supplied->second + ")";
}

Result<DatabaseWriter> DatabaseWriter::create(const std::filesystem::path& path) {
  auto place = OutputPlace::find(path, OutputKind::kDatabase);
  if (!place) return place.error();
  auto file = place->begin();
  if (!file) return file.error();
  return create(std::move(*file));
}

Result<DatabaseWriter> DatabaseWriter::begin(OutputFile file, bool is_reused) {
  // SQLite sorts in files: next to the output, unless the user has chosen a folder for that.
  auto temporary = open_sorting_folder(file.folder());
  if (!temporary) return temporary.error();
  DatabaseWriter writer(std::move(file));
  writer.vfs_ = DescriptorVfs::create(writer.file_.fd(), std::move(*temporary), true);
  auto handle = writer.vfs_->open(writer.file_.path().string());
  if (!handle) return handle.error();
  writer.handle_ = std::move(*handle);
  writer.statements_ = std::make_unique<Statements>(writer.handle(), is_reused);
  // No other process knows the file, and it is discarded unless it is complete: no waiting for the disk until the end.
  // The cache bounds memory; pages that do not fit are written early.
  auto done =
      execute(writer.handle(), fmt::format("PRAGMA page_size=8192;PRAGMA journal_mode={};PRAGMA synchronous=OFF;"
                                           "PRAGMA cache_size=-24576;PRAGMA threads=1;PRAGMA temp_store=FILE;"
                                           "BEGIN EXCLUSIVE",
                                           is_reused ? "MEMORY" : "OFF"));
  if (!done) return done.error().in(writer.file_.path().string());
  return writer;
}

Result<DatabaseWriter> DatabaseWriter::create(OutputFile file) {
  auto writer = begin(std::move(file), false);
  if (!writer) return writer;
  if (auto done = create_schema(writer->handle()); !done) return done.error().in(writer->file_.path().string());
  return writer;
}

Result<DatabaseWriter> DatabaseWriter::create_reused(int folder) {
  auto file = OutputFile::nameless(folder);
  if (!file) return file.error();
  auto writer = begin(std::move(*file), true);
  if (!writer) return writer;
  auto done = create_reused_schema(writer->handle());
  if (done) done = execute(writer->handle(), "COMMIT");
  if (!done) return done.error().in(writer->file_.path().string());
  return writer;
}

Result<void> DatabaseWriter::commit() {
  // To create an index, SQLite sorts as many rows at a time as fit into the size of its cache, and merges what was
  // sorted. Small parts, which stay in the processor's own caches, take half the time of large ones. Without a thread
  // for sorting, SQLite compares an index's columns only, and not the rows' ids too, which costs more than a second
  // thread brings.
  auto done = execute(handle_.get(), "PRAGMA threads=0;PRAGMA cache_size=-2048");
  if (done) done = create_indices(handle_.get());
  if (done) done = execute(handle_.get(), "COMMIT");
  const std::string name = file_.path().string();
  if (!done) return done.error().in(name);
  if (sqlite3_close(handle_.get()) != SQLITE_OK)
    return Error{"statements are still open on " + name, "this is a mistake in uscope: please report it"};
  (void)handle_.release();
  return file_.commit();
}

}  // namespace uscope::store
