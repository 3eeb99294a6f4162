// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What can be probed in one ELF file: its functions, and the probes that its authors put into it (USDT).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.h"
#include "symbolizer/debug_files/debug_files.h"
#include "symbolizer/elf/elf_facts.h"
#include "uscope/jumps.h"

namespace uscope::symbolizer {

struct Refusal;  // probe_proof.h

// An argument, and how it is read at the place of the probe.
struct FoundArgument {
  enum class From : std::uint8_t { kRegister, kMemory, kConstant };
  std::string name;
  std::string type;
  From from = From::kRegister;
  std::uint8_t reg = 0;  // kRegister, kMemory: DWARF number, or USC_REG_PC
  std::uint8_t bytes = 8;
  bool is_signed = false;
  bool is_string = false;   // it points to a text that ends with NUL
  std::int64_t offset = 0;  // kMemory: added to the register; kConstant: the value
};

// A jump by which a function may end, as function_ends.h has it: JumpOut, IndirectJump.
struct FoundJump {
  std::uint64_t offset = 0;  // in the file
  std::uint8_t condition = 0;
  bool again = false;
  bool may_return = false;
  std::optional<usc_jump> indirect;
};

struct FoundProbe {
  std::string provider;                  // of USDT probes
  std::string name;                      // without parameter types, as a target names it
  std::string full_name;                 // of functions: demangled, with parameter types where the symbol has them
  std::vector<std::uint64_t> places;     // file offsets; of a function one
  std::uint64_t semaphore = 0;           // file offset; 0: none
  std::vector<FoundArgument> arguments;  // at most six
  std::vector<std::string> too_many;     // of USDT probes, as in UsdtArguments
  std::vector<std::string> unreadable;
  std::vector<std::uint64_t> returns;  // of functions with their returns: file offsets of these
  std::vector<FoundJump> jumps;        // of the same
  std::string result_type;             // of functions: "char *"; empty if it is not known
  std::uint8_t result_bytes = 0;       // 1, 2, 4, 8; 0: none
  bool result_is_signed = false;
  std::string left_out;  // of USDT probes: which of their places cannot be probed, and why; empty: none
  // Why there may be no probe; empty: there may. `can_be_forced`: the kernel would put it there all the same, where
  // places, returns and jumps say; else these are empty.
  std::string why_not;
  bool can_be_forced = false;

  void refuse(const Refusal& refusal);
};

// What is asked for: patterns (support/glob.h).
struct NamePattern {
  std::string provider;  // of USDT probes
  std::string name;      // of a function: matched against the symbol's name as it stands, and against the demangled one
                         // without parameter types
  std::string word;  // if not empty: also part of "provider:name" or of the function's name, whatever its letters' case
};

class ProbedFile {
 public:
  // The file behind `fd`, which must outlive the object. `path` is for messages, and for the search of debug files,
  // from which functions' names and arguments are taken too.
  static Result<std::unique_ptr<ProbedFile>> open(int fd, const std::string& path);

  // Sorted by name. Without arguments and results unless `with_arguments`: those of programs with DWARF take time.
  // `with_returns`: it is also found where they return.
  [[nodiscard]] std::vector<FoundProbe> functions(const NamePattern& pattern, bool with_arguments, bool with_returns);

  // Sorted by provider and name. Of probes with one name, those whose arguments are read in the same way are one.
  // `may_use_nop5`: see probe_place.h, which can choose another place where this cannot.
  [[nodiscard]] std::vector<FoundProbe> usdt_probes(const NamePattern& pattern, bool may_use_nop5);

  // The functions' names, and "provider:name" of the USDT probes, to offer near ones.
  [[nodiscard]] std::vector<std::string> function_names();
  [[nodiscard]] std::vector<std::string> usdt_names();

  ~ProbedFile();
  ProbedFile(const ProbedFile&) = delete;
  ProbedFile& operator=(const ProbedFile&) = delete;

 private:
  struct Parts;
  explicit ProbedFile(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

// Whether a word is part of a text, whatever the case of its ASCII letters.
[[nodiscard]] bool holds_word(std::string_view text, std::string_view word);

}  // namespace uscope::symbolizer
