// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/session/record_target.h"

#include <fmt/core.h>
#include <linux/magic.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>

#include "cli/terminal/text_width.h"
#include "support/text.h"
#include "uscope/trace_map.h"

namespace uscope::cli {
namespace {

Result<void> check_pid(std::uint32_t pid) {
  if (pid == static_cast<std::uint32_t>(getpid())) return Error{"uscope does not trace itself", "give another --pid"};
  if (kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH)
    return Error{fmt::format("no process has PID {}", pid), "`ps -e` lists those that run"};
  // kill accepts a thread's number too, and /proc has a folder for it.
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  for (std::string word; status >> word;) {
    std::uint32_t process = 0;
    if (word == "Tgid:" && status >> process && process != pid)
      return Error{fmt::format("{} is a thread of process {}", pid, process), fmt::format("give --pid {}", process)};
  }
  return {};
}

// The kernel's id of a control group is the inode number of its folder.
Result<std::uint64_t> cgroup_id(const std::string& path) {
  struct statfs system {};
  struct stat status {};
  if (statfs(path.c_str(), &system) != 0 || stat(path.c_str(), &status) != 0)
    return errno_error("cannot look at the control group " + path, errno,
                       "give its folder, such as /sys/fs/cgroup/system.slice/nginx.service");
  if (system.f_type != CGROUP2_SUPER_MAGIC || !S_ISDIR(status.st_mode))
    return Error{path + " is not a control group of version 2",
                 "give its folder, such as /sys/fs/cgroup/system.slice/nginx.service"};
  return std::uint64_t{status.st_ino};
}

constexpr std::size_t kMostNames = 8;     // names that no process has, in one message
constexpr std::size_t kNameWidth = 40;    // of a name, so that its line fits 80 columns
constexpr std::size_t kTargetWidth = 32;  // of the names that are waited for

std::string short_name(const std::string& name) {
  return shorten(escape_terminal(name), kNameWidth, Shrink::kMiddle);
}

std::string process_text(const std::pair<std::string, std::uint32_t>& process) {
  return fmt::format("{} (pid {})", short_name(process.first), process.second);
}

std::string comma_separated(const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& item : list) text += (text.empty() ? "" : ", ") + item;
  return text;
}

}  // namespace

Result<void> set_target(const RecordVerbOptions& options, tracer::RecordOptions& out) {
  const int kinds = int{!options.command.empty()} + int{!options.apps.empty()} + int{!options.pids.empty()} +
                    int{!options.cgroups.empty()} + int{options.all};
  if (kinds > 1 && !options.command.empty()) {
    const char* option = !options.apps.empty()   ? "--app"
                         : !options.pids.empty() ? "--pid"
                         : options.all           ? "--all"
                                                 : "--cgroup";
    return Error{fmt::format("more than one kind of target: {} and the command {}", option, options.command.front()),
                 fmt::format("give one of them; for several, write {0} A {0} B", option)};
  }
  if (kinds != 1)
    return Error{kinds == 0 ? "nothing to trace" : "more than one kind of target",
                 fmt::format("give one of: {}--app NAME, --pid PID, --cgroup PATH",
                             options.takes_command ? "-- COMMAND, --all, " : "")};
  if (!options.user.empty() && options.command.empty())
    return Error{"--user is for a command that uscope starts", "leave it out"};
  if (options.keep_environment && options.user.empty())
    return Error{"--preserve-env is for the command of another user", "give --user, or leave it out"};
  usc_target& target = out.config.target;
  target.follow = options.follow == "image" ? USC_FOLLOW_IMAGE : USC_FOLLOW_TREE;
  if (!options.command.empty()) {
    target.kinds = USC_TARGET_LAUNCH;
    out.launch.command = options.command;
    out.launch.user = options.user;
    out.launch.keep_environment = options.keep_environment;
    out.target.apps = {std::string(base_name(options.command.front()))};
  } else if (!options.apps.empty()) {
    target.kinds = USC_TARGET_APP;
    for (const std::string& name : options.apps)
      if (name.empty() || name.find('/') != std::string::npos)
        return Error{"not the name of an application: '" + name + "'", "give a base name, without folders: nginx"};
    out.target.apps = options.apps;
  } else if (!options.pids.empty()) {
    target.kinds = USC_TARGET_PID;
    for (const std::uint32_t pid : options.pids)
      if (auto there = check_pid(pid); !there) return there;
    out.target.pids = options.pids;
  } else if (options.all) {
    // Whose descendants all are: init, and the thread that makes the kernel's, of which the kernel starts programs.
    target.kinds = USC_TARGET_PID;
    out.target.pids = {1, 2};
  } else {
    target.kinds = USC_TARGET_CGROUP;
    for (const std::string& path : options.cgroups) {
      auto id = cgroup_id(path);
      if (!id) return id.error();
      out.target.cgroups.push_back(*id);
    }
  }
  return {};
}

std::string describe_target(const RecordVerbOptions& options) {
  if (!options.command.empty()) return options.command.front();
  if (!options.apps.empty()) return "app " + comma_separated(options.apps);
  if (!options.cgroups.empty()) return "cgroup " + comma_separated(options.cgroups);
  if (options.all) return "all processes";
  std::vector<std::string> pids;
  for (const std::uint32_t pid : options.pids) pids.push_back(std::to_string(pid));
  return "pid " + comma_separated(pids);
}

std::string near_misses(const std::vector<tracer::MissingName>& missing) {
  std::string text;
  std::size_t named = 0;
  for (const tracer::MissingName& name : missing) {
    if (name.near.empty() || ++named > kMostNames) continue;
    std::string near;
    for (const auto& process : name.near) near += (near.empty() ? "" : ", ") + process_text(process);
    text += fmt::format("{}no process is called {}; did you mean {}?", text.empty() ? "" : "; ", short_name(name.name),
                        near);
  }
  return text;
}

std::string missing_lines(const std::vector<tracer::MissingName>& missing) {
  std::string text;
  for (std::size_t i = 0; i < std::min(missing.size(), kMostNames); i++) {
    const tracer::MissingName& name = missing[i];
    text +=
        fmt::format("  no process is called {}{}\n", short_name(name.name), name.near.empty() ? "" : "; did you mean");
    for (const auto& process : name.near)
      text += fmt::format("    {}{}\n", process_text(process), &process == &name.near.back() ? "?" : "");
  }
  if (missing.size() > kMostNames) text += fmt::format("  nor {} more names\n", missing.size() - kMostNames);
  return text;
}

std::string found_text(const RecordVerbOptions& options, const tracer::FoundRunning& found) {
  const std::string target = shorten(escape_terminal(describe_target(options)), kTargetWidth, Shrink::kEnd);
  const std::string first =
      found.threads == 0 ? fmt::format("uscope: nothing of {} runs yet: waiting for it;", target)
                         : fmt::format("uscope: tracing {}: {} already;", target,
                                       plural(found.threads, "thread") + (found.threads == 1 ? " runs" : " run"));
  constexpr std::string_view kHowToEnd = "Ctrl-C ends tracing";
  constexpr std::size_t kLineWidth = 80;
  const bool fits = display_width(first) + 1 + kHowToEnd.size() <= kLineWidth;
  return fmt::format("{}{}{}\n{}", first, fits ? " " : "\n  ", kHowToEnd, missing_lines(found.missing));
}

std::string left_over_text(const std::vector<std::pair<std::string, std::uint32_t>>& processes) {
  std::string names;
  for (std::size_t i = 0; i < std::min(processes.size(), kMostNames); i++)
    names += (names.empty() ? "" : ", ") + process_text(processes[i]);
  if (processes.size() > kMostNames) names += fmt::format(" and {} more", processes.size() - kMostNames);
  return fmt::format(
      "uscope: the command has ended; tracing goes on until what it left has ended, too: {}\n"
      "  Ctrl-C ends tracing; --duration limits it\n",
      names);
}

void print_found(const RecordVerbOptions& options, const tracer::FoundRunning& found) {
  std::fputs(found_text(options, found).c_str(), stderr);
}

}  // namespace uscope::cli
