#include "kinegraph/task/identify_structure.hpp"

#include "kinegraph/task/identify_recording_test.hpp"

namespace kinegraph::task::identify_structure_test {
namespace {

/// A pendulum shows the product of its mass and where it is, whatever the step of the simulation.
TEST(IdentifyStructure, MassAndItsPlaceAreAProduct) {
  const Trajectory log = record(with({{"A.viscous", 0.004}}), 6, 1e-3, pushes);
  const Model start = with({{"A.viscous", 0.004}, {"rod.mass", 0.32}, {"rod.I0", 0.025}});
  for (const double step : {0.01, 0.0025}) {
    IdentifyOptions options = options_of({"rod.mass", "rod.cog_x"});
    options.step = step;
    const auto result = identify(start, {log}, {}, options);
    ASSERT_TRUE(result) << result.failure().to_string();
    for (const char* name : {"rod.mass", "rod.cog_x"}) {
      EXPECT_FALSE(found(result->summary, name).identifiable) << name << " at " << step;
    }
    ASSERT_EQ(result->summary.known.size(), 1u);
    // d(m c) = c dm + m dc
    const double m = found(result->summary, "rod.mass").value, c = found(result->summary, "rod.cog_x").value;
    EXPECT_NEAR(m * c, 0.3 * 0.25, 1e-3);
  }
}

TEST(IdentifyStructure, WhatIsSeenStaysSeen) {
  const Trajectory log = record(with({{"A.viscous", 0.004}}), 6, 1e-3, pushes);
  const auto result = identify(with({{"A.viscous", 0.002}, {"rod.mass", 0.32}}), {log}, {},
                               options_of({"rod.mass", "rod.I0", "A.viscous"}));
  ASSERT_TRUE(result) << result.failure().to_string();
  for (const IdentifySummary::Quantity& q : result->summary.quantities) EXPECT_TRUE(q.identifiable) << q.name;
}

TEST(IdentifyStructure, ForgettingTakesOnlyTheDirection) {
  identify::SolverReport report;
  report.information = Eigen::Matrix3d::Identity() * 4;
  report.information(0, 1) = report.information(1, 0) = 1;
  const Eigen::Vector3d z(0, 1, 0);
  forget(z, report);
  EXPECT_EQ(report.information(0, 0), 4);
  EXPECT_EQ((report.information * z).norm(), 0);
  const Eigen::MatrixXd before = report.information;
  forget(Eigen::MatrixXd(3, 0), report);
  EXPECT_EQ(report.information, before);
}

}  // namespace
}  // namespace kinegraph::task::identify_structure_test
