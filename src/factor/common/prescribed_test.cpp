#include "kinegraph/factor/common/prescribed.hpp"

#include "kinegraph/factor/common/factor_test.hpp"

namespace kinegraph::prescribed_test {
namespace {

TEST(Prescribed, IsTheDistanceFromTheMotion) {
  const auto factor = prescribed(3, {2}, {"P1.x", "P1.y", "theta"});
  EXPECT_EQ(residual(*factor, {{1, 2, 3}, {0.5}}), (std::vector<double>{2.5}));
  EXPECT_EQ(factor->row_name(0), "prescribed theta");
  expect_exact_jacobians(*factor);
}

}  // namespace
}  // namespace kinegraph::prescribed_test
