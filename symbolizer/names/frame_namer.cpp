// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/names/frame_namer.h"

#include <fcntl.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

#include "support/regular_file.h"
#include "support/result.h"
#include "symbolizer/elf/vdso_image.h"
#include "symbolizer/names/symbol_resolver.h"

namespace uscope::symbolizer {
namespace {

class SymbolNamer : public FrameNamer {
 public:
  SymbolNamer(ModuleOpener opener, bool same_kernel, DebugFetcher fetch)
      : opener_(std::move(opener)),
        same_kernel_(same_kernel),
        finder_({"/usr/lib/debug"}, std::move(fetch)),
        resolver_({.modules = 4, .bytes = 32U << 20}) {}

  std::vector<NamedFrame> name(const ModuleRequest& module, std::uint64_t address, bool exact) override {
    const auto frames = resolver_.resolve(
        to_string(module.file), module.path, [&] { return open(module); }, address, exact);
    std::vector<NamedFrame> named;
    for (const auto& frame : frames) {
      // A name that is only the address has the offset 0, which is not an offset in a function.
      const bool has_start = frame.function_offset != 0 || exact;
      named.push_back({frame.function, has_start ? std::optional(frame.function_offset) : std::nullopt, frame.file,
                       frame.line, frame.inlined, frame.origin, frame.role});
    }
    return named;
  }

  std::string debug_trouble(const ModuleRequest& module) override {
    return resolver_.debug_trouble(to_string(module.file));
  }

  ModuleState state_of(const ModuleRequest& module) override {
    if (module.file == trace::kVdsoFile) return ModuleState::kUsable;
    ModuleState state = ModuleState::kGone;
    (void)open_file(module, state);
    return state;
  }

 private:
  UniqueFd open_file(const ModuleRequest& module, ModuleState& state) const {
    HeldModule held = opener_ ? opener_(module) : HeldModule();
    const bool was_held = static_cast<bool>(held.fd);
    if (!was_held) {
      errno = 0;
      if (auto opened = open_regular(module.path, ""))
        held.fd = std::move(*opened);
      else if (errno == 0)
        errno = EINVAL;  // not a regular file
    }
    const bool usable =
        held.copied || (held.fd && holds_what_was_traced(held.fd.get(), module.traced, was_held, module.path));
    state = usable ? ModuleState::kUsable : held.fd ? ModuleState::kChanged : ModuleState::kGone;
    return std::move(held.fd);
  }

  Result<std::unique_ptr<ModuleSymbols>> open(const ModuleRequest& module) const {
    if (module.file == trace::kVdsoFile) {
      if (!same_kernel_) return Error{"the trace is of another kernel", ""};
      return ModuleSymbols::open_image(vdso_image(), "[vdso]");
    }
    ModuleState state = ModuleState::kGone;
    const UniqueFd fd = open_file(module, state);
    if (state == ModuleState::kGone) return errno_error("cannot open " + module.path, errno);
    if (state == ModuleState::kChanged) return Error{module.path + " is not the file that was traced", ""};
    return ModuleSymbols::open(fd.get(), module.path, &finder_);
  }

  ModuleOpener opener_;
  bool same_kernel_;
  DebugFileFinder finder_;
  SymbolResolver resolver_;
};

}  // namespace

std::unique_ptr<FrameNamer> make_symbol_namer(ModuleOpener opener, bool same_kernel, DebugFetcher fetch) {
  return std::make_unique<SymbolNamer>(std::move(opener), same_kernel, std::move(fetch));
}

}  // namespace uscope::symbolizer
