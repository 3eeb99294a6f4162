#include "cli/attached_trace.h"

#include <signal.h>
#include <stdlib.h>

#include <cerrno>
#include <string>
#include <utility>

#include "cli/child_work.h"
#include "cli/confined_load.h"
#include "cli/load_options.h"
#include "cli/output.h"
#include "cli/record_target.h"
#include "cli/status_line.h"
#include "tracer/recorder.h"

namespace uscope::cli {
namespace {

// A folder that nobody else can look into, removed with all in it.
class PrivateFolder {
 public:
  static Result<PrivateFolder> create() {
    std::error_code error;
    std::string name = (std::filesystem::temp_directory_path(error) / "uscope-XXXXXX").string();
    if (error || mkdtemp(name.data()) == nullptr)
      return errno_error("cannot make a folder for the trace, " + name, errno, "set TMPDIR to one that is writable");
    return PrivateFolder(name);
  }
  explicit PrivateFolder(std::string path) : path_(std::move(path)) {}
  PrivateFolder(PrivateFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  PrivateFolder& operator=(PrivateFolder&&) = delete;
  ~PrivateFolder() {
    std::error_code error;
    if (!path_.empty()) std::filesystem::remove_all(path_, error);
  }
  [[nodiscard]] std::filesystem::path operator/(const char* name) const { return std::filesystem::path(path_) / name; }

 private:
  std::string path_;
};

// While it lives, an interrupt from the terminal is the child's alone: what it leaves is still to be removed.
class IgnoredInterrupt {
 public:
  IgnoredInterrupt() {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGINT, &ignore, &before_);
  }
  IgnoredInterrupt(const IgnoredInterrupt&) = delete;
  IgnoredInterrupt& operator=(const IgnoredInterrupt&) = delete;
  ~IgnoredInterrupt() { restore(); }
  void restore() const { sigaction(SIGINT, &before_, nullptr); }

 private:
  struct sigaction before_ {};
};

}  // namespace

Result<int> with_attached_trace(const RecordVerbOptions& target,
                                const std::function<Result<int>(const std::filesystem::path&)>& use, int error_code) {
  auto folder = PrivateFolder::create();
  if (!folder) return folder.error();
  const std::filesystem::path raw = *folder / "raw";
  auto recorder = recorder_options(target, raw.string());
  if (!recorder) return recorder.error();
  recorder->duration_ns = 1;  // the first look is the last
  std::uint64_t threads = 0;
  tracer::RecordHooks hooks;
  hooks.attached = [&threads](std::uint64_t found) { threads = found; };
  std::vector<std::unique_ptr<tracer::File>> files;
  const auto outcome = tracer::record(*recorder, hooks, &files);
  if (!outcome) return outcome.error();
  if (outcome->reason == tracer::StopReason::kWriteFailed)
    return Error{"tracing ended early: " + outcome->trouble, "set TMPDIR to a folder with room"};
  if (threads == 0) return Error{"nothing of " + describe_target(target) + " runs", "`ps -e` lists what does"};
  // In a process of its own: loading gives privileges up for good, and the folder is removed by who has them.
  const IgnoredInterrupt ignored;
  auto work = ChildWork::start([&] {
    ignored.restore();
    StatusLine status(stderr);
    const std::filesystem::path store = *folder / "store.db";
    const auto loaded = load_confined({raw, store, {}, false}, load_options(files, status), status);
    const Result<int> used = loaded ? use(store) : Result<int>(loaded.error());
    if (used) return *used;
    print_error(used.error());
    return error_code;
  });
  if (!work) return work.error();
  return work->wait();
}

}  // namespace uscope::cli
