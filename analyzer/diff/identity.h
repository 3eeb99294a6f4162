// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Decides which function of one run is the same as a function of another, by names that hold across address space
// layout, rebuilds and stripped binaries. Pure functions.
//
// A named function is identified by its name and its module's base name, without the suffixes that compilers add for
// parts or copies. A function without a name is `module+0xSTART`. That is the same across runs if their modules of that
// base name have the same build-ids; if not, such functions cannot be told apart, and all of them become one, named
// kNameless.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace uscope::analyzer {

// Stands for all functions of a module that have no name and cannot be told apart across runs.
constexpr std::string_view kNameless = "[no name]";

// "libc.so.6" for "/usr/lib/libc.so.6", "memfd:code" for "/memfd:code (deleted)"; text in brackets is cut before its
// number: "[file]" for "[file 12]".
[[nodiscard]] std::string module_identity(std::string_view path);

// The name without ".constprop.0", ".isra.1", ".part.2", ".cold", ".lto_priv.3", ".llvm.4" and the
// "::h0123456789abcdef" of Rust.
[[nodiscard]] std::string function_identity(std::string_view function);

// Whether a function's text is `module+0xADDRESS` instead of a name.
[[nodiscard]] bool is_nameless(std::string_view function);

// Numbers of processes and threads in one run.
using TaskNumbers = std::set<std::int64_t>;

// The data that an argument pointed to, with everything that differs from run to run replaced by `*`: client ports
// (32768 and above), the numbers of sockets, pipes and processes, and the random parts of temporary names:
// "inet:10.0.0.1:*", "socket:[*]", "/proc/*/stat", "/tmp/*.s". `tasks`: what the run had; other numbers of three digits
// or more are its own if they are one of these ("/run/server.1234"), unless a letter follows.
[[nodiscard]] std::string argument_identity(std::string_view value, const TaskNumbers& tasks = {});

struct ModuleBuild {
  std::string module;    // module_identity, renamed
  std::string build_id;  // empty: none
};

// Knows the modules whose offsets mean the same in all runs that have the module.
class OffsetTrust {
 public:
  // `runs`: the modules of each run.
  explicit OffsetTrust(const std::vector<std::vector<ModuleBuild>>& runs);

  [[nodiscard]] bool trusted(const std::string& module) const { return untrusted_.count(module) == 0; }

 private:
  std::set<std::string> untrusted_;
};

// Modules renamed between the runs: old base name to new.
using ModuleNames = std::map<std::string, std::string>;

}  // namespace uscope::analyzer
