// What makes a function of one run the same as a function of another: names that hold across address space layout,
// rebuilds and stripped binaries. Pure functions.
//
// A named function is its name in its module's base name, without what a compiler adds to the name of a part or a copy
// of it. A function without a name is `module+0xSTART`: the same where the runs' modules of that base name have the
// same build-ids, and not to be told where they have not; all of these then are one, named kNameless.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace uscope::analyzer {

// In place of a name: functions of a module that have none and cannot be told apart across runs.
constexpr std::string_view kNameless = "[no name]";

// "libc.so.6" of "/usr/lib/libc.so.6", "memfd:code" of "/memfd:code (deleted)"; what is in brackets ends before its
// number: "[file]" of "[file 12]".
[[nodiscard]] std::string module_identity(std::string_view path);

// Without ".constprop.0", ".isra.1", ".part.2", ".cold", ".lto_priv.3", ".llvm.4" and the "::h0123456789abcdef" of
// Rust.
[[nodiscard]] std::string function_identity(std::string_view function);

// Whether a function's text is `module+0xADDRESS` and no name.
[[nodiscard]] bool is_nameless(std::string_view function);

// What an argument pointed to, without what differs from run to run: the ports that systems give to clients (32768 and
// above) and the numbers of sockets, pipes and processes are `*`: "inet:10.0.0.1:*", "socket:[*]", "/proc/*/stat".
[[nodiscard]] std::string argument_identity(std::string_view value);

struct ModuleBuild {
  std::string module;    // module_identity, renamed
  std::string build_id;  // empty: none
};

// Which modules' offsets mean the same in all runs that have the module.
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
