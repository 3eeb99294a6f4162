// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/names/symbol_resolver.h"

namespace uscope::symbolizer {

std::vector<SymbolizedFrame> SymbolResolver::resolve(const std::string& key, const std::string& name,
                                                     const Opener& opener, std::uint64_t address, bool exact) {
  Module* module = module_of(key, opener);
  if (module == nullptr) return {unknown_frame(name, address)};
  std::vector<SymbolizedFrame> frames = module->symbols->resolve(address, exact);
  bytes_ -= module->bytes;
  module->bytes = module->symbols->footprint();
  bytes_ += module->bytes;
  make_room();
  return frames;
}

std::string SymbolResolver::debug_trouble(const std::string& key) const {
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? std::string() : found->second->symbols->debug_trouble();
}

SymbolResolver::Module* SymbolResolver::module_of(const std::string& key, const Opener& opener) {
  if (const auto found = by_key_.find(key); found != by_key_.end()) {
    modules_.splice(modules_.begin(), modules_, found->second);
    return &modules_.front();
  }
  if (failed_.contains(key)) return nullptr;
  Result<std::unique_ptr<ModuleSymbols>> symbols = opener();
  if (!symbols) {
    if (failed_.size() < limits_.remembered_errors) {
      failed_.insert(key);
      errors_.push_back({key, symbols.error()});
    }
    return nullptr;
  }
  modules_.push_front({key, std::move(*symbols), 0});
  by_key_[key] = modules_.begin();
  make_room();
  return &modules_.front();
}

// Closes the least recently used modules. The one just used stays, whatever its size.
void SymbolResolver::make_room() {
  while (modules_.size() > 1 && (modules_.size() > limits_.modules || bytes_ > limits_.bytes)) {
    bytes_ -= modules_.back().bytes;
    by_key_.erase(modules_.back().key);
    modules_.pop_back();
  }
}

void SymbolResolver::close_all() {
  modules_.clear();
  by_key_.clear();
  bytes_ = 0;
}

}  // namespace uscope::symbolizer
