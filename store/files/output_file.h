// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The files that uscope writes for its user: an output's place, and the file under construction. The folder may belong
// to another user, who can at any time rename and replace the files in it, and the folder itself. So the folder is
// opened once and used by descriptor, the file is identified by its descriptor, and before and after it gets its name
// the name is compared with it. The owner of the folder can spoil an output, which is then an error, but cannot get
// hold of its contents, nor substitute another file for it.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "support/result.h"
#include "support/unique_fd.h"

namespace uscope::store {

// A page is text that is named by --html; all else but a raw trace (--keep-raw) is named by -o.
enum class OutputKind { kDatabase, kRawTrace, kText, kPage };

// Behind the name of a database that another one has replaced, as perf does it with perf.data.
inline constexpr std::string_view kOlder = ".old";

class OutputFile;

// A name in an opened folder, and how to treat an existing file there. Copies share the folder.
class OutputPlace {
 public:
  // Checks what exists at `path`:
  // - nothing, or a trace of the same kind: a new file will take the name, and a database that had it is kept under
  //   the name with kOlder behind it, in place of a database that is there. Any other regular file, including one of
  //   another kind, is replaced only with `force`, under either name.
  // - a symbolic link is followed, to a file that need not exist, if only the caller and root can have made it and can
  //   change it: they own the link and its folder, which is not writable to others (or is sticky).
  // - a pipe or character device, or a descriptor of this process (/dev/stdout, /dev/fd/N, "-"): text is written to it.
  // Everything else is an error that says what it is; so are an empty path, a folder, and a folder that does not exist
  // or cannot be written. "The caller" is the user that the process runs as, root, and under sudo the user who called
  // it.
  static Result<OutputPlace> find(const std::filesystem::path& path, OutputKind kind, bool force = false);

  // The descriptor for writing text directly; -1 if the output is a file with a name. The place keeps ownership.
  [[nodiscard]] int stream() const { return stream_ ? stream_->get() : -1; }

  // Creates the file under construction: empty, mode 0600, with the place's name and `suffix`. If such a file exists,
  // and is a regular one of this user that no living uscope writes to, it is replaced if `replaces`.
  [[nodiscard]] Result<OutputFile> begin(std::string_view suffix = ".part", bool replaces = true) const;
  // Whether anything exists under the place's name with `suffix`, after an empty file of this user was removed there:
  // its writer ended before it wrote.
  [[nodiscard]] bool keeps(std::string_view suffix) const;
  // Whether a living uscope writes to that.
  [[nodiscard]] bool is_being_written(std::string_view suffix) const;

  // Whether this open file has the place's name now.
  [[nodiscard]] bool is(int file) const;
  // Whether both are the same name in the same folder.
  [[nodiscard]] bool same_place(const OutputPlace& other) const;
  // Whether a file of the other's folder can get this place's name: both must be on one mount of one file system.
  [[nodiscard]] bool same_mount(const OutputPlace& other) const;
  // Whether an older file will be replaced.
  [[nodiscard]] bool replaces() const { return replaces_; }
  // The name under which the older file will be kept; empty: it will not.
  [[nodiscard]] std::string older_name() const;
  [[nodiscard]] int folder() const { return folder_->get(); }                // O_PATH
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }  // as given

 private:
  friend class OutputFile;
  OutputPlace(std::filesystem::path path, OutputKind kind, bool force)
      : path_(std::move(path)), kind_(kind), force_(force) {}

  [[nodiscard]] std::string elsewhere() const;
  [[nodiscard]] std::string give_file() const;
  Result<void> open_folder(int base, const std::filesystem::path& folder);
  Result<bool> take_link(std::filesystem::path& next);
  Result<void> take_descriptor(int number);
  Result<void> take_stream(const struct stat& status);
  Result<void> examine(bool may_stream);
  Result<void> look_at_file();
  Result<void> look_at_older();
  Result<void> keep_older() const;

  std::filesystem::path path_;
  OutputKind kind_;
  bool force_;
  std::shared_ptr<const UniqueFd> folder_;
  std::string name_;  // in the folder
  bool replaces_ = false;
  bool keeps_older_ = false;
  std::shared_ptr<const UniqueFd> stream_;
};

// A file under construction. If it is destroyed before it is committed or kept, it is removed; if its name refers to
// another file by then, that one is left alone, and the written data is lost.
class OutputFile {
 public:
  // Creates a file in this folder that never gets a name.
  static Result<OutputFile> nameless(int folder);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  [[nodiscard]] int fd() const { return file_.get(); }
  [[nodiscard]] Result<UniqueFd> duplicate() const;
  [[nodiscard]] int folder() const { return place_.folder(); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }  // its present name, for messages
  // Whether the file still has the name with which it was created.
  [[nodiscard]] bool stands() const;

  // Writes everything to disk and gives the file its place's name, or that of `place` in another folder; there, no
  // other file ever gets that name. An existing file is checked again before. Returns an error if the file, the name or
  // the folder was replaced in the meantime; the error says where the data is, if anywhere. Does nothing for a nameless
  // file.
  Result<void> commit();
  Result<void> commit_to(const OutputPlace& place);
  // After this call the destructor does not remove the file.
  void keep_file() { ended_ = true; }
  // Removes the file now.
  void abandon();

 private:
  friend class OutputPlace;
  OutputFile(OutputPlace place, UniqueFd file, std::string name, std::filesystem::path path)
      : place_(std::move(place)), file_(std::move(file)), name_(std::move(name)), path_(std::move(path)) {}
  Result<void> move_to(const OutputPlace& place);

  OutputPlace place_;
  UniqueFd file_;
  std::string name_;  // in the place's folder; empty: none
  std::filesystem::path path_;
  bool ended_ = false;
};

}  // namespace uscope::store
