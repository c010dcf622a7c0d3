#include "kinegraph/factor/common/affine.hpp"

#include "kinegraph/factor/common/factor_test.hpp"

namespace kinegraph::affine_test {
namespace {

/// y = c + A x with x of sizes 1 and 2, y of sizes 2 and 1.
Affine model() {
  Eigen::MatrixXd A(3, 3);
  A << 1, 2, 3, 4, 5, 6, 7, 8, 10;
  return {"motion", {1, 2}, {2, 1}, A, Eigen::Vector3d(0.5, 0.25, -1), {"a", "b", "c"}};
}

TEST(Affine, IsWhatIsMissing) {
  // A [1 2 3]ᵀ = [14 32 53]ᵀ
  EXPECT_EQ(residual(model(), {{1}, {2, 3}, {14.5, 33.25}, {50}}), (std::vector<double>{0, 1, -2}));
}

TEST(Affine, NamesItsRows) { EXPECT_EQ(model().row_name(2), "motion c"); }

TEST(Affine, Jacobians) { expect_exact_jacobians(model()); }

}  // namespace
}  // namespace kinegraph::affine_test
