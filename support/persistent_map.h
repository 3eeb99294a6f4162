// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// An ordered map with cheap copies: a copy and its original share everything that neither has changed since. Meant for
// tables that processes inherit at a fork, of which there may be very many. Every change costs the logarithm of the
// size.
//
// A treap with immutable nodes: a change copies the nodes on its path. Priorities are random, so that no sequence of
// keys, even a hostile one, makes the tree deep.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <utility>

namespace uscope {

template <typename Key, typename Value>
class PersistentMap {
  struct Node;
  using Tree = std::shared_ptr<const Node>;

 public:
  struct Entry {
    Key key;
    Value value;
  };

  [[nodiscard]] bool empty() const { return !root_; }
  [[nodiscard]] std::size_t size() const { return size_of(root_); }

  // Returns null if the key is absent. The pointer is valid until the map changes.
  [[nodiscard]] const Value* find(const Key& key) const {
    const Entry* entry = at_or_before(key);
    return entry != nullptr && !(entry->key < key) ? &entry->value : nullptr;
  }
  [[nodiscard]] const Entry* at_or_before(const Key& key) const {
    const Entry* best = nullptr;
    for (const Node* node = root_.get(); node != nullptr;) {
      const bool after = key < node->entry.key;
      if (!after) best = &node->entry;
      node = after ? node->left.get() : node->right.get();
    }
    return best;
  }
  [[nodiscard]] const Entry* at_or_after(const Key& key) const {
    const Entry* best = nullptr;
    for (const Node* node = root_.get(); node != nullptr;) {
      const bool before = node->entry.key < key;
      if (!before) best = &node->entry;
      node = before ? node->right.get() : node->left.get();
    }
    return best;
  }

  void set(const Key& key, Value value) {
    auto [before, rest] = split(root_, key, false);
    auto [same, after] = split(rest, key, true);
    const Tree node = make({key, std::move(value)}, random_number(), nullptr, nullptr);
    root_ = join(join(before, node), after);
  }

  // Removes all keys from `first` to `last`, inclusive, and returns them.
  PersistentMap cut(const Key& first, const Key& last) {
    auto [before, rest] = split(root_, first, false);
    auto [inside, after] = split(rest, last, true);
    root_ = join(before, after);
    PersistentMap taken;
    taken.root_ = std::move(inside);
    return taken;
  }

  // Adds the entries of `others`. No key may be in both maps, and no own key may lie between the keys of `others`.
  void put_between(const PersistentMap& others) {
    const Node* first = others.root_.get();
    if (first == nullptr) return;
    while (first->left) first = first->left.get();
    auto [before, after] = split(root_, first->entry.key, false);
    root_ = join(join(before, others.root_), after);
  }

  // Calls `see(key, value)` in the order of keys.
  template <typename See>
  void each(const See& see) const {
    each(root_.get(), see);
  }

  // The nodes of all maps of this type, which determine their memory.
  [[nodiscard]] static std::size_t nodes() { return nodes_; }

 private:
  struct Node {
    Entry entry;
    std::uint64_t priority;
    Tree left;
    Tree right;
    std::size_t size;

    Node(Entry entry_of, std::uint64_t priority_of, Tree left_of, Tree right_of)
        : entry(std::move(entry_of)),
          priority(priority_of),
          left(std::move(left_of)),
          right(std::move(right_of)),
          size(1 + size_of(left) + size_of(right)) {
      nodes_++;
    }
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;
    ~Node() { nodes_--; }
  };

  static std::size_t size_of(const Tree& tree) { return tree ? tree->size : 0; }
  static std::uint64_t random_number() {
    thread_local std::mt19937_64 numbers{std::random_device{}()};
    return numbers();
  }
  static Tree make(Entry entry, std::uint64_t priority, Tree left, Tree right) {
    return std::make_shared<const Node>(std::move(entry), priority, std::move(left), std::move(right));
  }
  static Tree with(const Node& node, Tree left, Tree right) {
    return make(node.entry, node.priority, std::move(left), std::move(right));
  }

  // Splits into keys before `key` and the rest; with `behind`, into keys up to `key` and those after it.
  static std::pair<Tree, Tree> split(const Tree& tree, const Key& key, bool behind) {
    if (!tree) return {};
    const bool first = behind ? !(key < tree->entry.key) : tree->entry.key < key;
    if (first) {
      if (!tree->right) return {tree, nullptr};
      auto [left, right] = split(tree->right, key, behind);
      if (!right) return {tree, nullptr};
      return {with(*tree, tree->left, std::move(left)), std::move(right)};
    }
    if (!tree->left) return {nullptr, tree};
    auto [left, right] = split(tree->left, key, behind);
    if (!left) return {nullptr, tree};
    return {std::move(left), with(*tree, std::move(right), tree->right)};
  }

  // All keys of `left` must be before those of `right`.
  static Tree join(const Tree& left, const Tree& right) {
    if (!left) return right;
    if (!right) return left;
    if (left->priority > right->priority) return with(*left, left->left, join(left->right, right));
    return with(*right, join(left, right->left), right->right);
  }

  template <typename See>
  static void each(const Node* node, const See& see) {
    for (; node != nullptr; node = node->right.get()) {
      each(node->left.get(), see);
      see(node->entry.key, node->entry.value);
    }
  }

  inline static std::atomic<std::size_t> nodes_{0};
  Tree root_;
};

}  // namespace uscope
