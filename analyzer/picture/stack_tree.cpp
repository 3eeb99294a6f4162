// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Memory grows with the number of distinct stacks, as the loader's does, not with that of events.
#include "analyzer/picture/stack_tree.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analyzer/read/query.h"

namespace uscope::analyzer {
namespace {

constexpr std::size_t kDeepest = 256;  // functions of a stack that become nodes: the innermost ones

// Interns names and nodes.
class TreeMaker {
 public:
  TreeMaker() { (void)child(0, "all"); }

  std::size_t child(std::size_t parent, const std::string& name) {
    const auto [at, is_new] = names_.try_emplace(name, tree_.names.size());
    if (is_new) tree_.names.push_back(name);
    const auto [node, made] = nodes_.try_emplace({parent, at->second}, tree_.nodes.size());
    if (made) tree_.nodes.push_back({parent, at->second});
    return node->second;
  }

  // The functions of stack.folded, below `parent`.
  std::size_t add_stack(std::size_t parent, std::string_view folded) {
    std::vector<std::string_view> functions;
    while (!folded.empty()) {
      const std::size_t end = folded.find(';');
      functions.push_back(folded.substr(0, end));
      folded.remove_prefix(end == std::string_view::npos ? folded.size() : end + 1);
    }
    std::size_t from = 0;
    if (functions.size() > kDeepest) {
      from = functions.size() - kDeepest;
      parent = child(parent, fmt::format("[{} more functions]", from));
    }
    for (std::size_t i = from; i < functions.size(); i++) parent = child(parent, std::string(functions[i]));
    return parent;
  }

  StackTree tree_;

 private:
  std::unordered_map<std::string, std::size_t> names_;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> nodes_;
};

}  // namespace

std::size_t StackSummer::Hash::operator()(const Key& key) const noexcept {
  constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15ULL;
  std::uint64_t hash = static_cast<std::uint64_t>(key.stack.value()) * kFactor;
  hash = (hash ^ hash >> 29U ^ static_cast<std::uint64_t>(key.image.value())) * kFactor;
  hash = (hash ^ hash >> 29U ^ key.cell) * kFactor;
  return hash ^ hash >> 32U;
}

void StackSummer::add(const PictureEvent& event, ImageRowId image, StackRowId stack) {
  StackSums& sums = sums_[{image, stack, event.cell}];
  sums[static_cast<std::size_t>(StackWeight::kEvents)]++;
  const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(0, event.dur_ns.value_or(0)));
  if (event.group != CallGroup::kNone) {
    sums[static_cast<std::size_t>(StackWeight::kCalls)] += ns;
  } else if (event.use == TimeUse::kUser || event.use == TimeUse::kKernel) {
    sums[static_cast<std::size_t>(StackWeight::kOnCpu)] +=
        static_cast<std::uint64_t>(std::max<std::int64_t>(0, event.part_ns));
  } else if (event.use != TimeUse::kNothing && event.use != TimeUse::kCall) {
    sums[static_cast<std::size_t>(StackWeight::kOffCpu)] += ns;
  }
}

Result<StackTree> StackSummer::finish(const store::Database& database, const Catalog& catalog,
                                      const std::vector<std::string>& functions, std::size_t most) {
  struct Line {
    Key key;
    StackSums sums{};
    bool kept = false;
  };
  std::vector<Line> lines;
  lines.reserve(sums_.size());
  for (const auto& [key, sums] : sums_) lines.push_back({key, sums});
  sums_.clear();
  const auto order = [](const Line& line) { return std::tuple(line.key.image, line.key.stack, line.key.cell); };
  for (std::size_t weight = 0; weight < kStackWeights; weight++) {
    const auto kept = lines.begin() + static_cast<std::ptrdiff_t>(std::min(most, lines.size()));
    std::partial_sort(lines.begin(), kept, lines.end(), [&](const Line& a, const Line& b) {
      return a.sums[weight] != b.sums[weight] ? a.sums[weight] > b.sums[weight] : order(a) < order(b);
    });
    for (auto line = lines.begin(); line != kept && line->sums[weight] > 0; ++line) line->kept = true;
  }
  std::sort(lines.begin(), lines.end(), [&](const Line& a, const Line& b) { return order(a) < order(b); });

  auto text_of = database.prepare("SELECT ended, folded FROM stack WHERE id = ?1");
  if (!text_of) return text_of.error();
  TreeMaker maker;
  std::map<std::pair<std::size_t, std::size_t>, StackLeaf> others;  // by node and cell
  for (const Line& line : lines) {
    const Image* image = catalog.images.find(line.key.image);
    const std::size_t process = maker.child(0, image == nullptr || image->name.empty() ? "[unknown]" : image->name);
    if (!line.kept) {
      const std::string& function = functions[line.key.cell];
      const std::size_t node =
          maker.child(maker.child(process, "[small stacks]"), function.empty() ? "[no application frame]" : function);
      StackLeaf& leaf = others.try_emplace({node, line.key.cell}, StackLeaf{node, line.key.cell}).first->second;
      leaf.others++;
      for (std::size_t weight = 0; weight < kStackWeights; weight++) leaf.sums[weight] += line.sums[weight];
      continue;
    }
    std::size_t node = process;
    if (line.key.stack) {
      text_of->reset();
      text_of->bind(1, line.key.stack);
      auto row = text_of->step();
      if (!row) return row.error();
      const std::string ended = *row ? text(*text_of, 0) : "";
      if (ended.starts_with("broken:")) node = maker.child(node, "[" + ended + "]");
      node = maker.add_stack(node, *row ? text_of->text(1) : "[unknown]");
    } else {
      node = maker.child(node, "[no stack]");
    }
    maker.tree_.leaves.push_back({node, line.key.cell, 0, line.sums});
  }
  for (const auto& [key, leaf] : others) maker.tree_.leaves.push_back(leaf);
  return std::move(maker.tree_);
}

}  // namespace uscope::analyzer
