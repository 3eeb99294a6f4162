// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/reader/elf_reader.h"

#include <utility>

namespace uscope::symbolizer {
namespace {

class DirectReading final : public FileReading {
 public:
  DirectReading(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}
  Result<Digest> digest() override { return unwind_digest(fd_, name_); }
  Result<UnwindTable> rows(RowDetail detail) override { return build_rows(fd_, name_, detail); }

 private:
  int fd_;
  std::string name_;
};

class DirectReader final : public ElfReader {
 public:
  FactsAnswer facts(int fd, const std::string& name) override {
    auto facts = read_elf_facts(fd, name);
    const bool elf = facts || open_elf(fd, name);
    return {elf, std::move(facts)};
  }
  std::unique_ptr<FileReading> open(int fd, const std::string& name) override {
    return std::make_unique<DirectReading>(fd, name);
  }
};

}  // namespace

ElfReader& direct_reader() {
  static DirectReader reader;
  return reader;
}

}  // namespace uscope::symbolizer
