// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Names addresses in many ELF files, and keeps a bounded number of them open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "support/result.h"
#include "symbolizer/names/symbols.h"

namespace uscope::symbolizer {

struct ResolverLimits {
  std::size_t modules = 64;        // open at a time
  std::size_t bytes = 192u << 20;  // estimated memory; one module alone may exceed it
  std::size_t remembered_errors = 4096;
};

struct ModuleError {
  std::string key;
  Error error;
};

// Not thread-safe.
class SymbolResolver {
 public:
  // Opens the module of a key. It is called if the key is new or its module was closed, so possibly more than once.
  using Opener = std::function<Result<std::unique_ptr<ModuleSymbols>>()>;

  explicit SymbolResolver(ResolverLimits limits = {}) : limits_(limits) {}

  // Calls ModuleSymbols::resolve() on the module `key` (a build-id, a path: any key that is unique for the file). If
  // the opener fails, returns unknown_frame(name, address); the error is kept for errors(), and the opener is not
  // called again for this key (unless more keys failed than limits.remembered_errors).
  std::vector<SymbolizedFrame> resolve(const std::string& key, const std::string& name, const Opener& opener,
                                       std::uint64_t address, bool exact);

  // ModuleSymbols::debug_trouble() of a module that is open; empty if it is not.
  [[nodiscard]] std::string debug_trouble(const std::string& key) const;

  // The modules that could not be opened, oldest first; at most limits.remembered_errors.
  [[nodiscard]] const std::vector<ModuleError>& errors() const { return errors_; }

  // Closes all modules; each is opened again when it is asked for.
  void close_all();
  [[nodiscard]] std::size_t open_modules() const { return modules_.size(); }
  [[nodiscard]] std::size_t footprint() const { return bytes_; }

 private:
  struct Module {
    std::string key;
    std::unique_ptr<ModuleSymbols> symbols;
    std::size_t bytes = 0;
  };

  Module* module_of(const std::string& key, const Opener& opener);
  void make_room();

  ResolverLimits limits_;
  std::list<Module> modules_;  // most recently used first
  std::unordered_map<std::string, std::list<Module>::iterator> by_key_;
  std::unordered_set<std::string> failed_;
  std::vector<ModuleError> errors_;
  std::size_t bytes_ = 0;
};

}  // namespace uscope::symbolizer
