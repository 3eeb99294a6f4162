// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The files behind the traced mappings. A FileOpener binds each once to an open descriptor, after the kernel has
// confirmed that it is the same file; a RowBuildQueue builds its unwind rows, which are then passed to the kernel.
//
// A file is open only while it is read, since others may want to delete it or to unmount its file system. What is read
// later (names, rows again) is a copy of uscope's own, or the file is opened again and its key is compared:
// files_kept.cpp. What no process has mapped any more makes room: files_released.cpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "support/kept_copies.h"
#include "support/result.h"
#include "support/unique_fd.h"
#include "symbolizer/elf/elf_facts.h"
#include "symbolizer/rows/row_builder.h"
#include "trace/ids.h"
#include "tracer/backend/backend.h"
#include "tracer/files/file.h"
#include "tracer/files/file_opener.h"
#include "tracer/files/memory_file.h"
#include "tracer/files/row_build_queue.h"
#include "tracer/scouts/process_looks.h"
#include "uscope/control.h"
#include "uscope/file_slots.h"

namespace uscope::tracer {

// What a file holds that was mapped.
struct FileContent {
  UniqueFd fd;           // empty: it cannot be read any more
  bool is_copy = false;  // uscope's own
};

// The member functions that look files up ahead are in files_ahead.cpp, those that copy files and open them again in
// files_kept.cpp.
class FileTable final : public UnwindTableReceiver {
 public:
  // All arguments must outlive this object. Scouts, if given, open files. `begin_copies`: see KeptCopies.
  FileTable(Backend& backend, RowBuildQueue& maker, ModuleGlobs globs, Scouts* scouts = nullptr,
            KeptCopies::Begin begin_copies = {});

  // Publish the vdso's rows, and the rows of a command that is about to be launched, with its interpreter and
  // libraries. On return all are in the kernel.
  Result<void> publish_vdso();
  void preload(const std::string& executable);
  // Publishes the rows of the files that a running process has mapped. A file that is slow to open is left until it is
  // met.
  void preload_process(std::uint32_t pid);

  // Handles a file that the kernel met. Errors of one file are stored with it (File::trouble) and are not errors here.
  // Its facts and rows arrive later (File::coming), from the queue, and a file that is slow to open is opened by later
  // calls of open_more(), so that a slow file blocks nothing. The libraries that an executable needs are looked up as
  // soon as they are known, before they are mapped.
  Result<void> add_announced(const usc_file& record);
  Result<void> open_more();
  // Whether files are being opened.
  [[nodiscard]] bool is_opening() const { return opener_.is_busy(); }
  // Every file is copied, not only those that may be gone soon. Called before any is met.
  void keep_all() { keeps_all_ = true; }
  // Files whose status changed less than this ago, in seconds, are copied as soon as they are met: builds delete or
  // replace them.
  void copy_younger_than(std::int64_t seconds) { young_seconds_ = seconds; }
  // Files that are not open soon after this call are given up.
  void end_opening();
  Result<void> on_made(const BuiltTable& made) override;
  // Gives up the files that are being opened, the rows that are being built, and those of all files met later.
  Result<void> give_up_rows();

  // Who tells which files living processes have mapped. If the kernel has no room for a file's rows, the rows of files
  // that no process has mapped give way; whoever walks through one of these later needs its rows again (WalkTables).
  using MappedFiles = std::function<std::unordered_set<trace::FileId>()>;
  void set_mapped_files(MappedFiles mapped_files) { mapped_files_ = std::move(mapped_files); }
  using Rows = std::shared_ptr<const symbolizer::UnwindTable>;
  // The rows that gave way; each is returned once.
  std::vector<std::pair<trace::FileId, Rows>> take_withdrawn() { return std::exchange(withdrawn_, {}); }
  // For a file that found no room, or whose rows gave way. Returns whether the kernel has its rows now. A file that
  // finds none even then is tried less and less often.
  Result<bool> publish_again(trace::FileId serial, const Rows& rows);

  [[nodiscard]] const File* find(trace::FileId serial) const;
  [[nodiscard]] File* find(trace::FileId serial);
  // Whether a file that was opened still holds what was mapped. If so, everything read from it since belongs to that
  // content.
  [[nodiscard]] bool is_unchanged(const File& file, const FileContent& content) const;
  // Opens what was mapped, of what may be an ELF file: the copy that is kept, or the file.
  [[nodiscard]] FileContent open_content(const File& file);
  // Opens the file itself; `also`: one more path that may lead to it, tried first.
  [[nodiscard]] UniqueFd open_original(const File& file, const std::string& also = "");
  // Copies the next file that has been there for a while: somebody may replace it. Not after end_opening().
  Result<void> keep_more(std::uint64_t now_ns);
  // Drops the copies of files that are there and were changed: they may have been written to while they were mapped.
  // What can be used of them is for the reader of names to find out. Called when nothing is traced any more.
  void drop_changed();
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(files_.size()); }
  // Returns all files, by serial; null for unused serials. The table is empty afterwards.
  std::vector<std::unique_ptr<File>> take_all();
  // To be called in each round. When many files have been met, those that no process has mapped any more are released:
  // the kernel side gives their slots to others, and who maps one of them again has met another file. Nothing asks for
  // what was mapped before `settled_ns` any more.
  Result<void> release_idle(std::uint64_t now_ns, std::uint64_t settled_ns);
  // Files that were released since the last call.
  std::vector<trace::FileId> take_released() { return std::exchange(newly_released_, {}); }
  // Serials whose usc_file_info must still be written to the trace; each is returned once.
  std::vector<trace::FileId> take_changed();

 private:
  static constexpr std::size_t kMostFilesAtOnce = USC_FILE_SLOTS;
  static constexpr std::chrono::milliseconds kQueueWait{20};  // for a file that is being read
  // The memory of copies that are being read: of files that may be gone soon, which are read themselves if there is no
  // room; and of files that a program serves, which the scouts have copied.
  static constexpr std::uint64_t kMostHeld = std::uint64_t{64} << 20;
  static constexpr std::uint64_t kMostServed = std::uint64_t{256} << 20;

  Result<void> begin(trace::FileId serial, File file);
  Result<void> go_on(trace::FileId serial, const symbolizer::FactsAnswer& answer);
  void stop_reading(trace::FileId serial, File& file);
  Result<void> end(trace::FileId serial, File file);
  Result<void> finish(trace::FileId serial, File file);
  [[nodiscard]] bool has_room() const;
  Result<bool> has_descriptors();
  Result<void> look_ahead(std::vector<std::string> paths, const std::shared_ptr<LookAhead>& ahead);
  Result<void> expect(OpenedFile opened, std::string path, std::shared_ptr<LookAhead> ahead);
  Result<void> finish_code(trace::FileId serial, File file, bool unchanged);
  [[nodiscard]] bool is_unchanged(const File& file) const;
  [[nodiscard]] bool is_fleeting(const File& file) const;
  Result<void> ask_facts(trace::FileId serial);
  void hold_copy(File& file, ElfCopy copy) const;
  Result<void> on_held(const BuiltTable& made);
  static void close(File& file);
  Result<void> keep_or_close(trace::FileId serial);
  void tell(trace::FileId serial);
  Result<void> copy(trace::FileId serial);
  Result<void> on_copied(const BuiltTable& made);
  void wait_for_rows();
  File& slot(trace::FileId serial);
  [[nodiscard]] std::vector<trace::FileId> serials() const;  // in the order in which files were met
  [[nodiscard]] bool may_be_released(trace::FileId serial) const;
  Result<void> forget_idle(std::uint64_t now_ns);
  Result<void> release_forgotten();
  std::uint32_t classify(const std::string& path) const;
  Result<Publish> publish(trace::FileId serial, File& file, const Rows& rows);
  Result<bool> make_room(std::size_t rows);
  Result<void> take_opened(FoundFile found, File file);
  Result<void> take_late(std::vector<FoundFile> all);

  Backend& backend_;
  RowBuildQueue& maker_;
  ModuleGlobs globs_;
  ProcessLooks looks_;
  FileOpener opener_;
  std::unordered_map<trace::FileId, std::unique_ptr<File>> files_;
  std::vector<trace::FileId> forgotten_;             // by the kernel side; who had met them may still be telling of it
  std::uint64_t forgotten_ns_ = 0;                   // when they were
  std::size_t release_from_ = kMostFilesAtOnce / 2;  // how many files there are when the next ones are released
  std::map<trace::FileId, std::unique_ptr<File>> released_;  // what the reader of names needs of them
  std::vector<trace::FileId> newly_released_;
  std::vector<UniqueFd> lent_;  // of files that were given up while being read; the queue may still use them
  std::vector<trace::FileId> changed_;
  std::unordered_set<std::string> expected_;  // paths that were looked up ahead
  std::size_t coming_ = 0;
  bool stuck_ = false;               // no descriptor was freed when one was needed
  bool given_up_ = false;            // nothing is read any more
  std::set<std::string> preloaded_;  // device and inode
  MemoryFiles memory_;
  KeptCopies copies_;
  CopyRoom held_room_{kMostHeld};
  CopyRoom served_room_{kMostServed};
  std::size_t copying_ = 0;
  bool keeps_all_ = false;
  std::int64_t young_seconds_ = 3600;
  std::multimap<std::uint64_t, trace::FileId> later_;  // files that are not copied yet, and when they will be
  std::size_t most_open_ = 0;
  MappedFiles mapped_files_;
  std::uint64_t no_room_until_ns_ = 0;  // before this, nothing more is made to give way
  std::vector<std::pair<trace::FileId, Rows>> withdrawn_;
};

// The path of a usc_file record: joins its components, innermost first, to "/a/b/c".
[[nodiscard]] std::string path_of(const usc_file& record);

}  // namespace uscope::tracer
