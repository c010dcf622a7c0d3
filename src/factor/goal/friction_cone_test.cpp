#include "kinegraph/factor/goal/friction_cone.hpp"

#include "kinegraph/factor/common/curvature_test.hpp"
#include "kinegraph/factor/goal/within.hpp"

namespace kinegraph::friction_cone_test {
namespace {

TEST(FrictionCone, HoldsInsideAndRefusesSlipAndPull) {
  const FrictionCone cone("foot", 0.5);
  const auto inside = residual(cone, {{3, 4, 11}}), slip = residual(cone, {{3, 4, 9}}),
             pull = residual(cone, {{0, 0, -1}});
  EXPECT_GT(inside[0], 0.49);
  EXPECT_LT(slip[0], -0.49);
  EXPECT_LT(pull[0], 0);
  EXPECT_LT(pull[1], 0);
  EXPECT_EQ(residual(cone, {{0, 0, 0}})[0], 0);  // no force at all is allowed
  EXPECT_EQ(cone.row_name(0), "friction of foot");
  EXPECT_EQ(cone.row_name(1), "push of foot");
  expect_exact_jacobians(cone);
}

TEST(FrictionCone, CurvatureMatchesDifferences) {
  const FrictionCone cone("foot", 0.5);
  for (const auto& force : {std::vector<double>{3, 4, 11}, {3, -4, 9}, {0.2, 0.1, 0.05}, {1, 2, -0.1}}) {
    expect_exact_curvature(cone, {force}, {Manifold::real(3)});
    expect_exact_curvature(Within(std::make_shared<FrictionCone>("foot", 0.8), 0.3), {force}, {Manifold::real(3)});
  }
}

}  // namespace
}  // namespace kinegraph::friction_cone_test
