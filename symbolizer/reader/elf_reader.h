// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Reads the ELF files of traced programs: in this process, or in unprivileged processes (reader_processes.h).
#pragma once

#include <memory>
#include <string>

#include "support/result.h"
#include "symbolizer/elf/elf_facts.h"
#include "symbolizer/elf/sha256.h"
#include "symbolizer/rows/row_builder.h"

namespace uscope::symbolizer {

struct FactsAnswer {
  bool elf = true;  // false: certainly not an ELF file of a supported kind
  Result<ElfFacts> facts;
  bool unread = false;  // the reading failed, so that nothing is known of the file
};

// The reading of one file. It does not own the descriptor, which must stay open as long as the object. For one thread
// only.
class FileReading {
 public:
  virtual ~FileReading() = default;
  // Covers everything that the rows depend on.
  virtual Result<Digest> digest() = 0;
  // The rows satisfy check_rows().
  virtual Result<UnwindTable> rows(RowDetail detail) = 0;
  // Whether an error above came of the reading (its process died, or took too long), and says nothing of the file.
  [[nodiscard]] virtual bool has_failed() const { return false; }
};

// Usable by several threads at once. `name` is for messages.
class ElfReader {
 public:
  virtual ~ElfReader() = default;
  virtual FactsAnswer facts(int fd, const std::string& name) = 0;
  virtual std::unique_ptr<FileReading> open(int fd, const std::string& name) = 0;
};

// Reads in this process, with its privileges.
ElfReader& direct_reader();

}  // namespace uscope::symbolizer
