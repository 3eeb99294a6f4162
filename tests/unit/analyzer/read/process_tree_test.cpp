// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/read/process_tree.h"

#include "tests/unit/analyzer/sample_trace.h"

namespace uscope::analyzer {
namespace {

using test::SampleTrace;

ProcessTree tree_of(const store::Database& database) {
  auto tree = build_tree(database);
  if (!tree) ADD_FAILURE() << tree.error().what;
  return tree ? std::move(*tree) : ProcessTree();
}

std::vector<std::int64_t> pids(const ProcessTree& tree, const std::vector<std::size_t>& nodes) {
  std::vector<std::int64_t> result;
  for (const std::size_t node : nodes) result.push_back(tree.nodes[node].pid);
  return result;
}

TEST_F(SampleTrace, TreeHasEveryProcessOnce) {
  const ProcessTree tree = tree_of(open());
  using Pids = std::vector<std::int64_t>;
  ASSERT_EQ(tree.nodes.size(), 7U);
  EXPECT_EQ(pids(tree, tree.roots), (Pids{100, 104, 105}));
  EXPECT_EQ(pids(tree, tree.nodes[0].children), (Pids{101, 102}));
  EXPECT_EQ(pids(tree, tree.nodes[1].children), (Pids{103}));
  EXPECT_EQ(pids(tree, tree.nodes[5].children), (Pids{106}));
  EXPECT_TRUE(tree.nodes[6].children.empty());
  EXPECT_TRUE(tree.nodes[4].parent_missing);
  EXPECT_TRUE(tree.nodes[5].in_circle);
  EXPECT_FALSE(tree.nodes[6].in_circle);
  EXPECT_EQ(tree.end_ns, 2'000'000'000);
}

TEST_F(SampleTrace, TreeNodesCarryImagesTimesAndCounts) {
  const ProcessTree tree = tree_of(open());
  const ProcessNode& make = tree.nodes[0];
  ASSERT_EQ(make.images.size(), 2U);
  EXPECT_EQ(make.images[0].path, "/usr/bin/bash");
  EXPECT_EQ(make.images[0].ts_ns, 0);
  EXPECT_EQ(make.images[1].argv, R"(["make","-j2"])");
  EXPECT_EQ(make.images[1].ts_ns, 100'000'000);
  EXPECT_EQ(make.name, "make");
  EXPECT_EQ(make.threads, 2U);
  EXPECT_EQ(make.events, 6U);
  const ProcessNode& gcc = tree.nodes[1];
  EXPECT_EQ(gcc.inherited_path, "/usr/bin/make");
  EXPECT_EQ(gcc.start_ns, 200'000'000);
  EXPECT_EQ(gcc.end_ns, 900'000'000);
  EXPECT_EQ(gcc.exit_code, 1);
  EXPECT_EQ(gcc.parent_pid, 100);
  const ProcessNode& forked = tree.nodes[2];
  EXPECT_TRUE(forked.images.empty());
  EXPECT_EQ(forked.name, "make");
  EXPECT_EQ(forked.exit_signal, 9);
  EXPECT_TRUE(tree.nodes[3].uses_io_uring);
  EXPECT_EQ(tree.nodes[3].end_ns, std::nullopt);
}

TEST(ProcessTree, AProcessThatIsItsOwnParentIsARoot) {
  const test::TemporaryFolder folder;
  test::write_store(folder / "self.db", R"sql(
    INSERT INTO process(id, pid, ns_pid, parent_id, start_ns, end_ns, exit_code, exit_signal, uses_io_uring) VALUES(3, 30, 30, 3, NULL, NULL, NULL, NULL, 0), (4, 40, 40, 3, NULL, NULL, NULL, NULL, 0);)sql");
  const ProcessTree tree = tree_of(test::open_store(folder / "self.db"));
  EXPECT_EQ(pids(tree, tree.roots), (std::vector<std::int64_t>{30}));
  EXPECT_EQ(pids(tree, tree.nodes[0].children), (std::vector<std::int64_t>{40}));
  EXPECT_TRUE(tree.nodes[0].in_circle);
}

TEST(ProcessTree, AChainOfTenThousandIsNoRecursion) {
  const test::TemporaryFolder folder;
  test::write_store(folder / "chain.db", R"sql(
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
    INSERT INTO process(id, pid, ns_pid, parent_id, start_ns, end_ns, exit_code, exit_signal, uses_io_uring) SELECT i, i, i, i - 1, i, NULL, NULL, NULL, 0 FROM n;
    INSERT INTO image SELECT id, id, id, '/bin/a', '[]', 'a', '[]' FROM process WHERE id % 50 = 1;)sql");
  const ProcessTree tree = tree_of(test::open_store(folder / "chain.db"));
  ASSERT_EQ(tree.roots.size(), 1U);
  std::size_t depth = 1;
  for (std::size_t node = tree.roots[0]; !tree.nodes[node].children.empty(); node = tree.nodes[node].children[0])
    depth++;
  EXPECT_EQ(depth, 10000U);
}

}  // namespace
}  // namespace uscope::analyzer
