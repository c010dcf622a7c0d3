#include "kinegraph/model/trajectory.hpp"

#include <gtest/gtest.h>

namespace kinegraph::trajectory_test {
namespace {

Trajectory grid(const std::vector<double>& times) {
  Trajectory trajectory({"theta.q"});
  for (const double t : times) *trajectory.append(t) = 2 * t;
  return trajectory;
}

TEST(Trajectory, RowsAndColumnsHoldWhatWasAppended) {
  Trajectory trajectory({"P1.x", "P1.y"});
  trajectory.reserve(2);
  for (const double t : {0.0, 0.5}) {
    double* row = trajectory.append(t);
    row[0] = t + 1;
    row[1] = t + 2;
  }
  EXPECT_EQ(trajectory.samples(), 2);
  EXPECT_EQ(trajectory.series(), 2);
  EXPECT_EQ(trajectory.times(), (std::vector<double>{0, 0.5}));
  EXPECT_EQ(trajectory.column(1), (std::vector<double>{2, 2.5}));
  EXPECT_EQ(trajectory.at(1, 0), 1.5);
  EXPECT_EQ(trajectory.find("P1.y"), 1);
  EXPECT_EQ(trajectory.find("P2.y"), -1);
}

TEST(Trajectory, StepOfAnEvenGrid) {
  std::vector<double> times(1001);
  for (int i = 0; i <= 1000; ++i) times[i] = 3 + i * 1e-3;
  const Result<double> step = grid(times).even_step();
  ASSERT_TRUE(step);
  EXPECT_NEAR(*step, 1e-3, 1e-15);
}

TEST(Trajectory, UnevenGridNamesItsPlace) {
  Trajectory trajectory = grid({0, 0.1, 0.2, 0.4, 0.5});
  EXPECT_EQ(trajectory.even_step().failure().diagnostics.at(0).message,
            "unequal steps: t goes from 0.2 to 0.4, a step of 0.2; the others are 0.1");

  trajectory.file = "motion.csv";
  trajectory.lines = {2, 3, 4, 6, 7};
  const Failure failure = trajectory.even_step().failure();
  EXPECT_EQ(failure.kind, Failure::Kind::bad_input);
  EXPECT_EQ(to_string(failure.diagnostics.at(0).where), "motion.csv:6:1");
}

TEST(Trajectory, StepToleranceIsAMillionthOrTheRoundingOfTheTimes) {
  EXPECT_TRUE(grid({0, 0.1, 0.2 + 5e-8, 0.3}).even_step());
  Trajectory thirds = grid({0, 0.3333, 0.6667, 1.0, 1.3333});
  EXPECT_FALSE(thirds.even_step());
  thirds.time_resolution = 0.5e-4;
  ASSERT_TRUE(thirds.even_step());
  EXPECT_NEAR(*thirds.even_step(), 0.333325, 1e-12);
}

TEST(Trajectory, StepNeedsTwoSamples) {
  EXPECT_EQ(grid({}).even_step().failure().diagnostics.at(0).message,
            "equal steps need at least 2 samples, there are none");
  EXPECT_EQ(grid({1}).even_step().failure().diagnostics.at(0).message,
            "equal steps need at least 2 samples, there is 1");
}

}  // namespace
}  // namespace kinegraph::trajectory_test
