#include "kinegraph/factor/natural/independent.hpp"

#include "kinegraph/factor/common/factor_test.hpp"
#include "kinegraph/mechanics/natural/models_test.hpp"

namespace kinegraph::natural::independent_test {
namespace {

TEST(Independent, IsTheCoordinateLessItsCopy) {
  const System system(fourbar_with_motor());
  const auto factor = independent(system, {4});
  EXPECT_EQ(residual(*factor, {{1, 2, 3, 4, 5}, {0.5}}), (std::vector<double>{4.5}));
  EXPECT_EQ(factor->row_name(0), "independent theta");
  expect_exact_jacobians(*factor);
}

}  // namespace
}  // namespace kinegraph::natural::independent_test
