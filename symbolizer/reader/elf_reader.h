// Who reads the ELF files of traced programs: this process, or processes without privileges (reader_processes.h).
#pragma once

#include <memory>
#include <string>

#include "support/result.h"
#include "symbolizer/elf/elf_facts.h"
#include "symbolizer/elf/sha256.h"
#include "symbolizer/rows/row_builder.h"

namespace uscope::symbolizer {

struct FactsAnswer {
  bool elf = true;  // false: surely no ELF file of a kind that is read here
  Result<ElfFacts> facts;
};

// The reading of one file, whose descriptor it does not own and needs no longer than it lives. Used by one thread.
class FileReading {
 public:
  virtual ~FileReading() = default;
  // Of all that the rows follow from.
  virtual Result<Digest> digest() = 0;
  // check_rows() holds for them.
  virtual Result<RowTable> rows(RowDetail detail) = 0;
};

// Used by several threads at once. `name` is for messages.
class ElfReader {
 public:
  virtual ~ElfReader() = default;
  virtual FactsAnswer facts(int fd, const std::string& name) = 0;
  virtual std::unique_ptr<FileReading> open(int fd, const std::string& name) = 0;
};

// In this process, with its privileges.
ElfReader& direct_reader();

}  // namespace uscope::symbolizer
