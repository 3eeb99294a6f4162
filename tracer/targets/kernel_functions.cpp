// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/targets/kernel_functions.h"

#include <bpf/btf.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "support/type_text.h"
#include "tracer/host/kprobe_multi.h"
#include "tracer/probes/kernel_symbols.h"
#include "tracer/targets/tracepoints.h"
#include "uscope/arch/arch.h"
#include "uscope/device.h"

namespace uscope::tracer {
namespace {

constexpr std::size_t kMostArguments = 6;
constexpr int kMostTypeSteps = 12;
// The registers of the first six arguments, by DWARF's numbers.
constexpr auto kRegisters = [] {
  std::array<std::uint8_t, USC_ARGUMENT_REGS> all{};
  for (std::uint32_t i = 0; i < all.size(); i++) all[i] = USC_ARGUMENT_REG(i);
  return all;
}();
static_assert(USC_ARGUMENT_REGS == kMostArguments);

bool is_function(std::string_view name) {
  // Padding before functions, and parts that the compiler moved away.
  return !name.starts_with("__pfx_") && !name.starts_with("__cfi_") && name.find(".cold") == std::string_view::npos;
}

// The tracer's own programs take such locks. One that is run while another one gives such a lock back would wait for
// that lock forever.
constexpr std::array<std::string_view, 8> kLocks = {
    "_raw_spin_",       "_raw_read_",        "_raw_write_",   "native_queued_spin_lock",
    "queued_spin_lock", "__pv_queued_spin_", "raw_res_spin_", "resilient_"};
// What the kernel calls to run them, and they to read memory, to find a probe or a mapping, and to walk the kernel's
// stack: hits of these would be the tracer's.
constexpr std::array<std::string_view, 32> kOwnCalls = {"__rcu_read_",
                                                        "migrate_disable",
                                                        "migrate_enable",
                                                        "fprobe_",
                                                        "kprobe_multi_",
                                                        "rethook_",
                                                        "__htab_",
                                                        "bpf_",
                                                        "__bpf_",
                                                        "htab_",
                                                        "copy_from_user_nofault",
                                                        "copy_from_kernel_nofault",
                                                        "strncpy_from_user_nofault",
                                                        "strncpy_from_kernel_nofault",
                                                        "get_perf_callchain",
                                                        "perf_callchain_",
                                                        "bsearch",
                                                        "unwind_",
                                                        "__unwind_",
                                                        "orc_find",
                                                        "__orc_find",
                                                        "stack_access_ok",
                                                        "get_stack_info",
                                                        "in_task_stack",
                                                        "kernel_text_address",
                                                        "__kernel_text_address",
                                                        "core_kernel_text",
                                                        "is_bpf_text_address",
                                                        "is_module_text_address",
                                                        "irq_work_",
                                                        "sysvec_irq_work",
                                                        "do_mmap_read_unlock"};

bool begins_like_one(std::string_view name, std::span<const std::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(), [&](auto beginning) { return name.starts_with(beginning); });
}

// Nothing if the line is of something else.
std::optional<KernelSymbolLine> parse_function(std::string_view line) {
  const auto symbol = parse_kernel_symbol(line);
  // Code made at run time is listed as of modules that there are not.
  if (!symbol || !symbol->is_code() || !is_function(symbol->name) || symbol->module == "bpf" ||
      symbol->module.starts_with("__builtin__"))
    return std::nullopt;
  return symbol;
}

std::ifstream open_below(const Host& host, const std::string& path) {
  return std::ifstream(host.root + path);
}

// Where a function begins whose call of ftrace stands at an address: there, or behind an endbr64.
constexpr std::array<std::uint64_t, 2> kBeforeCall = {0, 4};

// Places where ftrace can stop, as tracefs lists them: by address, or (up to Linux 6.4) by name.
class FtracePlaces {
 public:
  // Those of the functions; nothing where it cannot be read.
  static std::optional<FtracePlaces> read(const Host& host, const std::vector<KernelFunction>& functions) {
    const auto folder = tracefs_folder(host);
    if (!folder) return std::nullopt;
    FtracePlaces places;
    if (std::ifstream file(*folder + kAddresses); file && file.peek() != EOF) {
      places.take_addresses(file, functions);
      return places;
    }
    std::ifstream file(*folder + "/available_filter_functions");
    if (!file || file.peek() == EOF) return std::nullopt;
    places.take_names(file, functions);
    return places;
  }

  // Whether it reads right with all functions only: a place may be listed by another name than the one that is meant.
  static bool takes_all(const Host& host) {
    const auto folder = tracefs_folder(host);
    return folder && std::ifstream(*folder + kAddresses).peek() == EOF;
  }

  // "": ftrace can stop there.
  [[nodiscard]] std::string why_not(const KernelFunction& function) const {
    if (beginnings_.contains(function.address)) return "";
    if (unclear_.contains(function.address))
      return "the kernel has several functions of this name, and says only that some of them can be traced";
    return "ftrace has no place in it: it is notrace, was run at boot only, or is not a C function";
  }

 private:
  static constexpr const char* kAddresses = "/available_filter_functions_addrs";

  // "ffffffff81000004 name [module]"
  void take_addresses(std::istream& file, const std::vector<KernelFunction>& functions) {
    std::unordered_set<std::uint64_t> known;
    for (const KernelFunction& function : functions) known.insert(function.address);
    for (std::string line; std::getline(file, line);) {
      std::uint64_t address = 0;
      std::from_chars(line.data(), line.data() + line.size(), address, 16);
      for (const std::uint64_t before : kBeforeCall)
        if (known.contains(address - before)) beginnings_.insert(address - before);
    }
  }

  // "name" or "name [module]", as often as there are such functions that ftrace can stop.
  void take_names(std::istream& file, const std::vector<KernelFunction>& functions) {
    struct Known {
      std::vector<std::uint64_t> addresses;
      std::size_t listed = 0;
    };
    std::unordered_map<std::string, Known> known;
    for (const KernelFunction& function : functions)
      known[function.name + (function.module.empty() ? "" : " [" + function.module + "]")].addresses.push_back(
          function.address);
    for (std::string line; std::getline(file, line);)
      if (const auto found = known.find(line); found != known.end()) found->second.listed++;
    for (const auto& [name, same] : known) {
      if (same.listed == 0) continue;
      auto& told = same.listed >= same.addresses.size() ? beginnings_ : unclear_;
      told.insert(same.addresses.begin(), same.addresses.end());
    }
  }

  std::unordered_set<std::uint64_t> beginnings_;
  std::unordered_set<std::uint64_t> unclear_;
};

struct Forbidden {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
};

// "0xffffffff81000000-0xffffffff81000010\tname". Nothing where debugfs is not mounted.
std::vector<Forbidden> forbidden_places(const Host& host) {
  std::vector<Forbidden> places;
  std::ifstream file = open_below(host, "/sys/kernel/debug/kprobes/blacklist");
  for (std::string line; std::getline(file, line);) {
    Forbidden place;
    char* rest = nullptr;
    place.start = std::strtoull(line.c_str(), &rest, 16);
    if (*rest == '-') place.end = std::strtoull(rest + 1, nullptr, 16);
    places.push_back(place);
  }
  return places;
}

// The module's hooks wait for no lock, and leave out what the module itself calls.
std::string why_not_by_programs(const KernelFunction& function) {
  if (begins_like_one(function.name, kLocks))
    return "the tracer's own programs take such a lock, and could wait there for themselves";
  if (begins_like_one(function.name, kOwnCalls)) return "the tracer's own programs call it: its hits would be theirs";
  return "";
}

std::string why_not_probed(const KernelFunction& function, KernelFunctionsBy by,
                           const std::optional<FtracePlaces>& places, const std::vector<Forbidden>& forbidden) {
  if (by == KernelFunctionsBy::kKprobeMulti)
    if (std::string why_not = why_not_by_programs(function); !why_not.empty()) return why_not;
  if (std::any_of(forbidden.begin(), forbidden.end(), [&](const Forbidden& place) {
        return function.address >= place.start && function.address < place.end;
      }))
    return "the kernel forbids probes in it (kprobes/blacklist)";
  return places ? places->why_not(function) : "";
}

}  // namespace

Result<std::vector<KernelFunction>> kernel_functions(const Host& host, KernelFunctionsBy by,
                                                     const std::function<bool(std::string_view)>& is_wanted) {
  std::ifstream file = open_below(host, "/proc/kallsyms");
  if (!file) return Error{"cannot read " + host.root + "/proc/kallsyms", "it takes a kernel with CONFIG_KALLSYMS"};
  std::vector<KernelFunction> functions;
  const bool takes_all = FtracePlaces::takes_all(host);
  for (std::string line; std::getline(file, line);)
    if (const auto symbol = parse_function(line); symbol && (takes_all || is_wanted(symbol->name)))
      functions.push_back({std::string(symbol->name), std::string(symbol->module), symbol->address, ""});
  const auto places = FtracePlaces::read(host, functions);
  if (takes_all) std::erase_if(functions, [&](const KernelFunction& function) { return !is_wanted(function.name); });
  std::stable_sort(functions.begin(), functions.end(), [](const KernelFunction& a, const KernelFunction& b) {
    return std::tie(a.name, a.address) < std::tie(b.name, b.address);
  });
  const std::vector<Forbidden> forbidden = forbidden_places(host);
  for (KernelFunction& function : functions) function.why_not = why_not_probed(function, by, places, forbidden);
  return functions;
}

KernelFunctionsBy kernel_functions_here() {
  if (why_no_kprobe_multi(kAttachKprobeMulti).empty() || access(USC_DEVICE_PATH, F_OK) != 0)
    return KernelFunctionsBy::kKprobeMulti;
  return KernelFunctionsBy::kFtrace;
}

std::string why_no_kernel_functions(const Host& host, KernelFunctionsBy by, bool with_return) {
  if (by == KernelFunctionsBy::kNone) return "the backend does not trace functions of the kernel";
  // What the kernel takes can be tried on this machine only.
  if (by == KernelFunctionsBy::kKprobeMulti && host.root.empty())
    if (std::string why = why_no_kprobe_multi(with_return ? kAttachKprobeSession : kAttachKprobeMulti); !why.empty())
      return why;
  const auto folder = tracefs_folder(host);
  if (!folder) return folder.error().what;
  if (std::ifstream file(*folder + "/available_filter_functions"); !file || file.peek() == EOF)
    return "which functions can be traced cannot be read: " + *folder + "/available_filter_functions";
  std::ifstream symbols = open_below(host, "/proc/kallsyms");
  for (std::string line; std::getline(symbols, line);)
    if (const auto symbol = parse_function(line); symbol && symbol->address != 0) return "";
  return "the kernel hides its addresses from this process: run as root, with kernel.kptr_restrict below 2";
}

std::string why_no_return(const KernelFunction& function, KernelFunctionsBy by) {
  constexpr std::array<std::string_view, 7> kServeReturns = {USC_DEVICE_SERVE_RETURNS};
  if (by == KernelFunctionsBy::kFtrace && begins_like_one(function.name, kServeReturns))
    return "the kernel calls it where a function returns that is traced";
  return "";
}

// The functions that some types tell of, and what C declares of them.
class KernelTypes::Functions {
 public:
  // Functions of ids below `first` are another one's. Null: there are none.
  Functions(btf* types, unsigned first) : types_(types) {
    const unsigned count = types_ ? btf__type_cnt(types_.get()) : 0;
    functions_.reserve(count);
    for (unsigned id = first; id < count; id++) {
      const btf_type* type = btf__type_by_id(types_.get(), id);
      if (btf_is_func(type)) functions_.emplace(btf__name_by_offset(types_.get(), type->name_off), id);
    }
  }

  [[nodiscard]] btf* types() const { return types_.get(); }
  [[nodiscard]] std::optional<KernelPrototype> prototype(const std::string& function) const;

 private:
  struct Deleter {
    void operator()(btf* types) const { btf__free(types); }
  };
  // A type without its other names and qualifiers.
  struct Plain {
    std::uint8_t bytes = 0;  // 0: not in one register
    bool is_signed = false;
  };
  [[nodiscard]] std::string type_text(unsigned id) const;
  [[nodiscard]] Plain plain(unsigned id) const;
  [[nodiscard]] std::string name_of(const btf_param& parameter, std::size_t number) const;

  std::unique_ptr<btf, Deleter> types_;
  std::unordered_map<std::string_view, unsigned> functions_;  // ids by name
};

// As C writes it; functions and what is nested too deep are shortened.
std::string KernelTypes::Functions::type_text(unsigned id) const {
  TypeText text;
  for (int i = 0; i < kMostTypeSteps; i++) {
    const btf_type* type = btf__type_by_id(types_.get(), id);
    if (type == nullptr || id == 0) return text.of("void");
    const char* const known = btf__name_by_offset(types_.get(), type->name_off);
    const std::string_view name = known != nullptr && *known != '\0' ? known : "…";
    switch (btf_kind(type)) {
      case BTF_KIND_PTR:
        text.point("*");
        break;
      case BTF_KIND_CONST:
        text.qualify("const");
        break;
      case BTF_KIND_VOLATILE:
        text.qualify("volatile");
        break;
      case BTF_KIND_RESTRICT:
      case BTF_KIND_TYPE_TAG:
        break;
      case BTF_KIND_STRUCT:
      case BTF_KIND_FWD:
        return text.of(fmt::format("struct {}", name));
      case BTF_KIND_UNION:
        return text.of(fmt::format("union {}", name));
      case BTF_KIND_ENUM:
      case BTF_KIND_ENUM64:
        return text.of(fmt::format("enum {}", name));
      case BTF_KIND_FUNC_PROTO:
        return text.of("function");
      default:
        return text.of(name);
    }
    id = type->type;
  }
  return "…";
}

KernelTypes::Functions::Plain KernelTypes::Functions::plain(unsigned id) const {
  for (int i = 0; i < kMostTypeSteps && id != 0; i++) {
    const btf_type* type = btf__type_by_id(types_.get(), id);
    if (type == nullptr) return {};
    switch (btf_kind(type)) {
      case BTF_KIND_PTR:
        return {8, false};
      case BTF_KIND_INT:
        return type->size <= 8
                   ? Plain{static_cast<std::uint8_t>(type->size), (btf_int_encoding(type) & BTF_INT_SIGNED) != 0}
                   : Plain{};
      case BTF_KIND_ENUM:
      case BTF_KIND_ENUM64:
        return {static_cast<std::uint8_t>(type->size), btf_kflag(type)};
      case BTF_KIND_STRUCT:
      case BTF_KIND_UNION:
        // Those of other sizes have no value of their own; larger ones take two registers, or none.
        return type->size == 1 || type->size == 2 || type->size == 4 || type->size == 8
                   ? Plain{static_cast<std::uint8_t>(type->size), false}
                   : Plain{};
      case BTF_KIND_TYPEDEF:
      case BTF_KIND_CONST:
      case BTF_KIND_VOLATILE:
      case BTF_KIND_RESTRICT:
      case BTF_KIND_TYPE_TAG:
        id = type->type;
        break;
      default:
        return {};
    }
  }
  return {};
}

std::string KernelTypes::Functions::name_of(const btf_param& parameter, std::size_t number) const {
  const char* name = btf__name_by_offset(types_.get(), parameter.name_off);
  return name != nullptr && *name != '\0' ? name : "arg" + std::to_string(number);
}

std::optional<KernelPrototype> KernelTypes::Functions::prototype(const std::string& function) const {
  const auto found = functions_.find(function);
  if (found == functions_.end()) return std::nullopt;
  const btf_type* prototype = btf__type_by_id(types_.get(), btf__type_by_id(types_.get(), found->second)->type);
  if (prototype == nullptr || !btf_is_func_proto(prototype)) return std::nullopt;
  KernelPrototype out;
  const btf_param* parameters = btf_params(prototype);
  for (std::size_t i = 0; i < std::min<std::size_t>(btf_vlen(prototype), kMostArguments); i++) {
    const Plain type = plain(parameters[i].type);
    if (type.bytes == 0) break;  // "..." too
    ProbeArgument& argument = out.arguments.emplace_back();
    argument.name = name_of(parameters[i], i);
    argument.type = type_text(parameters[i].type);
    argument.reg = kRegisters[i];
    argument.bytes = type.bytes;
    argument.is_signed = type.is_signed;
    argument.is_string = argument.type == "const char *";
  }
  for (std::size_t i = kMostArguments; i < btf_vlen(prototype); i++)
    if (parameters[i].type != 0) out.too_many.push_back(name_of(parameters[i], i));
  const Plain result = plain(prototype->type);
  out.result_type = type_text(prototype->type);
  out.result_bytes = result.bytes;
  out.result_is_signed = result.is_signed;
  return out;
}

KernelTypes::KernelTypes(const Host& host)
    : KernelTypes(exists(host, "/sys/kernel/btf/vmlinux") ? btf__load_vmlinux_btf() : nullptr) {
  reads_modules_ = true;
}

KernelTypes::KernelTypes(btf* types) : kernel_(std::make_unique<Functions>(types, 1)) {}

KernelTypes::~KernelTypes() = default;

void KernelTypes::add_module(const std::string& name, btf* types) {
  const unsigned of_kernel = kernel_->types() != nullptr ? btf__type_cnt(kernel_->types()) : 1;
  modules_.insert_or_assign(name, std::make_unique<Functions>(types, of_kernel));
}

const KernelTypes::Functions& KernelTypes::functions_of(const std::string& module) {
  if (module.empty()) return *kernel_;
  const auto known = modules_.find(module);
  if (known != modules_.end()) return *known->second;
  const bool reads = reads_modules_ && kernel_->types() != nullptr;
  add_module(module, reads ? btf__load_module_btf(module.c_str(), kernel_->types()) : nullptr);
  return *modules_.at(module);
}

std::optional<KernelPrototype> KernelTypes::prototype(const KernelFunction& function) {
  return functions_of(function.module).prototype(function.name);
}

}  // namespace uscope::tracer
