#include "kinegraph/mechanics/natural/coordinate_spring_force.hpp"

#include <gtest/gtest.h>

namespace kinegraph::natural::coordinate_spring_force_test {
namespace {

TEST(CoordinateSpringForce, IsLinear) {
  const CoordinateSpringForce spring{4.0, 0.5, 0.3};
  EXPECT_DOUBLE_EQ(spring.force({1.5}, {2.0}, 0)[0], -4.6);
  EXPECT_DOUBLE_EQ(spring.by_position({1.5}, {2.0}, 0)[0], -4.0);
  EXPECT_DOUBLE_EQ(spring.by_velocity({1.5}, {2.0}, 0)[0], -0.3);
  EXPECT_DOUBLE_EQ(spring.potential({1.5}), 2.0);
}

}  // namespace
}  // namespace kinegraph::natural::coordinate_spring_force_test
