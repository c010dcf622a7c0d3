#include "kinegraph/task/branch_march.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kinegraph/task/arms_test.hpp"
#include "kinegraph/task/reachable.hpp"
#include "kinegraph/task/spatial_start.hpp"

namespace kinegraph::task::branch_march_test {
namespace {

constexpr double kCrank = 1, kCoupler = 1, kRocker = 0.8, kSpan = 2.2;

/// crank, coupler and rocker about z, the rocker's end on the ground at (span, 0). No bar turns fully.
Model four_bar_in_space() {
  RobotMaker make;
  const LinkIndex ground = make.link("ground", 1, {0, 0, 0}, {1, 1, 1});
  make.joint("weld", JointType::fixed, LinkIndex(), ground, {0, 0, 0}, {0, 0, 1});
  const double length[] = {kCrank, kCoupler, kRocker};
  LinkIndex last = ground;
  for (int i = 0; i < 3; ++i) {
    const LinkIndex next = make.link("bar" + std::to_string(i), 1, {0.5 * length[i], 0, 0}, {0.01, 0.1, 0.1});
    make.joint("j" + std::to_string(i), JointType::revolute, last, next, {i == 0 ? 0 : length[i - 1], 0, 0}, {0, 0, 1});
    last = next;
  }
  make.joint("end", JointType::revolute, last, ground, {kRocker, 0, 0}, {0, 0, 1}, {kSpan, 0, 0}).closes_loop = true;
  return make.model;
}

/// j0, j1, j2 and `end` with the crank at an angle, the coupler's elbow above.
Eigen::VectorXd closed_position(const screw::Tree& tree, double crank) {
  const Eigen::Vector2d P(kCrank * std::cos(crank), kCrank * std::sin(crank)), to = Eigen::Vector2d(kSpan, 0) - P;
  const double d = to.norm(), direction = std::atan2(to.y(), to.x());
  const double lift = std::acos((d * d + kCoupler * kCoupler - kRocker * kRocker) / (2 * d * kCoupler));
  const Eigen::Vector2d Q = P + kCoupler * Eigen::Vector2d(std::cos(direction + lift), std::sin(direction + lift));
  const double coupler = direction + lift, rocker = std::atan2(-Q.y(), kSpan - Q.x());
  Eigen::VectorXd q = tree.start_position();
  q[tree.coordinates()[tree.find_coordinate("j0")].q] = crank;
  q[tree.coordinates()[tree.find_coordinate("j1")].q] = coupler - crank;
  q[tree.coordinates()[tree.find_coordinate("j2")].q] = rocker - coupler;
  q[tree.coordinates()[tree.find_coordinate("end")].q] = -rocker;
  return q;
}

std::vector<int> all_but(const screw::Tree& tree, int column) {
  std::vector<int> list;
  for (int c = 0; c < tree.freedoms(); ++c) {
    if (c != column) list.push_back(c);
  }
  return list;
}

class FourBar : public testing::Test {
 protected:
  FourBar()
      : tree(*screw::Tree::make(model.robot)),
        positions(tree),
        crank(tree->coordinates()[tree->find_coordinate("j0")].v),
        rocker(tree->coordinates()[tree->find_coordinate("end")].v) {}

  /// The state with the rocker at a steady rate, `turned` from a position that is closed.
  MarchState turning(Eigen::VectorXd q, double turned, double rate, double t) {
    BranchFollower follower(positions, all_but(*tree, rocker));
    Eigen::VectorXd way = Eigen::VectorXd::Zero(tree->freedoms()), gamma = Eigen::VectorXd::Zero(6);
    way[rocker] = turned;
    EXPECT_EQ(follower.follow(q, way), 1);
    MarchState s{t, q, Eigen::VectorXd::Zero(tree->freedoms()), Eigen::VectorXd::Zero(tree->freedoms())};
    follower.look(q);
    s.v[rocker] = rate;
    EXPECT_TRUE(follower.complete(gamma, 1e-13, s.v));
    positions.curvature(q, s.v, gamma);
    EXPECT_TRUE(follower.complete(gamma, 1e-13, s.a));
    return s;
  }

  Model model = four_bar_in_space();
  std::shared_ptr<const screw::Tree> tree;
  TreePositions positions;
  int crank, rocker;
};

TEST_F(FourBar, JacobianMatchesDifferencesWhereTheLoopIsOpen) {
  Eigen::VectorXd q = closed_position(*tree, 0.6), phi, plus, minus, out,
                  delta = Eigen::VectorXd::Zero(positions.changes());
  for (Eigen::Index i = 0; i < delta.size(); ++i) delta[i] = 0.1 * std::sin(1.0 + static_cast<double>(i));
  positions.retract(q, delta, out);
  q = out;
  Eigen::MatrixXd jacobian;
  positions.evaluate(q, phi, &jacobian);
  EXPECT_GT(phi.norm(), 0.01);
  for (int c = 0; c < positions.changes(); ++c) {
    delta.setZero();
    delta[c] = 1e-6;
    positions.retract(q, delta, out);
    positions.evaluate(out, plus, nullptr);
    delta[c] = -1e-6;
    positions.retract(q, delta, out);
    positions.evaluate(out, minus, nullptr);
    EXPECT_LT((jacobian.col(c) - (plus - minus) / 2e-6).norm(), 1e-8);
  }
}

TEST_F(FourBar, CurvatureIsTheRateOfTheClosuresRate) {
  const MarchState s = turning(closed_position(*tree, 0.6), 0, 0.7, 0);
  Eigen::VectorXd gamma, phi, ahead, behind;
  Eigen::MatrixXd J, K;
  positions.curvature(s.q, s.v, gamma);
  positions.retract(s.q, 1e-5 * s.v, ahead);
  positions.retract(s.q, -1e-5 * s.v, behind);
  positions.evaluate(ahead, phi, &J);
  positions.evaluate(behind, phi, &K);
  EXPECT_LT((gamma - (J - K) * s.v / 2e-5).norm(), 1e-6);
}

// |P − D| = coupler + rocker:   cos θ = (1 + span² − (coupler + rocker)²) / (2 span)
TEST_F(FourBar, TheCrankReachesItsDeadCentresAndNoFarther) {
  const double reach = kCoupler + kRocker;
  const double end = std::acos((kCrank * kCrank + kSpan * kSpan - reach * reach) / (2 * kCrank * kSpan));
  BranchFollower follower(positions, all_but(*tree, crank));
  const Reachable range = reachable(follower, closed_position(*tree, 0.6), crank, 0.6);
  EXPECT_NEAR(range.at + range.to, end, 1e-6);
  EXPECT_NEAR(range.at + range.from, -end, 1e-6);
}

// The rocker turns steadily; seen from the crank alone, which turns back at its dead centre, the rest must not.
TEST_F(FourBar, GoesOnPastADeadCentreAsItsRatesSay) {
  std::vector<int> following = all_but(*tree, crank);
  BranchMarch march(positions, {crank}, following, tree->velocity_names(), {});
  const Eigen::VectorXd start = closed_position(*tree, 0.9);
  march.begin(start);
  double least = 1, last = 0, most = -10;
  for (int k = 0; k <= 100; ++k) {
    const MarchState right = turning(start, -0.01 * k, -1, 0.01 * k);
    MarchState told = right;
    for (const int c : following) told.v[c] = told.a[c] = 0;
    for (const int c : following) told.q[c] = 0;
    ASSERT_TRUE(march.go(told, {})) << k;
    EXPECT_LT((march.state().q - right.q).norm(), 1e-7) << k;
    EXPECT_LT((march.state().v - right.v).norm(), 1e-4) << k;
    least = std::min(least, march.margin());
    last = right.q[crank];
    most = std::max(most, last);
  }
  EXPECT_GT(most, last + 0.01);  // the crank has turned back
  ASSERT_FALSE(march.warnings().empty());
  EXPECT_NE(march.warnings()[0].find("pass a singular position"), std::string::npos) << march.warnings()[0];
}

// Rows without times that belong together: the branch is kept by going straight from one to the next.
TEST_F(FourBar, RowsThatAreNoMotionKeepTheBranch) {
  std::vector<int> following = all_but(*tree, crank);
  BranchMarch march(positions, {crank}, following, tree->velocity_names(), {});
  march.begin(closed_position(*tree, 0.6));
  for (const double angle : {0.9, -0.5, 0.1, 0.7, -0.9}) {
    MarchState told{march.state().t + 1, tree->start_position(), Eigen::VectorXd::Zero(tree->freedoms()),
                    Eigen::VectorXd::Zero(tree->freedoms())};
    told.q[crank] = angle;
    ASSERT_TRUE(march.go(told, {})) << angle;
    EXPECT_LT((march.state().q - closed_position(*tree, angle)).norm(), 1e-8) << angle;
  }
  EXPECT_TRUE(march.warnings().empty());
}

// What the table tells of joints that follow decides the branch, from however far away.
TEST_F(FourBar, ToldPositionsDecideTheBranch) {
  std::vector<int> following = all_but(*tree, crank);
  BranchMarch march(positions, {crank}, following, tree->velocity_names(), {});
  march.begin(closed_position(*tree, 0.6));
  const Eigen::VectorXd above = closed_position(*tree, 0.3), below = -closed_position(*tree, -0.3);  // mirrored
  for (const Eigen::VectorXd& q : {above, below}) {
    MarchState told{march.state().t + 1, q, Eigen::VectorXd::Zero(tree->freedoms()),
                    Eigen::VectorXd::Zero(tree->freedoms())};
    ASSERT_TRUE(march.go(told, following));
    EXPECT_LT((march.state().q - q).norm(), 1e-8);
  }
}

}  // namespace
}  // namespace kinegraph::task::branch_march_test
