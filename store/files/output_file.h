// The files that uscope writes for its user: where one is to stand, and the file in the making. The folder may belong
// to somebody else, who can rename and replace what is in it at any time, and the folder itself. So the folder is
// opened once and used by descriptor, the file is known by its descriptor, and before and after it gets its name the
// name is compared with it. Whoever owns the folder can spoil an output, which is an error then; he cannot get hold of
// its contents, nor pass another file off as it.
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

enum class OutputKind { kDatabase, kRawTrace, kText };

class OutputFile;

// A name in an opened folder, and what is to be done with what stands there. Copies share the folder.
class OutputPlace {
 public:
  // Looks at what stands at `path`:
  // - nothing, or a trace of the same kind: a new file will take the name. Any other regular file, one of another kind
  //   included, only with `force`.
  // - a symbolic link is followed, to a file that need not be there, where only the caller and root can have made it
  // and
  //   can change it: theirs is the link, and its folder, which is not writable to others (or is sticky).
  // - a pipe or character device, or a descriptor of this process (/dev/stdout, /dev/fd/N, "-"): text is written to it.
  // Everything else is an error that says what it is; so are an empty path, a folder, and a folder that is not there or
  // cannot be written to. "The caller" is the user that the process runs as, root, and under sudo who called it.
  static Result<OutputPlace> find(const std::filesystem::path& path, OutputKind kind, bool force = false);

  // What text is written to directly: -1 where it is a file with a name. Stays the place's.
  [[nodiscard]] int stream() const { return stream_ ? stream_->get() : -1; }

  // The file in the making, empty, of mode 0600, named as the place with `suffix` behind. Where such a file is there
  // already, a regular one of this user's that no living uscope writes to: it is replaced if `replaces`.
  [[nodiscard]] Result<OutputFile> begin(std::string_view suffix = ".part", bool replaces = true) const;
  // Whether anything has the place's name with `suffix` behind.
  [[nodiscard]] bool has(std::string_view suffix) const;

  // Whether this open file stands there now.
  [[nodiscard]] bool is(int file) const;
  // Whether both are the same name of the same folder.
  [[nodiscard]] bool same_place(const OutputPlace& other) const;
  // Whether a file of the other's folder can get this place's name: both are in one file system, mounted once.
  [[nodiscard]] bool same_mount(const OutputPlace& other) const;
  // Whether an older file is to be replaced.
  [[nodiscard]] bool replaces() const { return replaces_; }
  [[nodiscard]] int folder() const { return folder_->get(); }                // O_PATH
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }  // as it was given

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
  Result<void> look(bool may_stream);
  Result<void> look_at_file();

  std::filesystem::path path_;
  OutputKind kind_;
  bool force_;
  std::shared_ptr<const UniqueFd> folder_;
  std::string name_;  // in the folder
  bool replaces_ = false;
  std::shared_ptr<const UniqueFd> stream_;
};

// A file in the making. Destroyed before it is committed or kept, it is removed; where its name is another file's by
// then, that one is left alone, and what was written is thrown away.
class OutputFile {
 public:
  // One in this folder that never gets a name.
  static Result<OutputFile> nameless(int folder);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  [[nodiscard]] int fd() const { return file_.get(); }
  [[nodiscard]] Result<UniqueFd> duplicate() const;
  [[nodiscard]] int folder() const { return place_.folder(); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }  // its name now, for messages
  // Whether the file still has the name that it was made with.
  [[nodiscard]] bool stands() const;

  // Writes everything to the disk and gives the file its place's name, or that of `place`, where in another folder
  // never any file but this one gets it. What stands there is looked at again before. Errors: the file, the name or the
  // folder was replaced meanwhile; the error says where the data are, if anywhere. Of a nameless file nothing is done.
  Result<void> commit();
  Result<void> commit_to(const OutputPlace& place);
  // From here on it is not removed when this object ends.
  void keep() { ended_ = true; }
  // Removes it now.
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
