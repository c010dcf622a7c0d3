#include "kinegraph/model/loops.hpp"

#include <gtest/gtest.h>

namespace kinegraph::loops_test {
namespace {

/// Joints between links by number; −1 is the world.
Robot joined(int links, const std::vector<std::pair<int, int>>& joints) {
  Robot robot;
  robot.links.resize(links);
  for (const auto& [parent, child] : joints) {
    Joint joint;
    joint.parent = LinkIndex(parent);
    joint.child = LinkIndex(child);
    robot.joints.push_back(joint);
  }
  return robot;
}

std::vector<int> closing(Robot robot) {
  mark_loops(robot);
  std::vector<int> closing;
  for (int i = 0; i < static_cast<int>(robot.joints.size()); ++i) {
    if (robot.joints[i].closes_loop) closing.push_back(i);
  }
  return closing;
}

TEST(MarkLoops, Trees) {
  EXPECT_EQ(closing(joined(3, {{-1, 0}, {0, 1}, {0, 2}})), std::vector<int>{});
  EXPECT_EQ(closing(joined(3, {{1, 2}, {0, 1}, {-1, 0}})), std::vector<int>{});
  // A link with two parents, one of which has no other joint: no loop.
  EXPECT_EQ(closing(joined(2, {{-1, 0}, {1, 0}})), std::vector<int>{});
}

TEST(MarkLoops, SecondParents) {
  EXPECT_EQ(closing(joined(3, {{-1, 0}, {0, 1}, {0, 2}, {1, 2}})), std::vector<int>{3});
  // The joint to the second parent comes before the one that makes it a loop.
  EXPECT_EQ(closing(joined(3, {{0, 2}, {1, 2}, {0, 1}})), std::vector<int>{1});
  EXPECT_EQ(closing(joined(2, {{-1, 0}, {0, 1}, {1, 0}})), std::vector<int>{2});
}

TEST(MarkLoops, ThroughTheRootAndTheWorld) {
  EXPECT_EQ(closing(joined(3, {{0, 1}, {1, 2}, {2, 0}})), std::vector<int>{2});
  EXPECT_EQ(closing(joined(2, {{-1, 0}, {-1, 1}, {0, 1}})), std::vector<int>{2});
}

TEST(FloatingRoots, OnePerPart) {
  EXPECT_EQ(floating_roots(joined(2, {{-1, 0}, {0, 1}})), std::vector<LinkIndex>{});
  EXPECT_EQ(floating_roots(joined(3, {{2, 1}, {1, 0}})), std::vector<LinkIndex>{LinkIndex(2)});
  EXPECT_EQ(floating_roots(joined(3, {{-1, 1}})), (std::vector<LinkIndex>{LinkIndex(0), LinkIndex(2)}));
  EXPECT_EQ(floating_roots(joined(2, {{0, 1}, {1, 0}})).size(), 1u);
}

}  // namespace
}  // namespace kinegraph::loops_test
