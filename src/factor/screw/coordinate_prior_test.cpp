#include "kinegraph/factor/screw/coordinate_prior.hpp"

#include <gtest/gtest.h>

#include "kinegraph/factor/screw/screw_test.hpp"

namespace kinegraph::screw::coordinate_prior_test {
namespace {

TEST(CoordinatePrior, JacobiansMatchDifferencesOnEveryManifold) {
  for (const Manifold& manifold : {Manifold::real(2), Manifold::so3(), Manifold::se3()}) {
    const auto q0 = random_values({manifold}, 17)[0];
    const CoordinatePrior factor("hip", manifold, q0);
    expect_exact_jacobians(factor, {manifold});
    for (const double e : residual(factor, {q0})) EXPECT_NEAR(e, 0, 1e-15);
  }
}

}  // namespace
}  // namespace kinegraph::screw::coordinate_prior_test
