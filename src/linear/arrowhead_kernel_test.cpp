#include "kinegraph/linear/arrowhead_kernel.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <vector>

#include "kinegraph/base/random.hpp"

namespace kinegraph::linear::arrowhead_kernel_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

std::vector<ArrowheadKernel> kernels_of_this_processor() {
  std::vector<ArrowheadKernel> result = {arrowhead_kernel_plain()};
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) result.push_back(arrowhead_kernel_avx2());
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")) {
    result.push_back(arrowhead_kernel_avx512());
  }
#endif
  return result;
}

RowMajor random_matrix(Random& random, int rows, int columns) {
  RowMajor m(rows, columns);
  random.normal(m.data(), static_cast<int>(m.size()));
  return m;
}

int stride(const RowMajor& m) { return static_cast<int>(m.cols()); }

TEST(ArrowheadKernel, Products) {
  Random random(1);
  for (const ArrowheadKernel& kernel : kernels_of_this_processor()) {
    for (const int rows : {4, 8, 12}) {
      for (int columns = 4; columns <= 60; columns += 4) {
        for (const int inner : {0, 1, 5, 14}) {
          const RowMajor left = random_matrix(random, inner, rows + 2),
                         right = random_matrix(random, inner, columns + 3);
          const RowMajor turned = left.transpose(), start = random_matrix(random, rows + 1, columns + 1);
          for (int variant = 0; variant < 8; ++variant) {
            const bool subtract = variant & 1, upper = (variant & 2) && columns >= rows, across = variant & 4;
            RowMajor found = start, expected = start;
            kernel.multiply({found.data(), stride(found), across ? turned.data() : left.data(),
                             across ? stride(turned) : 1, across ? 1 : stride(left), right.data(), stride(right), rows,
                             columns, inner, subtract, upper});
            expected.topLeftCorner(rows, columns) +=
                (subtract ? -1.0 : 1.0) * left.leftCols(rows).transpose() * right.leftCols(columns);
            for (int i = 0; upper && i < rows; ++i) expected.row(i).head(i / 4 * 4) = start.row(i).head(i / 4 * 4);
            ASSERT_LT((found - expected).norm(), 1e-12) << rows << " " << columns << " " << inner << " " << variant;
          }
        }
      }
    }
  }
}

TEST(ArrowheadKernel, FactorsAndSolves) {
  Random random(2);
  for (const ArrowheadKernel& kernel : kernels_of_this_processor()) {
    for (int n = 1; n <= 14; ++n) {
      const int rows = (n + 3) / 4 * 4;
      const RowMajor root = random_matrix(random, n + 3, n), right = random_matrix(random, n, 8);
      const MatrixXd A = root.transpose() * root;
      RowMajor panel = RowMajor::Zero(rows, rows + 8);
      panel.topLeftCorner(n, n) = A;
      panel.topRightCorner(n, 8) = right;
      const VectorXd scale = A.diagonal();
      PanelFactor factor{panel.data(), rows + 8, rows, rows + 8, n, scale.data(), 1e-14};
      ASSERT_TRUE(kernel.factor(factor));
      const MatrixXd U = A.llt().matrixU();
      EXPECT_LT((panel.topLeftCorner(n, n).diagonal().cwiseProduct(U.diagonal()) - VectorXd::Ones(n)).norm(), 1e-8);
      MatrixXd found = panel.topLeftCorner(n, n);
      found.diagonal() = U.diagonal();
      EXPECT_LT((found - U).norm(), 1e-9);
      const MatrixXd expected = U.transpose().triangularView<Eigen::Lower>().solve(MatrixXd(right));
      EXPECT_LT((panel.topRightCorner(n, 8) - expected).norm(), 1e-7 * expected.norm());
      const VectorXd shares = U.diagonal().cwiseAbs2().cwiseQuotient(scale);
      int worst = 0;
      EXPECT_NEAR(factor.share, n > 1 ? shares.minCoeff(&worst) : 1, 1e-9);
      if (n > 1) {
        EXPECT_EQ(factor.worst, worst);
      }

      RowMajor X = RowMajor::Zero(rows, 8);
      X.topRows(n) = right;
      kernel.solve(panel.data(), rows + 8, rows, X.data(), 8);
      const MatrixXd solved = U.triangularView<Eigen::Upper>().solve(MatrixXd(right));
      EXPECT_LT((X.topRows(n) - solved).norm(), 1e-7 * solved.norm());

      VectorXd x = VectorXd::LinSpaced(8, -1, 1), y(rows);
      kernel.apply(panel.data() + rows, rows + 8, rows, 8, x.data(), y.data());
      EXPECT_LT((y - panel.rightCols(8) * x).norm(), 1e-12 * (1 + y.norm()));
    }
  }
}

TEST(ArrowheadKernel, APivotThatVanishesIsNamed) {
  for (const ArrowheadKernel& kernel : kernels_of_this_processor()) {
    for (int bad = 0; bad < 7; ++bad) {
      RowMajor panel = RowMajor::Zero(8, 8);
      panel.diagonal().head(7).setConstant(2.0);
      panel(bad, bad) = bad % 2 ? 0.0 : -1.0;
      const VectorXd scale = VectorXd::Constant(8, 2.0);
      PanelFactor factor{panel.data(), 8, 8, 8, 7, scale.data(), 1e-14};
      EXPECT_FALSE(kernel.factor(factor));
      EXPECT_EQ(factor.worst, bad);
      EXPECT_EQ(factor.share, 0);
    }
  }
}

}  // namespace
}  // namespace kinegraph::linear::arrowhead_kernel_test
