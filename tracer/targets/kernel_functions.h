// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The kernel's functions: names from /proc/kallsyms, parameters from its type information (BTF).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "support/result.h"
#include "tracer/host/host.h"
#include "tracer/probes/probe_plan.h"

struct btf;

namespace uscope::tracer {

// Names of functions, each once, sorted; of the kernel and its modules, without BPF programs.
[[nodiscard]] Result<std::vector<std::string>> kernel_functions(const Host& host);

// Why uscope cannot trace them here.
[[nodiscard]] std::string why_no_kernel_functions(const Host& host);

// The kernel's type information, read once.
class KernelTypes {
 public:
  // Without types where the kernel has none.
  explicit KernelTypes(const Host& host);
  // Names and types of a function's parameters, the first six; none where they are not known.
  [[nodiscard]] std::vector<ProbeArgument> parameters(const std::string& function) const;

 private:
  struct Deleter {
    void operator()(btf* types) const;
  };
  [[nodiscard]] std::string type_text(unsigned id) const;
  std::unique_ptr<btf, Deleter> types_;
  std::unordered_map<std::string_view, unsigned> functions_;  // ids by name
};

}  // namespace uscope::tracer
