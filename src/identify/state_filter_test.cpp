#include "kinegraph/identify/state_filter.hpp"

#include <gtest/gtest.h>

#include <Eigen/QR>
#include <cmath>

#include "kinegraph/base/random.hpp"
#include "kinegraph/identify/synthetic_test.hpp"

namespace kinegraph::identify::state_filter_test {
namespace {

using Eigen::MatrixXd, Eigen::VectorXd;

/// The state that the filter has at each knot is that of least squares with all rows so far, and no later ones.
TEST(StateFilter, AgreesWithLeastSquaresOfWhatWasRead) {
  constexpr int n = 3, knots = 8, rows = 5;
  Random random(3);
  StateFilter filter;
  filter.reset(n);
  MatrixXd all(0, n * knots);
  VectorXd residuals(0);
  const auto append = [&](int first, const VectorXd& row, double residual) {
    all.conservativeResize(all.rows() + 1, Eigen::NoChange);
    all.bottomRows<1>().setZero();
    all.block(all.rows() - 1, n * first, 1, row.size()) = row.transpose();
    residuals.conservativeResize(residuals.size() + 1);
    residuals[residuals.size() - 1] = residual;
  };
  const auto random_row = [&](int size) {
    return VectorXd(VectorXd::NullaryExpr(size, [&] { return random.normal(); }));
  };
  for (int r = 0; r < 2 * n; ++r) {
    const VectorXd row = random_row(2 * n);
    const double residual = random.normal();
    filter.add(row.data(), residual), append(0, row, residual);
  }
  VectorXd found;
  for (int k = 0; k + 2 < knots; ++k) {
    ASSERT_TRUE(filter.solve(found));
    const VectorXd least = all.leftCols(n * (k + 2)).colPivHouseholderQr().solve(-residuals);
    EXPECT_LT((found - least.tail(2 * n)).norm(), 1e-9) << k;
    RowBlock block;
    block.reset(n, 0);
    for (int r = 0; r < rows; ++r) {
      const VectorXd row = random_row(3 * n);
      const double residual = random.normal();
      block.add(residual);
      std::copy_n(row.data(), 3 * n, block.states(r));
      append(k, row, residual);
    }
    filter.add_next(block);
    ASSERT_TRUE(filter.advance());
  }
}

TEST(StateFilter, SaysThatNothingIsKnown) {
  StateFilter filter;
  filter.reset(2);
  VectorXd found;
  EXPECT_FALSE(filter.solve(found));
  EXPECT_FALSE(filter.advance());
}

/// Later readings change nothing of the filtered states, and the true motion is nearer to the smoothed ones.
TEST(StateFilter, KnowsOnlyThePast) {
  const Model model = rod_in_space(0.004);
  SyntheticOptions options;
  options.duration = 1;
  const Synthetic made = record(model, options);
  const Result<Parameters> none = Parameters::make(model, {});
  ASSERT_TRUE(none);
  const Result<MachinePoint> machine = none->at(none->start(), false);
  ASSERT_TRUE(machine);
  Weights weights;
  weights.noise = {1e-3};
  weights.kappa = 1e8;
  Problem problem(model, made.mechanism, made.run, options.regularization, weights);
  const std::vector<double> states = problem.filtered(*machine, made.poses);
  const auto pair = static_cast<std::size_t>(2 * made.mechanism->stored());
  ASSERT_EQ(states.size(), pair * static_cast<std::size_t>(made.run.knots() - 1));
  identify::Run other = made.run;
  constexpr int kFrom = 60;
  for (Reading& reading : other.readings) {
    if (reading.knot >= kFrom) reading.y[0] += 0.01;
  }
  Problem changed(model, made.mechanism, other, options.regularization, weights);
  const std::vector<double> again = changed.filtered(*machine, made.poses);
  ASSERT_EQ(again.size(), states.size());
  for (std::size_t i = 0; i < pair * kFrom; ++i) ASSERT_EQ(again[i], states[i]) << i;
  double difference = 0;
  for (std::size_t i = pair * kFrom; i < states.size(); ++i)
    difference = std::max(difference, std::abs(again[i] - states[i]));
  EXPECT_GT(difference, 1e-3);
}

}  // namespace
}  // namespace kinegraph::identify::state_filter_test
