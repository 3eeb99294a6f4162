#include "store/database.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "store/schema.h"
#include "uscope/record.h"

namespace uscope::store {
namespace {

// A name that starts with "file:" would be a URI to SQLite where URIs are on by default.
std::string sqlite_name(const std::filesystem::path& path) {
  return path.is_absolute() ? path.string() : "./" + path.string();
}

// SQLite asks this of every statement that it compiles. What a read-only connection cannot do anyway is left to SQLite,
// whose messages are better.
int authorize(void*, int action, const char*, const char* second, const char*, const char*) {
  if (action == SQLITE_ATTACH || action == SQLITE_DETACH) return SQLITE_DENY;
  if (action == SQLITE_FUNCTION && second && std::string_view(second) == "load_extension") return SQLITE_DENY;
  return SQLITE_OK;
}

Result<void> harden(sqlite3* database) {
  constexpr std::array<std::pair<int, int>, 5> kSettings{{{SQLITE_DBCONFIG_DEFENSIVE, 1},
                                                          {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                                                          {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
                                                          {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                                                          {SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0}}};
  for (const auto& [setting, value] : kSettings)
    if (sqlite3_db_config(database, setting, value, nullptr) != SQLITE_OK)
      return Error{"this SQLite refuses the setting " + std::to_string(setting), "use SQLite 3.31 or later"};
  sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_set_authorizer(database, authorize, nullptr);
  return {};
}

Result<std::int64_t> pragma(sqlite3* database, const char* name) {
  auto query = Statement::prepare(database, std::string("PRAGMA ") + name);
  if (!query) return query.error();
  auto row = query->step();
  if (!row) return row.error();
  return *row ? query->integer(0) : 0;
}

Result<void> check_identity(sqlite3* database, const std::string& name) {
  auto application = pragma(database, "application_id");
  if (!application) {
    if ((sqlite3_errcode(database) & 0xff) == SQLITE_NOTADB)
      return Error{name + " is not a database", "give a file that `uscope record` or `uscope load` has written"};
    return application.error().in(name);
  }
  auto version = pragma(database, "user_version");
  if (!version) return version.error().in(name);
  if (*application != kApplicationId)
    return Error{name + " is a database, but not one of uscope's",
                 "give a file that `uscope record` or `uscope load` has written"};
  if (*version != kSchemaVersion)
    return Error{name + " was made by another version of uscope: its schema is " + std::to_string(*version) +
                     ", this uscope reads " + std::to_string(kSchemaVersion),
                 "load it again from its raw trace with `uscope load`"};
  return {};
}

// Whether it is a file at all, and none of those that are easily taken for a store.
Result<void> look_at(const std::filesystem::path& path) {
  constexpr const char* kGive = "give a file that `uscope record` or `uscope load` has written";
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file)
    return errno_error(
        "cannot open " + path.string(), errno,
        errno == EACCES ? "read it as its owner, or as root: a trace is readable by its owner only" : kGive);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return errno_error("cannot look at " + path.string(), errno);
  if (!S_ISREG(status.st_mode)) return Error{path.string() + " is not a regular file", kGive};
  if (status.st_size == 0) return Error{path.string() + " is empty", kGive};
  // SQLite itself takes a file of a few bytes for an empty database.
  std::array<char, 16> start{};
  const ssize_t read = ::pread(file.get(), start.data(), start.size(), 0);
  if (read < 0) return errno_error("cannot read " + path.string(), errno);
  std::uint64_t magic = 0;
  std::memcpy(&magic, start.data(), sizeof(magic));
  if (magic == USC_RAW_MAGIC)
    return Error{path.string() + " is a raw trace, which has to be loaded first",
                 "uscope load " + path.string() + " -o FILE.db"};
  if (std::string_view(start.data(), start.size()) != std::string_view("SQLite format 3\0", 16))
    return Error{path.string() + " is not a database", kGive};
  return {};
}

// Opens without waiting, and only what is ours: a file of this user that no living writer has locked.
bool remove_stale(const std::filesystem::path& part) {
  const UniqueFd old(::open(part.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (!old || ::fstat(old.get(), &status) != 0) return false;
  if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid()) return false;
  return ::flock(old.get(), LOCK_EX | LOCK_NB) == 0 && ::unlink(part.c_str()) == 0;
}

Result<UniqueFd> create_part(const std::filesystem::path& part) {
  for (int attempt = 0; attempt < 2; attempt++) {
    UniqueFd file(::open(part.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (file) {
      if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) return errno_error("cannot lock " + part.string(), errno);
      return file;
    }
    if (errno != EEXIST) return errno_error("cannot create " + part.string(), errno);
    if (!remove_stale(part)) break;
  }
  return Error{part.string() + " exists and is in use, or is not a file of this user",
               "wait for the other uscope, remove the file, or write elsewhere"};
}

}  // namespace

Result<Database> Database::open(const std::filesystem::path& path) {
  if (auto fits = look_at(path); !fits) return fits.error();
  sqlite3* raw = nullptr;
  const int code =
      sqlite3_open_v2(sqlite_name(path).c_str(), &raw, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nullptr);
  SqliteHandle handle(raw);
  if (code != SQLITE_OK)
    return Error{"cannot open " + path.string() + ": " + (raw ? sqlite3_errmsg(raw) : sqlite3_errstr(code)), ""};
  if (auto done = harden(raw); !done) return done.error();
  if (auto done = check_identity(raw, path.string()); !done) return done.error();
  return Database(std::move(handle), path);
}

DatabaseWriter::DatabaseWriter(UniqueFd file, std::filesystem::path path, std::filesystem::path part)
    : file_(std::move(file)), path_(std::move(path)), part_(std::move(part)) {}

DatabaseWriter::DatabaseWriter(DatabaseWriter&& other) noexcept
    : file_(std::move(other.file_)),
      handle_(std::move(other.handle_)),
      path_(std::move(other.path_)),
      part_(std::exchange(other.part_, {})) {}

DatabaseWriter::~DatabaseWriter() {
  handle_.reset();
  if (!part_.empty()) ::unlink(part_.c_str());
}

Result<DatabaseWriter> DatabaseWriter::create(const std::filesystem::path& path) {
  // The folder is taken as it is now, links resolved; below it no link is followed.
  std::error_code failed;
  const auto folder = std::filesystem::canonical(path.has_parent_path() ? path.parent_path() : ".", failed);
  if (failed) return errno_error("cannot write to " + path.string(), failed.value(), "create the folder");
  if (!path.has_filename()) return Error{path.string() + " names a folder", "give the name of a file"};
  const auto target = folder / path.filename();
  if (std::filesystem::is_directory(target, failed)) return Error{path.string() + " is a folder", "give another name"};
  auto part = target;
  part += ".part";
  auto file = create_part(part);
  if (!file) return file.error();
  DatabaseWriter writer(std::move(*file), target, part);
  sqlite3* raw = nullptr;
  const int code =
      sqlite3_open_v2(part.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_NOMUTEX, nullptr);
  writer.handle_.reset(raw);
  if (code != SQLITE_OK)
    return Error{"cannot open " + part.string() + ": " + (raw ? sqlite3_errmsg(raw) : sqlite3_errstr(code)), ""};
  // Nobody else sees the file, and it is thrown away unless it is complete: no journal, no waiting for the disk until
  // the end. The cache bounds memory; the pages that do not fit are written early.
  auto done = execute(raw,
                      "PRAGMA page_size=8192;PRAGMA journal_mode=OFF;PRAGMA synchronous=OFF;"
                      "PRAGMA locking_mode=EXCLUSIVE;PRAGMA cache_size=-24576;PRAGMA threads=1;PRAGMA temp_store=FILE;"
                      "BEGIN EXCLUSIVE");
  if (done) done = create_schema(raw);
  if (!done) return done.error().in(part.string());
  return writer;
}

Result<void> DatabaseWriter::commit() {
  auto done = create_indices(handle_.get());
  if (done) done = execute(handle_.get(), "COMMIT; PRAGMA locking_mode=NORMAL; SELECT count(*) FROM meta");
  if (!done) return done.error().in(part_.string());
  if (sqlite3_close(handle_.get()) != SQLITE_OK)
    return Error{"statements are still open on " + part_.string(), "this is a mistake in uscope: please report it"};
  (void)handle_.release();
  if (::fsync(file_.get()) != 0) return errno_error("cannot write " + part_.string(), errno, "look at the disk");
  if (::rename(part_.c_str(), path_.c_str()) != 0) return errno_error("cannot create " + path_.string(), errno);
  part_.clear();
  const UniqueFd folder(::open(path_.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder) ::fsync(folder.get());
  return {};
}

}  // namespace uscope::store
