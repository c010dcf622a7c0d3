#include "kinegraph/filter/team.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace kinegraph::filter::team_test {
namespace {

TEST(Team, EveryThingIsOfOnePartWhateverTheThreads) {
  for (const int n : {0, 5, 16, 1003}) {
    std::vector<int> expected;
    for (const int threads : {1, 2, 3}) {
      const Team team(16, threads);
      std::vector<int> part_of(n, -1), taken(n, 0);
      team.share(n, [&](int part, int first, int last) {
        for (int i = first; i < last; ++i) part_of[i] = part, ++taken[i];
      });
      EXPECT_EQ(taken, std::vector<int>(n, 1)) << threads;
      if (threads == 1) expected = part_of;
      EXPECT_EQ(part_of, expected) << threads;
    }
  }
}

TEST(Team, RunsEachTaskOnce) {
  const Team team(4, 2);
  std::vector<int> taken(37, 0);
  team.run(37, [&](int i) { ++taken[i]; });
  EXPECT_EQ(taken, std::vector<int>(37, 1));
}

}  // namespace
}  // namespace kinegraph::filter::team_test
