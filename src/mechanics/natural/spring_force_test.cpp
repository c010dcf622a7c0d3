#include "kinegraph/mechanics/natural/spring_force.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace kinegraph::natural::spring_force_test {
namespace {

using Local = SpringForce::Local;

TEST(SpringForce, PullsItsEndsTogetherWhenStretched) {
  const SpringForce spring{10.0, 2.0, 3.0, 1e-9};
  const Local Q = spring.force({0, 0, 3, 4}, {0, 0, 0.6, 0.8}, 0);  // l = 5, l̇ = 1: F = 10·3 + 3
  EXPECT_NEAR(Q[0], 33 * 0.6, 1e-12);
  EXPECT_NEAR(Q[1], 33 * 0.8, 1e-12);
  EXPECT_NEAR(Q[2], -33 * 0.6, 1e-12);
  EXPECT_NEAR(Q[3], -33 * 0.8, 1e-12);
}

TEST(SpringForce, DerivativesMatchDifferences) {
  const SpringForce spring{7.0, 0.8, 1.3, 1e-9};
  const Local x{0.3, -0.2, 1.1, 0.7}, v{0.5, 1.2, -0.4, 0.9};
  const auto by_x = spring.by_position(x, v, 0), by_v = spring.by_velocity(x, v, 0);
  const double h = 1e-5;
  for (int c = 0; c < 4; ++c) {
    Local up = x, down = x, faster = v, slower = v;
    up[c] += h, down[c] -= h, faster[c] += h, slower[c] -= h;
    const Local x_up = spring.force(up, v, 0), x_down = spring.force(down, v, 0);
    const Local v_up = spring.force(x, faster, 0), v_down = spring.force(x, slower, 0);
    for (int r = 0; r < 4; ++r) {
      EXPECT_NEAR(by_x[4 * r + c], (x_up[r] - x_down[r]) / (2 * h), 1e-7);
      EXPECT_NEAR(by_v[4 * r + c], (v_up[r] - v_down[r]) / (2 * h), 1e-7);
    }
  }
}

TEST(SpringForce, IsTheSlopeOfItsPotential) {
  const SpringForce spring{7.0, 0.8, 1.3, 1e-9};
  const Local x{0.3, -0.2, 1.1, 0.7};
  const Local Q = spring.force(x, {}, 0);
  const double h = 1e-5;
  for (int c = 0; c < 4; ++c) {
    Local up = x, down = x;
    up[c] += h, down[c] -= h;
    EXPECT_NEAR(Q[c], -(spring.potential(up) - spring.potential(down)) / (2 * h), 1e-8);
  }
}

TEST(SpringForce, StaysFiniteWhereItsEndsMeet) {
  const SpringForce spring{7.0, 0.8, 1.3, 1e-9};
  const Local x{0.5, 0.5, 0.5, 0.5}, v{1, 2, 3, 4};
  for (const double value : spring.force(x, v, 0)) EXPECT_EQ(value, 0);
  for (const double value : spring.by_position(x, v, 0)) EXPECT_TRUE(std::isfinite(value));
  for (const double value : spring.by_velocity(x, v, 0)) EXPECT_TRUE(std::isfinite(value));
  EXPECT_NEAR(spring.potential(x), 0.5 * 7 * 0.64, 1e-8);
}

}  // namespace
}  // namespace kinegraph::natural::spring_force_test
