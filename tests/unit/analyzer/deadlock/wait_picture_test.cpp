// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/deadlock/wait_picture.h"

#include "tests/unit/analyzer/deadlock/diagnosis_test.h"

namespace uscope::test {
namespace {

using analyzer::picture_of;
using analyzer::PictureNode;
using analyzer::WaitPicture;

class WaitPictures : public DeadlockTest {
 protected:
  WaitPicture picture(const HungTrace& trace) { return picture_of(diagnose(trace)); }

  // "101->102 a mutex *": each edge by the first tids of its nodes (p: a process), `*` in a circle.
  static std::vector<std::string> edges(const WaitPicture& picture) {
    const auto name = [&](std::size_t i) {
      const PictureNode& node = picture.nodes[i];
      return node.tids.empty() ? "p" + std::to_string(node.pids[0]) : std::to_string(node.tids[0]);
    };
    std::vector<std::string> out;
    for (const auto& edge : picture.edges)
      out.push_back(name(edge.from) + "->" + name(edge.to) + (edge.label.empty() ? "" : " " + edge.label) +
                    (edge.count > 1 ? " x" + std::to_string(edge.count) : "") + (edge.circle ? " *" : ""));
    std::sort(out.begin(), out.end());
    return out;
  }

  static const PictureNode& node(const WaitPicture& picture, std::int64_t tid) {
    for (const PictureNode& node : picture.nodes)
      if (std::find(node.tids.begin(), node.tids.end(), tid) != node.tids.end()) return node;
    static const PictureNode kNone;
    ADD_FAILURE() << "no node has thread " << tid;
    return kNone;
  }

  // main joins 101, which is in a circle with 102; `behind` threads more wait for the lock that 101 holds.
  static HungTrace circle(int behind) {
    HungTrace trace{
        .threads = {joiner(100, "main", 101), mutex_waiter(101, "left", kA, 102), mutex_waiter(102, "right", kB, 101)}};
    for (int i = 0; i < behind; i++) trace.threads.push_back(mutex_waiter(200 + i, "pool", kB, 101));
    return trace;
  }
};

TEST_F(WaitPictures, OfACircleMarkItsNodesAndEdges) {
  const WaitPicture found = picture(circle(0));
  EXPECT_EQ(edges(found),
            (std::vector<std::string>{"100->101 a thread's exit (join)", "101->102 a mutex *", "102->101 a mutex *"}));
  ASSERT_EQ(found.nodes.size(), 3U);
  EXPECT_TRUE(found.nodes[0].circle);
  EXPECT_TRUE(found.nodes[1].circle);
  EXPECT_FALSE(found.nodes[2].circle);
  const PictureNode& left = node(found, 101);
  EXPECT_EQ(left.finding, 0U);
  EXPECT_EQ(left.name, "left");
  EXPECT_EQ(left.process, "app");
  EXPECT_EQ(left.waits_for, "a mutex");
  EXPECT_EQ(left.address, kA);
  EXPECT_EQ(left.waited_ns, 10'000'000'000);
  ASSERT_FALSE(left.stack.empty());
  EXPECT_EQ(left.stack.back().function, "main");
  EXPECT_EQ(found.left_out, 0U);
}

TEST_F(WaitPictures, ThreadsThatWaitAlikeAreOneNode) {
  HungTrace trace = circle(100);
  trace.threads[50].waited = 25;
  trace.threads.back().stack = under("pthread_mutex_lock", "elsewhere");
  const WaitPicture found = picture(trace);
  ASSERT_EQ(found.nodes.size(), 5U);
  const PictureNode& pool = node(found, 200);
  EXPECT_EQ(pool.tids.size(), 99U);
  EXPECT_EQ(pool.pids, std::vector<std::int64_t>{100});
  EXPECT_EQ(pool.waited_ns, 25'000'000'000);
  EXPECT_EQ(node(found, 299).tids.size(), 1U);
  const auto drawn = edges(found);
  EXPECT_NE(std::find(drawn.begin(), drawn.end(), "200->101 a mutex x99"), drawn.end()) << drawn.size();
}

// Threads that others wait for are not like those that nobody waits for.
TEST_F(WaitPictures, OwnersStayByThemselves) {
  HungTrace trace = circle(2);
  trace.threads.push_back(joiner(300, "joins", 201));
  const WaitPicture found = picture(trace);
  EXPECT_EQ(node(found, 200).tids.size(), 1U);
  EXPECT_EQ(node(found, 201).tids.size(), 1U);
}

TEST_F(WaitPictures, ThreadsThatNobodyWaitsForAreLeftOut) {
  HungTrace trace = circle(0);
  trace.threads.push_back(elsewhere(110, "idle", "epoll_wait"));
  for (const PictureNode& node : picture(trace).nodes) EXPECT_NE(node.name, "idle");
}

TEST_F(WaitPictures, OwnersThatRunOrHaveEndedAreNodes) {
  const WaitPicture busy = picture({.threads = {mutex_waiter(101, "a", kA, 102), running(102, "b")}});
  EXPECT_EQ(node(busy, 102).what, PictureNode::What::kComputes);
  EXPECT_EQ(edges(busy), std::vector<std::string>{"101->102 a mutex"});
  MadeThread gone = running(102, "b");
  gone.ended = 3;
  const WaitPicture ended = picture({.threads = {mutex_waiter(101, "a", kA, 102), gone}});
  EXPECT_EQ(node(ended, 102).what, PictureNode::What::kEnded);
  EXPECT_EQ(edges(ended), std::vector<std::string>{"101->102 a mutex"});
}

analyzer::OtherWait reading(std::int64_t pid, std::int64_t tid) {
  analyzer::OtherWait wait;
  wait.call = "read";
  wait.wait = "read(3<pipe:[7]>)";
  wait.threads.emplace_back();
  wait.threads[0].pid = pid;
  wait.threads[0].tid = tid;
  wait.threads[0].process = "app";
  return wait;
}

TEST_F(WaitPictures, AProcessIsItsOnlyNodeOrLeadsToItsNodes) {
  Diagnosis diagnosis;
  diagnosis.other_waits = {reading(10, 10), reading(20, 20)};
  diagnosis.edges = {{10, 20, true, "the write end of pipe:[7]"}, {20, 30, true, "its end"}};
  EXPECT_EQ(edges(picture_of(diagnosis)),
            (std::vector<std::string>{"10->20 the write end of pipe:[7]", "20->p30 its end"}));
  auto& more = diagnosis.other_waits.emplace_back(reading(20, 21));
  more.call = more.wait = "poll";
  EXPECT_EQ(edges(picture_of(diagnosis)),
            (std::vector<std::string>{"10->p20 the write end of pipe:[7]", "20->p30 its end", "p20->20", "p20->21"}));
}

TEST_F(WaitPictures, OfVeryManyNodesThoseOfFindingsComeFirst) {
  Diagnosis diagnosis = diagnose(circle(0));
  for (std::int64_t pid = 1000; pid < 1400; pid++) {
    auto& wait = diagnosis.other_waits.emplace_back(reading(pid, pid));
    wait.wait += std::to_string(pid);
    diagnosis.edges.push_back({pid, 100, false, "x"});
  }
  const WaitPicture found = picture_of(diagnosis);
  EXPECT_EQ(found.nodes.size(), WaitPicture::kMostNodes);
  EXPECT_TRUE(found.nodes[0].circle && found.nodes[1].circle);
  EXPECT_EQ(found.left_out, 403 - WaitPicture::kMostNodes);
}

}  // namespace
}  // namespace uscope::test
