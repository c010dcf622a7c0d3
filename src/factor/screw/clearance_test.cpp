#include "kinegraph/factor/screw/clearance.hpp"

#include "kinegraph/factor/screw/walker_test.hpp"

namespace kinegraph::screw::clearance_test {
namespace {

TEST(Clearance, JacobiansMatchDifferences) {
  const auto tree = walker(Robot::Base::floating);
  const CarriedSolid hand{2, {Solid::Type::swept, {}, 0.2, 0.05, {}}};
  const CarriedSolid ball{-1, {Solid::Type::swept, {Matrix3d::Identity(), {2, 3, 4}}, 0, 0.3, {}}};
  const CarriedSolid crate{-1, {Solid::Type::box, {Matrix3d::Identity(), {-4, 2, 5}}, 0, 0, {0.5, 0.5, 0.7}}};
  const CarriedSolid other{4, {Solid::Type::swept, {Matrix3d::Identity(), {0, 3, 1}}, 0.3, 0.1, {}}};
  for (const CarriedSolid& b : {ball, crate, other}) {
    expect_exact_jacobians(Clearance("hand - thing", tree, hand, b, 0.02), state_manifolds(*tree, 1));
  }
}

}  // namespace
}  // namespace kinegraph::screw::clearance_test
