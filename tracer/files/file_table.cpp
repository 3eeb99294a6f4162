// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/files/file_table.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>

#include "support/clock.h"
#include "symbolizer/reader/file_owner.h"
#include "symbolizer/rows/vdso.h"
#include "trace/own_libraries.h"
#include "trace/raw_record.h"
#include "trace/record_type.h"
#include "tracer/files/file_identity.h"
#include "tracer/jit/jit_names.h"
#include "tracer/process/library_search.h"

namespace uscope::tracer {
namespace {

// For programs, maps, rings, the raw trace, perf maps and temporary use.
constexpr std::size_t kReservedDescriptors = 72 + JitNames::kDescriptors;
constexpr std::uint64_t kLastOpeningsNs = 500'000'000;  // of files, when no call is recorded any more

// Making room that took t is followed by this many t, and by at least so much time, without.
constexpr std::uint64_t kRest = 20;
constexpr std::uint64_t kRoomRestNs = 50'000'000;

constexpr const char* kGivenUp = "tracing ended before its unwind rows were made";

bool holds_rules(const symbolizer::UnwindTable& table) {
  return std::any_of(table.rows.begin(), table.rows.end(),
                     [](const usc_row& row) { return row.rule != USC_RULE_NONE; });
}

// Why a file has no rows; "" if it has some.
std::string trouble_with(const Result<std::shared_ptr<const symbolizer::UnwindTable>>& rows, const std::string& name) {
  if (!rows) return rows.error().what;
  std::string damage = symbolizer::damage_of(**rows, name);
  return damage.empty() && !holds_rules(**rows) ? "no unwind information" : damage;
}

// Nothing is known of the file's contents: a stack that ends in it says so, and not that the file has no rows.
void set_unread(File& file, std::string why) {
  file.state = USC_FILE_UNREACHABLE;
  file.trouble = std::move(why);
}

}  // namespace

std::string path_of(const usc_file& record) {
  const std::string path = trace::joined_path(trace::tail_of(record).substr(0, record.path_bytes));
  return path.empty() ? "/" : path;
}

FileTable::FileTable(Backend& backend, RowBuildQueue& maker, ModuleGlobs globs, Scouts* scouts,
                     KeptCopies::Begin begin_copies)
    : backend_(backend),
      maker_(maker),
      globs_(std::move(globs)),
      looks_(scouts),
      opener_(backend, scouts),
      copies_(std::move(begin_copies)) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  most_open_ = limit.rlim_cur > kReservedDescriptors ? limit.rlim_cur - kReservedDescriptors : 0;
}

bool FileTable::has_room() const {
  return coming_ + copying_ < most_open_;
}

File& FileTable::slot(trace::FileId serial) {
  std::unique_ptr<File>& file = files_[serial];
  if (!file) file = std::make_unique<File>();
  return *file;
}

const File* FileTable::find(trace::FileId serial) const {
  const auto found = files_.find(serial);
  return found == files_.end() ? nullptr : found->second.get();
}

File* FileTable::find(trace::FileId serial) {
  const auto found = files_.find(serial);
  return found == files_.end() ? nullptr : found->second.get();
}

// Serials rise with the turns of their slots, and so with the time at which files were met.
std::vector<trace::FileId> FileTable::serials() const {
  std::vector<trace::FileId> all;
  all.reserve(files_.size());
  for (const auto& [serial, file] : files_) all.push_back(serial);
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<trace::FileId> FileTable::take_changed() {
  return std::exchange(changed_, {});
}

std::uint32_t FileTable::classify(const std::string& path) const {
  std::uint32_t classes = 0;
  const auto any = [&](const std::vector<std::string>& globs) {
    return std::any_of(globs.begin(), globs.end(),
                       [&](const std::string& glob) { return trace::module_matches(glob, path); });
  };
  if (any(globs_.app)) classes |= USC_CLASS_APP;
  if (any(globs_.exclude)) classes |= USC_CLASS_EXCLUDED;
  return classes;
}

bool FileTable::is_unchanged(const File& file) const {
  if (file.copied || !file.fd) return file.copied;
  return is_unwritten_since(backend_, file.fd.get(), file.key, !file.facts.build_id.empty());
}

bool FileTable::is_unchanged(const File& file, const FileContent& content) const {
  if (content.is_copy || !content.fd) return content.is_copy;
  return is_unwritten_since(backend_, content.fd.get(), file.key, !file.facts.build_id.empty());
}

Result<void> FileTable::finish(trace::FileId serial, File file) {
  file.met = true;
  file.classes = classify(file.path) | (file.facts.mixed ? USC_CLASS_MIXED : 0);
  if (file.rows) {
    const Result<Publish> published = publish(serial, file, file.rows);
    if (!published) return published.error();
    file.state = *published == Publish::kDone ? USC_FILE_READY : USC_FILE_USER_ONLY;
    file.figures = {static_cast<std::uint32_t>(file.rows->rows.size()),
                    static_cast<std::uint32_t>(file.rows->rules.size()), file.rows->bytes()};
    if (file.state == USC_FILE_USER_ONLY) file.rows.reset();
  }
  if (file.state != USC_FILE_READY) {
    if (auto put = backend_.publish_state(serial, file.state, file.classes); !put) return put;
  }
  slot(serial) = std::move(file);
  return keep_or_close(serial);
}

Result<Publish> FileTable::publish(trace::FileId serial, File& file, const Rows& rows) {
  auto published = backend_.publish_rows(serial, rows, file.classes);
  const std::uint64_t now = monotonic_ns();
  if (!published || *published != Publish::kNoRoom || now < file.no_room_until_ns) return published;
  const auto made = make_room(rows->rows.size());
  if (!made) return made.error();
  if (*made) published = backend_.publish_rows(serial, rows, file.classes);
  if (published && *published == Publish::kNoRoom) {
    file.no_room_rest_ns = std::max(kRoomRestNs, 2 * file.no_room_rest_ns);
    file.no_room_until_ns = now + file.no_room_rest_ns;
  }
  return published;
}

// Several files that no process has mapped at once: it takes time until no walk uses their rows any more. Those that
// were met first give way first, until twice as many rows are free as are asked for, which may lie apart.
Result<bool> FileTable::make_room(std::size_t rows) {
  const std::uint64_t began = monotonic_ns();
  if (!backend_.can_withdraw_rows() || !mapped_files_ || began < no_room_until_ns_) return false;
  const std::unordered_set<trace::FileId> mapped = mapped_files_();
  std::vector<trace::FileId> idle;
  std::size_t freed = 0;
  for (const trace::FileId serial : serials()) {
    if (freed >= 2 * rows) break;
    const File* file = find(serial);
    if (serial >= trace::kFirstFile && file->state == USC_FILE_READY && mapped.count(serial) == 0) {
      idle.push_back(serial);
      freed += file->rows->rows.size();
    }
  }
  if (!idle.empty()) {
    if (auto done = backend_.withdraw_rows(idle); !done) return done.error();
  }
  for (const trace::FileId serial : idle) {
    File& file = slot(serial);
    file.state = USC_FILE_USER_ONLY;
    withdrawn_.emplace_back(serial, std::move(file.rows));
  }
  const std::uint64_t now = monotonic_ns();
  no_room_until_ns_ = now + std::max(kRoomRestNs, kRest * (now - began));
  return !idle.empty();
}

Result<bool> FileTable::publish_again(trace::FileId serial, const Rows& rows) {
  File* file = find(serial);
  if (file == nullptr || file->state != USC_FILE_USER_ONLY || !backend_.can_withdraw_rows()) return false;
  const auto published = publish(serial, *file, rows);
  if (!published) return published.error();
  if (*published != Publish::kDone) return false;
  file->state = USC_FILE_READY;
  file->rows = rows;
  return true;
}

Result<void> FileTable::publish_vdso() {
  File file;
  file.path = "[vdso]";
  file.state = USC_FILE_WITHOUT;
  if (auto rows = symbolizer::vdso_rows(); rows)
    file.rows = std::make_shared<const symbolizer::UnwindTable>(std::move(*rows));
  else
    file.trouble = rows.error().what;
  return finish(trace::kVdsoFile, std::move(file));
}

Result<void> FileTable::add_announced(const usc_file& record) {
  if (record.file < USC_FILE_FIRST || record.file >= USC_FRAME_FILES) return {};
  File file;
  file.path = path_of(record);
  file.key = record.key;
  file.pid = record.pid;
  file.start = record.start;
  file.end = record.end;
  file.memory = record.links == 0;
  FileToOpen wanted;
  wanted.serial = trace::FileId(record.file);
  wanted.pid = record.pid;
  wanted.start = record.start;
  wanted.end = record.end;
  wanted.key = record.key;
  wanted.deleted = record.links == 0;
  wanted.leased = record.leased != 0;
  wanted.path = file.path;
  if (auto found = opener_.open(std::move(wanted))) return take_opened(std::move(*found), std::move(file));
  file.coming = true;
  file.classes = classify(file.path);
  slot(trace::FileId(record.file)) = std::move(file);
  return {};
}

Result<void> FileTable::take_opened(FoundFile found, File file) {
  file.state = USC_FILE_WITHOUT;
  file.open_error = found.error;
  file.fd = std::move(found.fd);
  file.copied = found.is_copy;
  file.place = std::move(found.place);
  if (!file.fd) {
    file.state = USC_FILE_UNREACHABLE;
    file.trouble = std::move(found.trouble);
    return finish(found.serial, std::move(file));
  }
  struct stat copy {};
  if (file.copied && fstat(file.fd.get(), &copy) == 0) {
    constexpr std::uint64_t kBlock = 512;
    file.room = served_room_.take(static_cast<std::uint64_t>(copy.st_blocks) * kBlock);
    if (!file.room) {
      close(file);
      file.copied = false;
      set_unread(file, file.path + ": not read: too many files of its kind were being read when it was met");
      return finish(found.serial, std::move(file));
    }
  }
  file.memory = file.memory && is_on_memory(file.fd.get());
  if (found.shares_our_root) file.look_ahead = std::make_shared<LookAhead>(LookAhead{kMostFiles, found.pid});
  return begin(found.serial, std::move(file));
}

Result<void> FileTable::take_late(std::vector<FoundFile> all) {
  Result<void> result;
  for (FoundFile& found : all) {
    const trace::FileId serial = found.serial;
    File file = std::move(slot(serial));
    file.coming = false;
    if (auto done = take_opened(std::move(found), std::move(file)); !done && result) result = done;
    if (!slot(serial).coming) maker_.settle(serial);
  }
  return result;
}

Result<void> FileTable::open_more() {
  return take_late(opener_.take());
}

void FileTable::end_opening() {
  later_.clear();
  opener_.end_after(kLastOpeningsNs);
}

// Handles memory for code made at run time. Until it is settled, each content that is met is another file to the kernel
// side; only the first one is written to the trace.
Result<void> FileTable::finish_code(trace::FileId serial, File file, bool unchanged) {
  const usc_file_key key = MemoryFiles::key_of(file.key);
  file.state = USC_FILE_JIT;
  close(file);
  const MemoryFiles::Seen seen = memory_.saw_code(file.key, unchanged);
  const std::string path = file.path;
  if (auto finished = finish(serial, std::move(file)); !finished) return finished;
  if (!seen.first) changed_.pop_back();
  if (!seen.settled) return {};
  const Result<trace::FileId> whole = backend_.reserve_file(key);
  if (!whole) return {};
  File memory;
  memory.state = USC_FILE_JIT;
  memory.path = path;
  memory.key = key;
  if (auto finished = finish(*whole, std::move(memory)); !finished) return finished;
  changed_.pop_back();
  return {};
}

// Every file that is being read holds a descriptor. Few programs have so many new files at once. Not called for
// look-ahead: that may run during the queue's hand-over, when the queue has nothing more to deliver.
Result<bool> FileTable::has_descriptors() {
  while (coming_ + copying_ > 0 && !has_room()) {
    if (stuck_) return false;
    const auto came = maker_.wait(kQueueWait);
    if (!came) return came.error();
    stuck_ = !*came;
  }
  return true;
}

Result<void> FileTable::begin(trace::FileId serial, File file) {
  if (given_up_) {
    set_unread(file, kGivenUp);
    return finish(serial, std::move(file));
  }
  const auto room = has_descriptors();
  if (!room) return room.error();
  if (!*room) {
    close(file);
    set_unread(file, file.path + ": not read: too many files were being read when it was met");
    return finish(serial, std::move(file));
  }
  file.coming = true;
  file.classes = classify(file.path);
  const bool holds = !file.copied && is_fleeting(file);
  RowJob job{serial, symbolizer::RowDetail::kStack, file.fd.get(), file.path, this, RowWork::kHold};
  job.payer = symbolizer::payer_of(file.fd.get());
  job.room = &held_room_;
  slot(serial) = std::move(file);
  coming_++;
  return holds ? maker_.ask(std::move(job)) : ask_facts(serial);
}

Result<void> FileTable::ask_facts(trace::FileId serial) {
  File& file = slot(serial);
  file.payer = symbolizer::payer_of(file.fd.get());
  return maker_.ask(
      {serial, symbolizer::RowDetail::kStack, file.fd.get(), file.path, this, RowWork::kFacts, file.payer});
}

// Continues with the facts.
Result<void> FileTable::go_on(trace::FileId serial, const symbolizer::FactsAnswer& answer) {
  File& file = slot(serial);
  const bool unchanged = !file.memory || is_unchanged(file);
  if (!answer.elf && file.memory) {
    File code = std::move(file);
    stop_reading(serial, code);
    return finish_code(serial, std::move(code), unchanged);
  }
  if (file.memory) memory_.saw_elf(file.key);
  if (!unchanged) {
    file.trouble = kChanged;
    return end(serial, std::move(file));
  }
  if (!answer.facts) {
    if (answer.unread) {
      set_unread(file, answer.facts.error().what);
    } else {
      if (!answer.elf) file.state = USC_FILE_CODE;
      file.trouble = answer.facts.error().what;
    }
    return end(serial, std::move(file));
  }
  file.facts = *answer.facts;
  const std::shared_ptr<LookAhead> ahead = std::exchange(file.look_ahead, nullptr);
  std::vector<std::string> asked;
  // Libraries are followed only for an executable, which names an interpreter, if the program mapped the file itself;
  // for files that were looked up ahead, always.
  if (ahead && (!file.facts.interpreter.empty() || ahead->left < kMostFiles))
    asked = looks_.asked_for(ahead->pid, file.facts, file.path);
  RowJob job{serial, symbolizer::RowDetail::kStack, file.fd.get(), file.path, this, RowWork::kRows, file.payer};
  if (auto made = maker_.ask(std::move(job)); !made) return made;
  return look_ahead(std::move(asked), ahead);
}

void FileTable::close(File& file) {
  file.fd.reset();
  file.room.reset();
}

void FileTable::stop_reading(trace::FileId serial, File& file) {
  file.coming = false;
  coming_--;
  maker_.settle(serial);
}

// Finishes a file without rows.
Result<void> FileTable::end(trace::FileId serial, File file) {
  stop_reading(serial, file);
  return finish(serial, std::move(file));
}

// The queue may still read these files by their descriptor numbers, so each descriptor stays open, with its file or
// with this table.
Result<void> FileTable::give_up_rows() {
  given_up_ = true;
  if (auto done = take_late(opener_.give_up()); !done) return done;
  for (const trace::FileId serial : serials()) {
    File& given_up = slot(serial);
    if (!given_up.coming && !given_up.copying) continue;
    lent_.push_back(std::move(given_up.fd));
    if (std::exchange(given_up.copying, false)) {
      copying_--;
      if (!given_up.is_told) tell(serial);
      continue;
    }
    File file = std::move(given_up);
    file.coming = false;
    coming_--;
    set_unread(file, kGivenUp);
    if (auto done = finish(serial, std::move(file)); !done) return done;
  }
  return {};
}

Result<void> FileTable::on_made(const BuiltTable& made) {
  stuck_ = false;
  if (made.work == RowWork::kCopy) return on_copied(made);
  if (!slot(made.serial).coming) return {};  // given up
  if (made.work == RowWork::kHold) return on_held(made);
  if (made.facts) return go_on(made.serial, *made.facts);
  File file = std::move(slot(made.serial));
  file.coming = false;
  coming_--;
  if (!made.rows && made.unread) {
    set_unread(file, made.rows.error().what);
  } else if (is_unchanged(file)) {
    file.trouble = trouble_with(made.rows, file.path);
  } else {
    file.trouble = kChanged;
    file.facts = {};
  }
  if (file.trouble.empty()) file.rows = *made.rows;
  return finish(made.serial, std::move(file));
}

}  // namespace uscope::tracer
