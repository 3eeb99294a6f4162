// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Whether a place in a file may be probed. The kernel puts a breakpoint over the first byte there, in every process
// that maps the file, and executes a copy of the instruction that it takes from the file. So it must be certain that an
// instruction begins there, and that it is in memory what it is in the file. That takes a proof; nothing is probed
// because nothing speaks against it. Each probe in a file, whoever asks for it, comes from here. What can be known of
// processes only is compared later (tracer/targets/place_bytes.h).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "symbolizer/code/code_walk.h"
#include "symbolizer/probes/file_code.h"
#include "symbolizer/probes/file_functions.h"

namespace uscope::symbolizer {

struct Refusal {
  std::string why;
  bool can_be_forced = false;  // the kernel would put a probe there all the same, at the user's risk
};

class ProbeProof {
 public:
  explicit ProbeProof(FileCode& code) : code_(code) {}

  // Of an instruction at an ELF address, `proof` being what proves that it is one.
  [[nodiscard]] std::optional<Refusal> why_not(std::uint64_t address, ProvenBy proof) const;

  // Of a place in the first block of a function (probe_place.h).
  [[nodiscard]] std::optional<Refusal> why_not_entry(const FileFunction& function, std::uint64_t place) const;

  // Of all the places of a function's returns and jumps, as a walk has found them.
  [[nodiscard]] std::optional<Refusal> why_not_ends(const FunctionEnds& ends) const;

  // Of a USDT probe: a nop, as sdt.h makes it, that a walk through its function reaches.
  [[nodiscard]] std::optional<Refusal> why_not_usdt(std::uint64_t address);

 private:
  struct Walked {
    CodeSource source;
    std::unique_ptr<CodeWalk> walk;
    bool done = false;
  };
  [[nodiscard]] std::optional<Refusal> why_not_by_walk(std::uint64_t address);
  [[nodiscard]] const Walked& walk(const CodeRange& range);

  FileCode& code_;
  std::map<std::uint64_t, Walked> walked_;  // by the function's start
};

}  // namespace uscope::symbolizer
