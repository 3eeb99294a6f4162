// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Unwind rows of an ELF file, in the format of include/uscope/rows.h, which the kernel walks with. Built from
// .eh_frame; for code that this does not cover, from Go's function table and from .debug_frame.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "support/result.h"
#include "symbolizer/elf/elf_facts.h"
#include "symbolizer/elf/sha256.h"
#include "uscope/rows.h"

namespace uscope::symbolizer {

// Counts of the input of a table.
struct RowStats {
  std::uint64_t fdes = 0;                 // that gave rows
  std::uint64_t fdes_refused = 0;         // malformed, or with an unknown augmentation or encoding
  std::uint64_t fdes_outside = 0;         // empty, or not in the executable segments below 4 GiB of the file
  std::uint64_t fdes_overlapping = 0;     // cut or dropped, since another FDE covers the code
  std::uint64_t rows_before_merging = 0;  // distinct rows of the FDEs alone
  std::uint64_t entry_roots = 0;          // 1 if the entry point has no FDE and was made an end of the stack
  std::uint64_t coroutine_roots = 0;      // glibc's __start_context
  std::uint64_t syscalls_taken_in = 0;    // system call instructions directly after an FDE
  std::uint64_t go_functions = 0;         // that got rows from Go's function table
  std::uint64_t signal_trampolines = 0;   // found in code without unwind information
  std::uint64_t crt_rows = 0;             // of the functions of start files without an FDE (crt_code.h)
  std::uint64_t proven_functions = 0;     // without an FDE, with rows that their code proves (code_rows.h)
  // Rows that no step can follow (usc_step: BAD_RULE), by cause.
  std::uint64_t bad_cfa_expression = 0;
  std::uint64_t bad_cfa = 0;  // undefined, or with a register beyond 15 or an offset beyond 32 bits
  std::uint64_t bad_return_address = 0;
  std::uint64_t bad_stack_pointer = 0;  // the caller's the stack pointer is not the CFA (longjmp)
  std::uint64_t bad_signal_frame = 0;   // an `S` frame that does not restore a sigcontext
  // Callee-saved registers, in rows with a shared rule, that are unknown after the step although the CFI says where
  // they are.
  std::uint64_t unknown_registers = 0;
  // What is wrong with the first FDE that was refused, as text with a NUL, cut to this length; "" if none was.
  std::array<char, 160> first_refusal{};
};

struct UnwindTable {
  std::vector<usc_row> rows;  // at least one; the last one is NONE at text_end
  std::vector<__u32> index;   // (text_end - text_start) / USC_INDEX_BYTES + 2 entries: a look-up at text_end is inside
  std::vector<usc_rule> rules;  // of this file; rows number them from 0
  __u32 text_start = 0;
  __u32 text_end = 0;
  RowStats stats;

  [[nodiscard]] std::size_t bytes() const {
    return rows.size() * sizeof(usc_row) + index.size() * sizeof(__u32) + rules.size() * sizeof(usc_rule);
  }
};

// The content of rows. kStack: enough for most walks, in compact rows. kAllRegisters: all callee-saved registers too,
// mostly by shared rules; for walks that need a register which compact rows omit. Not for the kernel.
enum class RowDetail : std::uint8_t { kStack, kAllRegisters };

// Builds the rows of the file behind `fd` (read with pread; the caller keeps it). A file without unwind information
// gives a table without any rule, not an error. `name` is for messages.
Result<UnwindTable> build_rows(int fd, const std::string& name, RowDetail detail = RowDetail::kStack);

// The same for an image in memory (the vdso), whose file offsets are offsets in `image`.
Result<UnwindTable> build_rows_from_memory(std::span<const std::byte> image, const std::string& name,
                                           RowDetail detail = RowDetail::kStack);

// Explains why a table has no rule though its file has call frame information; "" if nothing is wrong. `name` is for
// the text.
[[nodiscard]] std::string damage_of(const UnwindTable& table, const std::string& name);

// SHA-256 of everything that build_rows() reads of a file: its build-id, a hash of its code (above 64 MiB of code,
// without a build-id above 32 MiB, the file's device, inode, size and times instead), load layout, entry point, unwind
// sections and Go's function table.
Result<Digest> unwind_digest(int fd, const std::string& name);

// Checks the invariants of include/uscope/rows.h: order, index, rule numbers. Returns an error that names the violated
// one.
Result<void> check_rows(const UnwindTable& table);

}  // namespace uscope::symbolizer
