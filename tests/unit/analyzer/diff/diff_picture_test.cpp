// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The numbers of pictures are compared with those that SQLite counts in the stores.
#include "analyzer/diff/diff_picture.h"

#include <set>

#include "analyzer/read/query.h"
#include "tests/unit/analyzer/diff/diff_case.h"

namespace uscope::analyzer {
namespace {

using Strings = std::vector<std::string>;

class DiffPictures : public DiffTest {
 protected:
  DiffPictures() { options_.picture = true; }

  DiffPicture picture() {
    Diff found = compared();
    if (!found.picture) {
      ADD_FAILURE() << "no picture";
      return {};
    }
    return std::move(*found.picture);
  }

  static std::uint64_t count(const std::vector<std::filesystem::path>& files, const std::string& sql) {
    std::uint64_t all = 0;
    for (const auto& file : files) {
      const auto database = test::open_store(file);
      const auto number = one_number(database.prepare(sql));
      EXPECT_TRUE(number) << sql;
      if (number) all += static_cast<std::uint64_t>(*number);
    }
    return all;
  }

  // "server;main;work;read", root first.
  static std::string path(const MergedStacks& stacks, std::size_t node) {
    std::string text;
    for (; node != 0; node = stacks.nodes[node].parent)
      text = stacks.names[stacks.nodes[node].name].text + (text.empty() ? "" : ";" + text);
    return text;
  }
  static const MergedNode* find(const MergedStacks& stacks, const std::string& at) {
    for (std::size_t i = 0; i < stacks.nodes.size(); i++)
      if (path(stacks, i) == at) return &stacks.nodes[i];
    ADD_FAILURE() << "no node " << at;
    return nullptr;
  }

  void three_against_one() {
    three_normal();
    auto calls = usual();
    calls[4].count = 7;
    calls.push_back({.kind = "openat", .function = "open_page", .count = 15, .result = -13, .argument = "/srv/new"});
    calls.push_back({.kind = "fsync", .function = "save", .count = 3, .dur_ns = 5000});
    abnormal({.calls = calls});
  }
};

TEST_F(DiffPictures, CellsHaveTheCountsOfTheirStores) {
  three_against_one();
  const DiffPicture found = picture();
  const std::string cells =
      " FROM event e JOIN kind k ON k.id = e.kind_id JOIN stack s ON s.id = e.stack_id JOIN frame f ON f.id = "
      "s.trigger_frame_id WHERE k.name = '";
  ASSERT_EQ(found.cells.size(), 6U);
  for (const PicturedCell& cell : found.cells) {
    const std::string of = cells + cell.key.kind + "' AND f.function = '" + cell.key.function + "'";
    EXPECT_EQ(cell.normal.events, count(options_.normal, "SELECT count(*)" + of)) << cell.key.kind;
    EXPECT_EQ(cell.abnormal.events, count(options_.abnormal, "SELECT count(*)" + of)) << cell.key.kind;
    EXPECT_EQ(cell.normal.total_ns, count(options_.normal, "SELECT coalesce(sum(dur_ns), 0)" + of));
    EXPECT_EQ(cell.abnormal.total_ns, count(options_.abnormal, "SELECT coalesce(sum(dur_ns), 0)" + of));
  }
  EXPECT_EQ(found.cells[0].key.kind, "read");  // most events of a run
  EXPECT_EQ(found.cells[0].normal.runs, 3U);
  EXPECT_EQ(found.cells[0].abnormal.runs, 1U);
  EXPECT_EQ(found.cells_left_out, 0U);
}

TEST_F(DiffPictures, CellsHaveErrorsAndOpenCallsOfBothSides) {
  normal({.calls = {{.kind = "openat", .count = 20, .result = -2}, {.kind = "futex", .count = 2}}});
  abnormal({.calls = {{.kind = "openat", .count = 20, .result = -13}, {.kind = "futex", .count = 2, .dur_ns = -1}}});
  const DiffPicture found = picture();
  ASSERT_EQ(found.cells.size(), 2U);
  EXPECT_EQ(found.cells[0].normal.errors, (std::map<std::int64_t, std::uint64_t>{{2, 20}}));
  EXPECT_EQ(found.cells[0].abnormal.errors, (std::map<std::int64_t, std::uint64_t>{{13, 20}}));
  EXPECT_EQ(found.cells[1].normal.open, 0U);
  EXPECT_EQ(found.cells[1].abnormal.open, 2U);
  EXPECT_EQ(found.cells[1].abnormal.timed, 0U);
}

TEST_F(DiffPictures, OfTooManyCellsThoseOfFindingsAreKept) {
  Matrix matrix;
  for (int i = 0; i < 10; i++) matrix.cells[{"read", "f" + std::to_string(i), "app"}].events = 100 + i;
  const auto rows = join_cells({matrix}, {matrix});
  DiffPicture found;
  picture_cells(rows, {{"read", "f0", "app"}}, found, 3);
  EXPECT_EQ(found.cells_left_out, 7U);
  Strings names;
  for (const PicturedCell& cell : found.cells) names.push_back(cell.key.function);
  EXPECT_EQ(names, (Strings{"f9", "f8", "f0"}));
}

TEST_F(DiffPictures, StacksOfAllRunsAreOneTree) {
  three_against_one();
  const MergedStacks stacks = picture().stacks;
  ASSERT_FALSE(stacks.nodes.empty());
  const std::string time = "SELECT sum(dur_ns) FROM event";
  EXPECT_EQ(stacks.nodes[0].events[0], count(options_.normal, "SELECT count(*) FROM event"));
  EXPECT_EQ(stacks.nodes[0].events[1], count(options_.abnormal, "SELECT count(*) FROM event"));
  EXPECT_EQ(stacks.nodes[0].ns[0], count(options_.normal, time));
  EXPECT_EQ(stacks.nodes[0].ns[1], count(options_.abnormal, time));
  const MergedNode* page = find(stacks, "server;main;open_page");
  ASSERT_TRUE(page);
  EXPECT_EQ(page->events, (std::array<std::uint64_t, 2>{300, 115}));
  const MergedNode* save = find(stacks, "server;main;save;fsync");
  ASSERT_TRUE(save);
  EXPECT_EQ(save->events, (std::array<std::uint64_t, 2>{0, 3}));
  EXPECT_EQ(save->ns, (std::array<std::uint64_t, 2>{0, 15000}));
  EXPECT_EQ(stacks.names[stacks.nodes[save->parent].name].module, "server");
  EXPECT_EQ(stacks.left_out, 0U);
}

// What stands behind a node adds up to it, but for what is left out.
TEST_F(DiffPictures, LargeTreesLoseTheirSmallestNodes) {
  std::vector<MadeCalls> calls{{.kind = "read", .function = "much", .count = 100}};
  for (int i = 0; i < 20; i++) calls.push_back({.kind = "read", .function = "f" + std::to_string(i), .count = 1});
  normal({.calls = calls});
  abnormal({.calls = calls});
  const auto all = [&](std::size_t most) {
    StackMerger merger;
    const OffsetTrust trust({});
    const ModuleNames names;
    const auto database = test::open_store(options_.normal[0]);
    EXPECT_TRUE(merger.add(database, names, trust, RunSide::kNormal));
    return merger.finish(most);
  };
  const MergedStacks whole = all(100);
  EXPECT_EQ(whole.nodes.size(), 3 + 2 * 21U);
  std::vector<std::uint64_t> parts(whole.nodes.size());
  for (std::size_t i = 1; i < whole.nodes.size(); i++) {
    ASSERT_LT(whole.nodes[i].parent, i);
    parts[whole.nodes[i].parent] += whole.nodes[i].events[0];
  }
  for (std::size_t i = 0; i < whole.nodes.size(); i++)
    EXPECT_TRUE(parts[i] == 0 || parts[i] == whole.nodes[i].events[0]) << path(whole, i);
  const MergedStacks cut = all(6);
  EXPECT_EQ(cut.nodes.size(), 6U);
  EXPECT_EQ(cut.left_out, 39U);
  EXPECT_EQ(cut.nodes[0].events[0], 120U);
  EXPECT_EQ(find(cut, "server;main;much;read")->events[0], 100U);
}

TEST_F(DiffPictures, BrokenAndMissingStacksAreSaid) {
  normal(
      {.calls = {{.kind = "read", .count = 4}, {.kind = "write", .count = 6}},
       .more_sql = "UPDATE stack SET ended = 'broken:no_rows'; UPDATE event SET stack_id = NULL WHERE kind_id = 2;"});
  abnormal({.calls = {{.kind = "read", .count = 4}}});
  const MergedStacks stacks = picture().stacks;
  EXPECT_EQ(find(stacks, "server;[broken:no_rows];main;work;read")->events[0], 4U);
  EXPECT_EQ(find(stacks, "server;[no stack];write")->events[0], 6U);
  EXPECT_EQ(find(stacks, "server;main;work;read")->events, (std::array<std::uint64_t, 2>{0, 4}));
}

TEST_F(DiffPictures, FindingsHaveTheirMostUsualStacks) {
  three_normal();
  auto calls = usual();
  for (int i = 1; i <= 7; i++)
    calls.push_back({.kind = "fsync", .function = "save", .count = 10 + i, .caller = "from" + std::to_string(i)});
  abnormal({.calls = calls});
  const Diff found = compared();
  ASSERT_FALSE(found.abnormal_only.entries.empty());
  const CellExample& example = found.abnormal_only.entries[0].example;
  ASSERT_EQ(example.stacks.size(), CellExample::kMostStacks);
  EXPECT_EQ(example.stacks[0].stack, "from7;save");
  EXPECT_EQ(example.stacks[0].events, 17U);
  EXPECT_EQ(example.stacks[0].stack, example.stack);
  EXPECT_EQ(example.stacks[4].stack, "from3;save");
}

}  // namespace
}  // namespace uscope::analyzer
