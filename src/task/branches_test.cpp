#include "kinegraph/task/branches.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "kinegraph/mechanics/natural/models_test.hpp"
#include "kinegraph/mechanics/natural/system.hpp"
#include "kinegraph/task/linkages_test.hpp"

namespace kinegraph::task::branches_test {
namespace {

using natural::add_body;
using natural::add_point;
using natural::add_relative;

/// Pivots A (0, 0) and D (ground, 0); crank A P1, coupler P1 P2, rocker P2 D, and the crank's angle theta.
Model four_bar(double crank, double coupler, double rocker, double ground, double angle) {
  Model model;
  const PointIndex a = add_point(model, "A", 0, 0, true);
  const double x = crank * std::cos(angle), y = crank * std::sin(angle), d = std::hypot(ground - x, y);
  const double up =
      std::atan2(-y, ground - x) + std::acos((coupler * coupler + d * d - rocker * rocker) / (2 * coupler * d));
  const PointIndex p1 = add_point(model, "P1", x, y);
  const PointIndex p2 = add_point(model, "P2", x + coupler * std::cos(up), y + coupler * std::sin(up));
  const PointIndex b = add_point(model, "D", ground, 0, true);
  add_body(model, {a, p1}, 1);
  add_body(model, {p1, p2}, 1);
  add_body(model, {p2, b}, 1);
  add_relative(model, "theta", RelativeCoordinate::Type::absolute_angle, {a, p1});
  return model;
}

/// A chain of bars between two pivots, through the points given.
Model chain(const std::vector<Vector2d>& points, bool last_fixed) {
  Model model;
  std::vector<PointIndex> index;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const bool fixed = i == 0 || (last_fixed && i + 1 == points.size());
    index.push_back(add_point(model, "P" + std::to_string(i), points[i][0], points[i][1], fixed));
    if (i > 0) add_body(model, {index[i - 1], index[i]}, 1);
  }
  add_relative(model, "theta", RelativeCoordinate::Type::absolute_angle, {index[0], index[1]});
  return model;
}

Branches found(const Model& model, const BranchOptions& options = {}) {
  auto branches = find_branches(model, options);
  if (!branches) throw std::runtime_error(branches.failure().to_string());
  return *branches;
}

double open(const Model& model, const Eigen::VectorXd& q) {
  const natural::System system(model);
  Eigen::VectorXd phi(system.constraints());
  system.position(q.data(), 0, phi.data(), nullptr);
  return phi.cwiseAbs().maxCoeff();
}

TEST(Branches, GrashofFourBarHasTwo) {
  for (const Model& model : {natural::fourbar_with_motor(), four_bar(0.125, 0.270, 0.540, 0.590, 0.5)}) {
    const Branches branches = found(model);
    EXPECT_EQ(branches.count(), 2);
    EXPECT_EQ(branches.freedoms(), 1);
    EXPECT_TRUE(branches.certain());
    EXPECT_FALSE(branches.meeting());
    ASSERT_EQ(branches.names().size(), 2u);
    EXPECT_NE(branches.names()[0], branches.names()[1]);
    EXPECT_TRUE(branches.names()[0].find(" turns ") != std::string::npos) << branches.names()[0];
  }
}

// Samples are closed, evenly spread over the crank's angle, on the right side, and branch_of() knows them again.
TEST(Branches, SamplesAreSpreadEvenlyOverBranchAndAngle) {
  const Model model = four_bar(0.125, 0.270, 0.540, 0.590, 0.5);
  const Branches branches = found(model);
  const int n = 36;
  const auto samples = branches.samples(n);
  ASSERT_EQ(samples.size(), 2u * n);
  std::set<int> bins[2];
  double side[2] = {};
  for (const Configuration& c : samples) {
    EXPECT_LT(open(model, c.q), 1e-10);
    EXPECT_EQ(branches.branch_of(c.q), c.branch);
    const double angle = c.q[4] - 2 * M_PI * std::floor(c.q[4] / (2 * M_PI));
    EXPECT_NEAR(c.q[0], 0.125 * std::cos(angle), 1e-9);
    EXPECT_NEAR(c.q[1], 0.125 * std::sin(angle), 1e-9);
    bins[c.branch].insert(static_cast<int>(angle / (2 * M_PI) * 12));
    const double area = (c.q[2] - c.q[0]) * -c.q[1] - (c.q[3] - c.q[1]) * (0.590 - c.q[0]);
    if (side[c.branch] == 0) side[c.branch] = area;
    EXPECT_GT(area * side[c.branch], 0);
  }
  EXPECT_LT(side[0] * side[1], 0);
  for (const auto& b : bins) EXPECT_EQ(b.size(), 12u);
}

// s + l > p + q: from each assembly at a crank angle the other one can be reached, through a dead centre.
TEST(Branches, NonGrashofFourBarHasOne) {
  const Branches branches = found(four_bar(1, 1.2, 1.1, 2, 0.5));
  EXPECT_EQ(branches.count(), 1);
  EXPECT_EQ(branches.arcs(), 1);
  EXPECT_EQ(branches.names(), std::vector<std::string>{""});
  // Both assemblies are sampled.
  int up = 0, down = 0;
  for (const Configuration& c : branches.samples(40)) {
    const double area = (c.q[2] - c.q[0]) * -c.q[1] - (c.q[3] - c.q[1]) * (2 - c.q[0]);
    (area > 0 ? up : down)++;
  }
  EXPECT_GT(up, 10);
  EXPECT_GT(down, 10);
}

TEST(Branches, ShortCouplerTurnsRound) {
  EXPECT_EQ(found(four_bar(1.5, 0.5, 1.4, 2, 0.55)).count(), 2);  // a double rocker whose coupler turns
}

TEST(Branches, ParallelogramBranchesMeet) {
  const Branches branches = found(four_bar(1, 2, 1, 2, 1.2));
  EXPECT_EQ(branches.count(), 1);
  EXPECT_TRUE(branches.meeting());
  EXPECT_EQ(branches.arcs(), 2);
  std::set<int> arcs;
  for (const Configuration& c : branches.samples(20)) arcs.insert(c.arc);
  EXPECT_EQ(arcs.size(), 2u);
  // A little longer, and they do not meet any more.
  const Branches apart = found(four_bar(0.98, 2, 1, 2, 1.2));
  EXPECT_EQ(apart.count(), 2);
  EXPECT_FALSE(apart.meeting());
}

TEST(Branches, SliderCrankHasTwoSides) {
  Model model;
  const PointIndex o = add_point(model, "O", 0, 0, true), pin = add_point(model, "pin", 0.03, 0.04),
                   piston = add_point(model, "piston", 0.03 + std::sqrt(0.18 * 0.18 - 0.04 * 0.04), 0),
                   guide = add_point(model, "guide", 0.5, 0, true);
  add_body(model, {o, pin}, 1);
  add_body(model, {pin, piston}, 1);
  model.sliders.push_back({"cylinder", piston, o, guide, {}});
  add_relative(model, "theta", RelativeCoordinate::Type::absolute_angle, {o, pin});
  EXPECT_EQ(found(model).count(), 2);

  // Driven, it has the same two; at a time each is at one place.
  model.drivers.push_back({"speed", {CoordinateRef::What::relative, 0}, natural::law_of_t("0.9 + 3*t"), {}});
  const Branches driven = found(model);
  EXPECT_EQ(driven.count(), 2);
  EXPECT_EQ(driven.freedoms(), 1);
  const auto samples = driven.samples(2);
  ASSERT_EQ(samples.size(), 4u);
  for (const Configuration& c : samples) {
    EXPECT_LT(open(model, c.q), 1e-12);
    EXPECT_NEAR(c.q[4], 0.9, 1e-9);
  }
  EXPECT_LT(samples[0].q[2] * samples[2].q[2], 0);
}

TEST(Branches, OpenChainHasOne) {
  const Branches branches = found(chain({{0, 0}, {1, 0.2}, {1.5, 1}}, false));
  EXPECT_EQ(branches.count(), 1);
  EXPECT_EQ(branches.freedoms(), 2);
  EXPECT_TRUE(branches.certain());
  EXPECT_EQ(branches.samples(30).size(), 30u);
}

// A closed chain falls apart in two if it has three links of which any two are longer than half its length.
TEST(Branches, FiveBars) {
  const Model even = chain({{0, 0}, {-0.05, 0.25}, {0.1, 0.45}, {0.25, 0.25}, {0.2, 0}}, true);
  EXPECT_EQ(found(even).count(), 1);
  const Model long_links = chain({{0, 0}, {0, 0.1}, {0.5, 0.966}, {1.05, 0.1}, {1, 0}}, true);
  const Branches branches = found(long_links);
  EXPECT_EQ(branches.count(), 2);
  EXPECT_EQ(branches.freedoms(), 2);
  EXPECT_FALSE(branches.certain());
  for (const Configuration& c : branches.samples(10)) {
    EXPECT_LT(open(long_links, c.q), 1e-9);
    EXPECT_EQ(branches.branch_of(c.q), c.branch);
  }
}

TEST(Branches, RobotsWithLoops) {
  const Branches four = found(linkages::model_of(linkages::four_bar()));
  EXPECT_EQ(four.count(), 2);
  EXPECT_EQ(four.freedoms(), 1);
  for (const Configuration& c : four.samples(8)) EXPECT_EQ(four.branch_of(c.q), c.branch);
  // It moves although six equations tie four hinges.
  const Branches bennett = found(linkages::model_of(linkages::bennett()));
  EXPECT_EQ(bennett.freedoms(), 1);
  EXPECT_EQ(bennett.count(), 1);
}

TEST(Branches, TreesHaveOne) {
  const Branches arm = found(linkages::model_of(linkages::seven_joint_arm()));
  EXPECT_EQ(arm.count(), 1);
  EXPECT_EQ(arm.freedoms(), 7);
  double least = 10, most = -10;
  for (const Configuration& c : arm.samples(50)) {
    least = std::min(least, c.q[1]);
    most = std::max(most, c.q[1]);
  }
  EXPECT_GT(least, -2.05);  // its limits
  EXPECT_LT(least, -1.5);
  EXPECT_LT(most, 2.05);
  EXPECT_GT(most, 1.5);
}

TEST(Branches, AreTheSameEachTime) {
  const Model model = four_bar(0.125, 0.270, 0.540, 0.590, 0.5);
  BranchOptions options;
  options.seed = 7;
  const auto a = found(model, options).samples(10), b = found(model, options).samples(10);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].q, b[i].q);
  // Another seed, the same branches.
  options.seed = 8;
  EXPECT_EQ(found(model, options).count(), 2);
}

TEST(Branches, NamesAnUnknownCoordinate) {
  BranchOptions options;
  options.coordinate = "teta";
  const auto branches = find_branches(four_bar(0.125, 0.270, 0.540, 0.590, 0.5), options);
  ASSERT_FALSE(branches);
  EXPECT_EQ(branches.failure().to_string(), "error: branches: unknown coordinate 'teta'; did you mean 'theta'?");
}

}  // namespace
}  // namespace kinegraph::task::branches_test
