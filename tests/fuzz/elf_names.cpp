// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Names, lines and inlined calls from any file: symbols, .gnu_debugdata, .gnu_debuglink, DWARF, PLT, Go's function
// table; its functions with their parameters, and its USDT probes. The input also serves as the debug file that a
// server might send.
#include <fcntl.h>

#include "fuzz.h"
#include "symbolizer/elf/elf_facts.h"
#include "symbolizer/names/symbols.h"
#include "symbolizer/probes/file_probes.h"

using uscope::symbolizer::ModuleSymbols;

namespace {

void ask(ModuleSymbols& symbols, std::uint64_t address) {
  for (const bool exact : {true, false}) {
    const auto frames = symbols.resolve(address, exact);
    uscope::fuzz::require(!frames.empty() && !frames.back().inlined, "an address has a physical function");
    for (const auto& frame : frames) uscope::fuzz::require(!frame.function.empty(), "a function has a name");
  }
}

void ask_all(ModuleSymbols& symbols, const uscope::symbolizer::ElfFacts& facts, std::span<const std::uint8_t> bytes) {
  ask(symbols, facts.entry);
  for (const auto& segment : facts.exec_segments)
    for (std::uint64_t i = 0; i < 32; i++) ask(symbols, segment.address + segment.size / 32 * i + i);
  // Addresses that the file itself may choose.
  for (std::size_t at = bytes.size() < 64 ? 0 : bytes.size() - 64; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t address = 0;
    std::memcpy(&address, bytes.data() + at, sizeof(address));
    ask(symbols, address);
  }
}

void ask_for_probes(int fd) {
  auto file = uscope::symbolizer::ProbedFile::open(fd, "/nonexistent/input");
  if (!file) return;
  auto found = (*file)->functions({"", "*", ""}, true, true);
  const auto usdt = (*file)->usdt_probes({"*", "*", ""}, false);
  found.insert(found.end(), usdt.begin(), usdt.end());
  for (const auto& probe : found) {
    uscope::fuzz::require(probe.arguments.size() <= 6, "at most six arguments");
    uscope::fuzz::require(!probe.places.empty() || !probe.why_not.empty(), "a probe has a place, or a reason");
    uscope::fuzz::require(probe.why_not.empty() || probe.can_be_forced || probe.places.empty(),
                          "what cannot be forced has no place");
  }
  (void)(*file)->function_names();
  (void)(*file)->usdt_names();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::uint8_t> bytes(data, size);
  const uscope::UniqueFd fd = uscope::fuzz::as_file(bytes);
  const auto facts = uscope::symbolizer::read_elf_facts(fd.get(), "input");
  const uscope::symbolizer::DebugFileFinder finder(
      {"/nonexistent"}, [&](const std::string&) { return uscope::UniqueFd(fcntl(fd.get(), F_DUPFD_CLOEXEC, 0)); });
  auto symbols = ModuleSymbols::open(fd.get(), "/nonexistent/input", &finder);
  if (!symbols || !facts) return 0;
  ask_for_probes(fd.get());
  ask_all(**symbols, *facts, bytes);
  if (auto image = ModuleSymbols::open_image(std::as_bytes(bytes), "[image]")) ask_all(**image, *facts, bytes);
  return 0;
}
