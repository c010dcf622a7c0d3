#include "kinegraph/mechanics/natural/point_load_force.hpp"

#include <gtest/gtest.h>

#include "kinegraph/mechanics/natural/models_test.hpp"

namespace kinegraph::natural::point_load_force_test {
namespace {

TEST(PointLoadForce, FollowsItsLaws) {
  const auto Q = PointLoadForce{law_of_t("3*t"), Law(-2.0)}.force({}, {}, 1.5);
  EXPECT_DOUBLE_EQ(Q[0], 4.5);
  EXPECT_DOUBLE_EQ(Q[1], -2.0);
}

}  // namespace
}  // namespace kinegraph::natural::point_load_force_test
