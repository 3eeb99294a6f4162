// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/targets/kernel_functions.h"

#include <bpf/btf.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>

namespace uscope::tracer {
namespace {

constexpr std::size_t kMostArguments = 6;
constexpr int kMostTypeSteps = 12;
// The registers of the first six arguments, by DWARF's numbers: rdi rsi rdx rcx r8 r9.
constexpr std::array<std::uint8_t, kMostArguments> kRegisters = {5, 4, 1, 2, 8, 9};

bool is_function(std::string_view name) {
  // Padding before functions, and parts that the compiler moved away.
  return !name.starts_with("__pfx_") && !name.starts_with("__cfi_") && name.find(".cold") == std::string_view::npos;
}

}  // namespace

// "ffffffff81000000 T name\t[module]"
Result<std::vector<std::string>> kernel_functions(const Host& host) {
  const std::string path = host.root + "/proc/kallsyms";
  std::ifstream file(path);
  if (!file) return Error{"cannot read " + path, "it takes a kernel with CONFIG_KALLSYMS"};
  std::vector<std::string> names;
  for (std::string line; std::getline(file, line);) {
    const std::size_t type = line.find(' ');
    if (type == std::string::npos || type + 3 > line.size()) continue;
    const char letter = line[type + 1];
    if (letter != 't' && letter != 'T' && letter != 'w' && letter != 'W') continue;
    const std::size_t end = line.find('\t', type + 3);
    if (end != std::string::npos && line.compare(end + 1, 5, "[bpf]") == 0) continue;
    std::string name = line.substr(type + 3, end == std::string::npos ? end : end - type - 3);
    if (is_function(name)) names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::string why_no_kernel_functions(const Host& host) {
  if (!exists(host, "/sys/bus/event_source/devices/kprobe"))
    return "uscope does not trace kernel functions yet, and this kernel has no kprobes (CONFIG_KPROBE_EVENTS)";
  return "uscope does not trace kernel functions yet";
}

void KernelTypes::Deleter::operator()(btf* types) const {
  btf__free(types);
}

KernelTypes::KernelTypes(const Host& host) {
  if (!exists(host, "/sys/kernel/btf/vmlinux")) return;
  types_.reset(btf__load_vmlinux_btf());
  const unsigned count = types_ ? btf__type_cnt(types_.get()) : 0;
  for (unsigned id = 1; id < count; id++) {
    const btf_type* type = btf__type_by_id(types_.get(), id);
    if (btf_is_func(type)) functions_.emplace(btf__name_by_offset(types_.get(), type->name_off), id);
  }
}

// As C writes it; pointers to functions and deep types are shortened.
std::string KernelTypes::type_text(unsigned id) const {
  std::string behind;
  std::string before;
  for (int i = 0; i < kMostTypeSteps; i++) {
    const btf_type* type = btf__type_by_id(types_.get(), id);
    const std::string rest = behind.empty() ? "" : " " + behind;
    if (type == nullptr || id == 0) return before + "void" + rest;
    const char* name = btf__name_by_offset(types_.get(), type->name_off);
    const std::string own = name != nullptr && *name != '\0' ? name : "…";
    switch (btf_kind(type)) {
      case BTF_KIND_PTR:
        // What stands before belongs to the pointer itself: "char *const".
        behind = before.empty() ? "*" + behind : "*" + before.substr(0, before.size() - 1) + rest;
        before.clear();
        break;
      case BTF_KIND_CONST:
        before = "const " + before;
        break;
      case BTF_KIND_VOLATILE:
        before = "volatile " + before;
        break;
      case BTF_KIND_RESTRICT:
      case BTF_KIND_TYPE_TAG:
        break;
      case BTF_KIND_STRUCT:
      case BTF_KIND_FWD:
        return before + "struct " + own + rest;
      case BTF_KIND_UNION:
        return before + "union " + own + rest;
      case BTF_KIND_ENUM:
      case BTF_KIND_ENUM64:
        return before + "enum " + own + rest;
      case BTF_KIND_FUNC_PROTO:
        return "function" + rest;
      default:
        return before + own + rest;
    }
    id = type->type;
  }
  return "…";
}

std::vector<ProbeArgument> KernelTypes::parameters(const std::string& function) const {
  std::vector<ProbeArgument> arguments;
  const auto found = functions_.find(function);
  if (found == functions_.end()) return arguments;
  const btf_type* prototype = btf__type_by_id(types_.get(), btf__type_by_id(types_.get(), found->second)->type);
  if (prototype == nullptr || !btf_is_func_proto(prototype)) return arguments;
  const btf_param* parameters = btf_params(prototype);
  for (std::size_t i = 0; i < std::min<std::size_t>(btf_vlen(prototype), kMostArguments); i++) {
    if (parameters[i].type == 0) break;  // "..."
    ProbeArgument& argument = arguments.emplace_back();
    const char* name = btf__name_by_offset(types_.get(), parameters[i].name_off);
    argument.name = name != nullptr && *name != '\0' ? name : "arg" + std::to_string(i);
    argument.type = type_text(parameters[i].type);
    argument.reg = kRegisters[i];
    const auto size = btf__resolve_size(types_.get(), parameters[i].type);
    if (size == 1 || size == 2 || size == 4) argument.bytes = static_cast<std::uint8_t>(size);
    argument.is_string = argument.type == "const char *";
  }
  return arguments;
}

}  // namespace uscope::tracer
