// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/read/stack_reader.h"

#include <unordered_map>
#include <utility>

#include "analyzer/read/query.h"
#include "store/db/statement.h"

namespace uscope::analyzer {
namespace {

constexpr std::size_t kCachedStacks = 4096;

}  // namespace

struct StackReader::State {
  store::Statement query;
  std::unordered_map<StackRowId, std::vector<StackFrame>> cache;
};

StackReader::StackReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
StackReader::StackReader(StackReader&&) noexcept = default;
StackReader& StackReader::operator=(StackReader&&) noexcept = default;
StackReader::~StackReader() = default;

Result<StackReader> StackReader::create(const store::Database& database) {
  auto query = database.prepare(
      "SELECT sf.position, sf.inline_depth, sf.space = 'kernel', f.inlined, m.class IS 'app', m.path, f.function, "
      "f.function_offset, f.rel_pc, f.file, f.line FROM stack_frame sf "
      "JOIN frame f ON f.id = sf.frame_id LEFT JOIN module m ON m.id = f.module_id "
      "WHERE sf.stack_id = ?1 ORDER BY sf.position, sf.inline_depth");
  if (!query) return query.error();
  return StackReader(std::make_unique<State>(State{std::move(*query), {}}));
}

Result<const std::vector<StackFrame>*> StackReader::frames(StackRowId stack_id) {
  const auto at = state_->cache.find(stack_id);
  if (at != state_->cache.end()) return &at->second;
  if (state_->cache.size() >= kCachedStacks) state_->cache.clear();
  std::vector<StackFrame> frames;
  state_->query.bind(1, stack_id);
  auto done = each(state_->query, [&](const SqlRow& row) {
    frames.push_back({row.integer(0), row.integer(1), row.integer(2) != 0, row.integer(3) != 0, row.integer(4) != 0,
                      text(row, 5), text(row, 6), row.integer(7), row.integer(8), text(row, 9), row.integer(10)});
  });
  if (!done) return done.error();
  return &state_->cache.emplace(stack_id, std::move(frames)).first->second;
}

}  // namespace uscope::analyzer
