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
#include "support/unique_fd.h"
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
                       frame.line, frame.inlined, frame.origin, frame.role, frame.locks});
    }
    return named;
  }

  std::string debug_trouble(const ModuleRequest& module) override {
    return resolver_.debug_trouble(to_string(module.file));
  }

  ModuleState state_of(const ModuleRequest& module) override {
    if (module.file == trace::kVdsoFile) return ModuleState::kUsable;
    ModuleState state = ModuleState::kGone;
    (void)open_file(module, state, false);
    return state;
  }

  void close_files() override { resolver_.close_all(); }

 private:
  // `opens`: a copy, too.
  UniqueFd open_file(const ModuleRequest& module, ModuleState& state, bool opens) const {
    const HeldModule held = opener_ ? opener_(module) : HeldModule();
    if (held.copy) {
      state = ModuleState::kUsable;
      return opens ? held.copy->open() : UniqueFd();
    }
    errno = 0;
    auto opened = open_regular(held.place.empty() ? module.path : held.place, "");
    if (!opened) {
      if (errno == 0) errno = EINVAL;  // not a regular file
      state = held.was_read ? ModuleState::kLost : ModuleState::kGone;
      return {};
    }
    const bool usable = holds_what_was_traced(opened->get(), module.traced, module.path);
    state = usable ? ModuleState::kUsable : ModuleState::kChanged;
    return std::move(*opened);
  }

  Result<std::unique_ptr<ModuleSymbols>> open(const ModuleRequest& module) const {
    if (module.file == trace::kVdsoFile) {
      if (!same_kernel_) return Error{"the trace is of another kernel", ""};
      return ModuleSymbols::open_image(vdso_image(), "[vdso]");
    }
    ModuleState state = ModuleState::kGone;
    const UniqueFd fd = open_file(module, state, true);
    if (state == ModuleState::kGone || state == ModuleState::kLost)
      return errno_error("cannot open " + module.path, errno);
    if (state == ModuleState::kUsable && !fd) return Error{"no memory for a copy of " + module.path, ""};
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
