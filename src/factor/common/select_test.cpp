#include "kinegraph/factor/common/select.hpp"

#include "kinegraph/factor/common/factor_test.hpp"

namespace kinegraph::select_test {
namespace {

TEST(Select, PicksElementsInTheGivenOrder) {
  EXPECT_EQ(residual(Select(4, {3, 1}), {{1, 2, 3, 4}, {10, 20}}), (std::vector<double>{-6, -18}));
}

TEST(Select, NamesTheElementItPicks) {
  EXPECT_EQ(Select(3, {2}, "independent", {"P1.x", "P1.y", "theta"}).row_name(0), "independent theta");
}

TEST(Select, Jacobians) { expect_exact_jacobians(Select(5, {4, 0, 2})); }

}  // namespace
}  // namespace kinegraph::select_test
