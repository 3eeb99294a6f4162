// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// staprun gets a command to wait for, which only reads a pipe of this process: the command starts when the script's
// probes are in place, and it and the script end when the pipe is closed, by unload() or by the death of this process.
#include "cli/session/stap_script.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <vector>

#include "support/end_signals.h"
#include "support/process/priority.h"
#include "support/regular_file.h"

namespace uscope::cli {
namespace {

constexpr int kReadyMs = 60'000;
constexpr int kStepMs = 20;
// Times of unloading: when a staprun that does not end is first signalled and then killed, the longest time of a
// `staprun -d`, the pause before the next one, and the end of all attempts.
constexpr auto kAskAfter = std::chrono::seconds(3);
constexpr auto kKillAfter = std::chrono::seconds(5);
constexpr auto kRemovalTakes = std::chrono::seconds(3);
constexpr auto kRemovalPause = std::chrono::milliseconds(300);
constexpr auto kGiveUpAfter = std::chrono::seconds(12);

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

Result<Pipe> open_pipe() {
  std::array<int, 2> fds{};
  if (pipe2(fds.data(), O_CLOEXEC) != 0) return errno_error("cannot make a pipe for SystemTap", errno);
  return Pipe{UniqueFd(fds[0]), UniqueFd(fds[1])};
}

// Starts it like any ordinary program: without a tracer's signals and priority, and not in the terminal's foreground,
// whose Ctrl-C is for the command.
Result<pid_t> start(const std::vector<std::string>& command, int input, int output, bool own_group) {
  std::vector<char*> argv;
  argv.reserve(command.size() + 1);
  for (const std::string& argument : command) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0) return errno_error("cannot start " + command.front(), errno);
  if (child != 0) return child;
  give_signals_back();
  give_priority_back();
  if (own_group) setpgid(0, 0);
  if ((input >= 0 && dup2(input, STDIN_FILENO) < 0) || dup2(output, STDOUT_FILENO) < 0) _exit(127);
  execvp(argv.front(), argv.data());
  _exit(127);
}

// The exit code, or 128 plus the number of the signal that ended it; nullopt if it still runs after that time (-1 =
// wait).
std::optional<int> wait_for(pid_t pid, int milliseconds) {
  constexpr int kSignalled = 128;
  int status = 0;
  for (int waited = 0;; waited += kStepMs) {
    const pid_t got = waitpid(pid, &status, milliseconds < 0 ? 0 : WNOHANG);
    if (got == pid) return WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status);
    if (got < 0 && errno != EINTR) return -1;
    if (milliseconds >= 0 && waited >= milliseconds) return std::nullopt;
    if (got == 0) poll(nullptr, 0, kStepMs);
  }
}

Result<std::string> read_all(int fd) {
  constexpr std::size_t kMost = 1u << 20;
  std::string all;
  std::array<char, 4096> buffer{};
  while (true) {
    const ssize_t count = read(fd, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno_error("cannot read what stap says", errno);
    if (count == 0) return all;
    if (all.size() < kMost) all.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

// The module's path is the last line that stap prints.
Result<std::string> compile(const std::string& script) {
  const auto folder = stap_folder();
  if (!folder) return folder.error();
  auto pipe = open_pipe();
  if (!pipe) return pipe.error();
  const auto child = start({*folder + "/uscope-stap", "-p4", script}, -1, pipe->write.get(), false);
  if (!child) return child.error();
  pipe->write.reset();
  auto said = read_all(pipe->read.get());
  const int code = wait_for(*child, -1).value_or(-1);
  if (!said) return said.error();
  while (!said->empty() && said->back() == '\n') said->pop_back();
  const std::size_t line = said->rfind('\n');
  std::string module = line == std::string::npos ? *said : said->substr(line + 1);
  if (code != 0 || !module.ends_with(".ko"))
    return Error{fmt::format("SystemTap could not compile {} (its exit code is {})", script, code),
                 "stap's own messages are above; " + *folder + "/uscope-stap -p4 " + script + " repeats them"};
  return module;
}

// The name by which the kernel knows a module, whatever its file is called: `name=` in its .modinfo.
std::string kernel_name(const std::string& module) {
  constexpr std::size_t kMost = 64u << 20;
  constexpr std::string_view kKey("\0name=", 6);
  const auto file = open_regular(module, "", Leases::kBroken);
  std::string bytes;
  std::array<char, 1 << 13> buffer{};
  for (ssize_t count = 1; file && count > 0 && bytes.size() < kMost;) {
    count = read(file->get(), buffer.data(), buffer.size());
    if (count > 0) bytes.append(buffer.data(), static_cast<std::size_t>(count));
  }
  const auto is_of_name = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  for (std::size_t at = bytes.find(kKey); at != std::string::npos; at = bytes.find(kKey, at + 1)) {
    std::string name(bytes.c_str() + at + kKey.size());
    if (!name.empty() && name.size() < 64 && std::all_of(name.begin(), name.end(), is_of_name)) return name;
  }
  return {};
}

// A folder for the mark that the probes are in place, and for the module under its own name, which staprun needs.
class MarkFolder {
 public:
  MarkFolder() {
    std::string path = "/tmp/uscope-stap.XXXXXX";
    if (mkdtemp(path.data()) != nullptr) path_ = path;
  }
  MarkFolder(const MarkFolder&) = delete;
  MarkFolder& operator=(const MarkFolder&) = delete;
  ~MarkFolder() {
    std::error_code error;
    if (!path_.empty()) std::filesystem::remove_all(path_, error);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

Result<std::string> stap_folder() {
  if (const char* folder = std::getenv("USCOPE_STAP")) return std::string(folder);
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const auto& folder : {program / "stap", program.parent_path() / "share" / "uscope" / "stap"})
    if (std::filesystem::exists(folder / "uscope-stap", error)) return folder.string();
  return Error{"uscope's folder stap/ is not found", "say where it is with USCOPE_STAP, or give a compiled module"};
}

Result<std::unique_ptr<StapScript>> StapScript::prepare(const std::string& script) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(script, error))
    return Error{"no such SystemTap script: " + script, "give FILE.stp, or the FILE.ko that uscope-stap -p4 made"};
  std::string module = std::filesystem::absolute(script, error).string();
  if (!script.ends_with(".ko")) {
    auto compiled = compile(module);
    if (!compiled) return compiled.error();
    module = *compiled;
  }
  std::string name = kernel_name(module);
  if (name.empty())
    return Error{module + " is not a kernel module", "give FILE.stp, or the FILE.ko that uscope-stap -p4 made"};
  return std::unique_ptr<StapScript>(new StapScript(script, std::move(module), std::move(name)));
}

StapScript::~StapScript() {
  try {
    unload();
  } catch (const std::exception&) {
    keeper_.reset();  // out of memory: closing the pipe ends the script
  }
}

bool StapScript::is_loaded() const {
  std::error_code error;
  return std::filesystem::exists("/sys/module/" + name_, error);
}

Result<void> StapScript::wait_until_ready(const std::string& mark) {
  std::error_code error;
  for (int waited = 0; waited < kReadyMs; waited += kStepMs) {
    if (std::filesystem::exists(mark, error)) return {};
    if (const auto code = wait_for(staprun_, kStepMs)) {
      staprun_ = 0;
      return Error{fmt::format("SystemTap's module of {} could not be started (staprun: {})", script_, *code),
                   "staprun's own messages are above"};
    }
  }
  return Error{"SystemTap's module of " + script_ + " did not start within a minute",
               "load it by hand to see why: staprun " + module_};
}

Result<void> StapScript::load() {
  if (is_loaded())
    return Error{"a module " + name_ + " is loaded already", "end the program that uses it: staprun -d " + name_};
  const MarkFolder folder;
  if (folder.path().empty()) return errno_error("cannot make a folder in /tmp", errno);
  auto pipe = open_pipe();
  if (!pipe) return pipe.error();
  const std::string mark = folder.path() + "/ready";
  const std::string link = folder.path() + "/" + name_ + ".ko";
  if (symlink(module_.c_str(), link.c_str()) != 0) return errno_error("cannot make a link in /tmp", errno);
  const std::string wait = "sh -c 'echo >" + mark + "; exec cat >/dev/null'";
  const auto child = start({"staprun", "-c", wait, link, "uscope_by_record=1"}, pipe->read.get(), STDERR_FILENO, true);
  if (!child) return child.error();
  staprun_ = *child;
  keeper_ = std::move(pipe->write);
  auto ready = wait_until_ready(mark);
  if (!ready) unload();
  return ready;
}

std::optional<Error> StapScript::trouble() {
  if (staprun_ == 0 || unloading_since_) return std::nullopt;
  const auto code = wait_for(staprun_, 0);
  if (!code) return std::nullopt;
  staprun_ = 0;
  (void)step_unload();
  return Error{
      fmt::format("SystemTap's script {} has ended (staprun: {}): its events are missing from here on", script_, *code),
      ""};
}

// staprun unloads its module itself; if it was killed, `staprun -d` does.
bool StapScript::step_unload() {
  const auto now = std::chrono::steady_clock::now();
  if (!unloading_since_) {
    unloading_since_ = now;
    keeper_.reset();
  }
  const auto since = now - *unloading_since_;
  if (since >= kGiveUpAfter) return true;
  if (staprun_ != 0) {
    if (!wait_for(staprun_, 0)) {
      if (since >= kAskAfter) kill(-staprun_, since >= kKillAfter ? SIGKILL : SIGTERM);
      return false;
    }
    staprun_ = 0;
  }
  if (remover_ != 0) {
    if (wait_for(remover_, 0))
      remover_ = 0;
    else if (now - removing_since_ >= kRemovalTakes)
      kill(remover_, SIGKILL);
  }
  if (!is_loaded()) return remover_ == 0;
  if (remover_ == 0 && now - removing_since_ >= kRemovalPause) {
    removing_since_ = now;
    if (const auto child = start({"staprun", "-d", name_}, -1, STDERR_FILENO, true)) remover_ = *child;
  }
  return false;
}

void StapScript::unload() {
  if (staprun_ == 0 && !unloading_since_ && keeper_.get() < 0) return;
  while (!step_unload()) poll(nullptr, 0, kStepMs);
}

std::optional<Error> StapScript::left() const {
  if (!unloading_since_ || !is_loaded()) return std::nullopt;
  return Error{"the module " + name_ + " could not be unloaded and still logs", "remove it: staprun -d " + name_};
}

}  // namespace uscope::cli
