// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The kernel's functions: names and addresses from /proc/kallsyms, which of them can be traced from tracefs, parameters
// from its type information (BTF).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "support/result.h"
#include "tracer/host/host.h"
#include "tracer/probes/probe_plan.h"

struct btf;

namespace uscope::tracer {

// How a backend is told of calls of the kernel's functions: by BPF programs (tracer/host/kprobe_multi.h), or by ftrace,
// which a kernel module asks for it.
enum class KernelFunctionsBy : std::uint8_t { kNone, kKprobeMulti, kFtrace };

struct KernelFunction {
  std::string name;
  std::string module;         // "": of the kernel itself
  std::uint64_t address = 0;  // where it begins; 0: the kernel hides it
  std::string why_not;        // why no probe can stand there; "": one can
};

// All of the kernel and its modules, without BPF programs, by name and address. Several may have one name (static ones
// of several files), and one several names. Without those whose names are not wanted.
[[nodiscard]] Result<std::vector<KernelFunction>> kernel_functions(
    const Host& host, KernelFunctionsBy by = KernelFunctionsBy::kKprobeMulti,
    const std::function<bool(std::string_view)>& is_wanted = [](std::string_view) { return true; });

// What there is for them here, where a backend is not chosen yet: the module's where it is loaded, and BPF has nothing.
[[nodiscard]] KernelFunctionsBy kernel_functions_here();

// Why none of them can be traced here, or with their returns; "": they can, each as `why_not` says.
[[nodiscard]] std::string why_no_kernel_functions(const Host& host, KernelFunctionsBy by, bool with_return = false);

// Why its return cannot be traced, though its entry can; "": it can.
[[nodiscard]] std::string why_no_return(const KernelFunction& function, KernelFunctionsBy by);

// What C declares of a function.
struct KernelPrototype {
  std::vector<ProbeArgument> arguments;  // the first six, up to one that is passed in no register of its own
  std::vector<std::string> too_many;     // names of those behind the first six
  std::string result_type;
  std::uint8_t result_bytes = 0;  // 0: it has no result, or one that is in no register
  bool result_is_signed = false;
};

// The type information (BTF) of the kernel, read once, and of its modules, each when it is first asked for.
class KernelTypes {
 public:
  // Without types where the kernel has none.
  explicit KernelTypes(const Host& host);
  // Of such types, which it frees.
  explicit KernelTypes(btf* types);
  ~KernelTypes();
  KernelTypes(const KernelTypes&) = delete;
  KernelTypes& operator=(const KernelTypes&) = delete;
  // Of a module: types that stand on those of the kernel, which it frees; null: it has none.
  void add_module(const std::string& name, btf* types);
  // Nothing where it is not known: of modules without types, of functions that the compiler has changed (f.isra.0).
  [[nodiscard]] std::optional<KernelPrototype> prototype(const KernelFunction& function);

 private:
  class Functions;
  [[nodiscard]] const Functions& functions_of(const std::string& module);

  bool reads_modules_ = false;
  std::unique_ptr<Functions> kernel_;
  std::unordered_map<std::string, std::unique_ptr<Functions>> modules_;  // go first: they stand on the kernel's
};

}  // namespace uscope::tracer
