#include "store/frame_namer.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

#include "support/result.h"
#include "symbolizer/elf_facts.h"
#include "symbolizer/symbol_resolver.h"

namespace uscope::store {
namespace {

using symbolizer::ModuleSymbols;

// The vdso is one ELF image whose section headers come last; the kernel maps it into every process, this one too.
std::span<const std::byte> own_vdso() {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the auxiliary vector hands addresses out as integers
  const auto* start = reinterpret_cast<const std::byte*>(::getauxval(AT_SYSINFO_EHDR));
  if (!start) return {};
  Elf64_Ehdr header{};
  std::memcpy(&header, start, sizeof(header));
  return {start, header.e_shoff + std::size_t{header.e_shnum} * header.e_shentsize};
}

bool is_file_of(int fd, const ModuleRequest& module) {
  if (!module.build_id.empty()) {
    auto facts = symbolizer::read_elf_facts(fd, module.path);
    return facts && facts->build_id == module.build_id;
  }
  struct stat status {};
  if (!module.key || ::fstat(fd, &status) != 0) return false;
  return static_cast<std::uint64_t>(status.st_size) == module.key->size &&
         status.st_ctim.tv_sec == module.key->ctime_sec &&
         static_cast<std::uint32_t>(status.st_ctim.tv_nsec) == module.key->ctime_nsec;
}

class SymbolNamer : public FrameNamer {
 public:
  SymbolNamer(ModuleOpener opener, bool same_kernel, symbolizer::DebugFetcher fetch)
      : opener_(std::move(opener)),
        same_kernel_(same_kernel),
        finder_({"/usr/lib/debug"}, std::move(fetch)),
        resolver_({.modules = 4, .bytes = 32U << 20}) {}

  std::vector<NamedFrame> name(const ModuleRequest& module, std::uint64_t address, bool exact) override {
    const auto frames = resolver_.resolve(
        std::to_string(module.file), module.path, [&] { return open(module); }, address, exact);
    std::vector<NamedFrame> named;
    for (const auto& frame : frames) {
      // A name that is only the address comes with the offset 0, which is no offset in a function.
      const bool has_start = frame.function_offset != 0 || exact;
      named.push_back({frame.function, has_start ? std::optional(frame.function_offset) : std::nullopt, frame.file,
                       frame.line, frame.inlined});
    }
    return named;
  }

 private:
  Result<std::unique_ptr<ModuleSymbols>> open(const ModuleRequest& module) const {
    if (module.file == USC_FILE_VDSO) {
      if (!same_kernel_) return Error{"the trace is of another kernel", ""};
      return ModuleSymbols::open_image(own_vdso(), "[vdso]");
    }
    UniqueFd fd = opener_ ? opener_(module) : UniqueFd();
    if (!fd) {
      fd.reset(::open(module.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
      if (!fd) return errno_error("cannot open " + module.path, errno);
      if (!is_file_of(fd.get(), module)) return Error{module.path + " is not the file that was traced", ""};
    }
    return ModuleSymbols::open(fd.get(), module.path, &finder_);
  }

  ModuleOpener opener_;
  bool same_kernel_;
  symbolizer::DebugFileFinder finder_;
  symbolizer::SymbolResolver resolver_;
};

}  // namespace

std::unique_ptr<FrameNamer> make_symbol_namer(ModuleOpener opener, bool same_kernel, symbolizer::DebugFetcher fetch) {
  return std::make_unique<SymbolNamer>(std::move(opener), same_kernel, std::move(fetch));
}

}  // namespace uscope::store
