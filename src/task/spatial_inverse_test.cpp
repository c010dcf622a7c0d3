#include "kinegraph/task/spatial_inverse.hpp"

#include <gtest/gtest.h>

#include <Eigen/QR>
#include <cmath>
#include <random>

#include "kinegraph/task/arms_test.hpp"
#include "kinegraph/task/hybrid.hpp"

namespace kinegraph::task::spatial_inverse_test {
namespace {

using Cells = std::vector<std::pair<std::string, double>>;

SpatialDynamicsResult run(const Model& model, const Trajectory& motion, const SpatialInverseOptions& options = {}) {
  auto result = spatial_inverse(model, motion, options);
  EXPECT_TRUE(result) << result.failure().to_string();
  return result ? *std::move(result) : SpatialDynamicsResult{};
}

Cells arm_state(double q1, double q2, double q3, double v = 0, double a = 0) {
  return {{"waist.q", q1},   {"waist.v", v},  {"waist.a", a},     {"shoulder.q", q2}, {"shoulder.v", -v},
          {"shoulder.a", a}, {"elbow.q", q3}, {"elbow.v", 2 * v}, {"elbow.a", -a}};
}

const std::vector<std::string> kArmTorques{"waist.tau", "shoulder.tau", "elbow.tau"};

/// The five-bar at angles q1, q2: what the closure says of the rest is an answer.
Cells five_bar_state(double q1, double v1, double a1, double q2, double v2, double a2) {
  return {{"j1.q", q1}, {"j1.v", v1}, {"j1.a", a1}, {"j2.q", q2}, {"j2.v", v2}, {"j2.a", a2}};
}

/// Motions that keep the loop closed, per freedom: from differences of closed positions.
Eigen::MatrixXd motions(const Model& model, double q1, double q2) {
  const auto column = [&](int which) {
    Cells cells = five_bar_state(q1, which == 0, 0, q2, which == 1, 0);
    const SpatialDynamicsResult result = run(model, one_row(cells));
    Eigen::VectorXd v(5);
    for (int i = 0; i < 5; ++i) v[i] = cell(result.trajectory, 0, "j" + std::to_string(i + 1) + ".v");
    return v;
  };
  Eigen::MatrixXd N(5, 2);
  N << column(0), column(1);
  return N;
}

TEST(SpatialInverse, APendulumIsInertiaAndWeight) {
  RobotMaker make;
  const LinkIndex base = make.link("base_link", 1, {0, 0, 0}, {1, 1, 1});
  const LinkIndex bar = make.link("bar", 2, {0.25, 0, 0}, {0, 0.01, 0.01});
  make.joint("pin", JointType::revolute, base, bar, {0, 0, 0}, {0, -1, 0});
  Trajectory motion({"pin.q"});
  for (int k = 0; k <= 200; ++k) *motion.append(0.01 * k) = std::sin(0.01 * k);
  const SpatialDynamicsResult result = run(make.model, motion);
  for (int k = 20; k <= 180; ++k) {
    const double t = 0.01 * k, I = 0.01 + 2 * 0.25 * 0.25;
    EXPECT_NEAR(cell(result.trajectory, k, "pin.tau"), -I * std::sin(t) + 2 * kGravity * 0.25 * std::cos(std::sin(t)),
                1e-5);
  }
  EXPECT_EQ(result.summary.actuators, std::vector<std::string>{"pin"});
  EXPECT_TRUE(result.summary.power_checked);
  EXPECT_LT(result.summary.power_error, 1e-7 * result.summary.power_max);
}

TEST(SpatialInverse, EveryOrderingGivesTheSameTorques) {
  const Trajectory state = one_row(arm_state(0.3, -0.7, 1.1, 0.9, -2));
  const SpatialDynamicsResult best = run(arm_of_three(), state);
  for (const char* ordering : {"rnea", "crba", "aba", "colamd", "amd", "metis", "natural"}) {
    SpatialInverseOptions options;
    options.ordering = ordering;
    const SpatialDynamicsResult other = run(arm_of_three(), state, options);
    for (const std::string& name : kArmTorques) {
      EXPECT_NEAR(cell(other.trajectory, 0, name), cell(best.trajectory, 0, name), 1e-10) << ordering << name;
    }
  }
  SpatialInverseOptions unknown;
  unknown.ordering = "rnae";
  EXPECT_EQ(spatial_inverse(arm_of_three(), state, unknown).failure().to_string(),
            "error: unknown ordering 'rnae'; did you mean 'rnea'?");
}

/// τ = … − Jᵀ F, with J from differences of the tool's position.
TEST(SpatialInverse, ALoadAtTheToolIsTakenByTheJoints) {
  const Cells state = arm_state(0.3, -0.7, 1.1, 0.9, -2);
  Cells loaded = state;
  const Vector3d force(3, -5, 2), moment(0.4, 0.1, -0.6);
  const char* const axes[] = {"x", "y", "z"};
  for (int i = 0; i < 3; ++i) {
    loaded.emplace_back(std::string("tool.load.f") + axes[i], force[i]);
    loaded.emplace_back(std::string("tool.load.m") + axes[i], moment[i]);
  }
  const SpatialDynamicsResult without = run(arm_of_three(), one_row(state)),
                              with = run(arm_of_three(), one_row(loaded));
  const auto tree = screw::Tree::make(arm_of_three().robot);
  ASSERT_TRUE(tree);
  const auto tool = [&](const Eigen::VectorXd& q) {
    screw::Poses poses((*tree)->bodies().size());
    screw::body_poses(**tree, q.data(), poses);
    return screw::link_pose(**tree, poses, (*tree)->robot().find_link("tool"));
  };
  const Eigen::Vector3d q(0.3, -0.7, 1.1);
  for (int i = 0; i < 3; ++i) {
    const double h = 1e-6;
    const Eigen::VectorXd step = h * Eigen::Vector3d::Unit(i);
    const auto before = tool(q - step), after = tool(q + step);
    const Vector3d velocity = (after.p - before.p) / (2 * h);
    const Eigen::AngleAxisd turn(after.R * before.R.transpose());
    const Vector3d omega = turn.axis() * turn.angle() / (2 * h);
    const double taken = velocity.dot(force) + omega.dot(moment);
    EXPECT_GT(std::abs(taken), 0.1);
    EXPECT_NEAR(cell(with.trajectory, 0, kArmTorques[i]), cell(without.trajectory, 0, kArmTorques[i]) - taken, 1e-7);
  }
  EXPECT_LT(with.summary.power_error, 1e-7 * with.summary.power_max);
}

TEST(SpatialInverse, ABaseThatAcceleratesUpwardDoublesTheWeight) {
  const Cells rest = arm_state(0.3, -0.7, 1.1);
  Cells lifted = rest;
  lifted.emplace_back("base.az", kGravity);
  const SpatialDynamicsResult still = run(arm_of_three(), one_row(rest)), up = run(arm_of_three(), one_row(lifted));
  EXPECT_GT(std::abs(cell(still.trajectory, 0, "shoulder.tau")), 1);
  for (const std::string& name : kArmTorques) {
    EXPECT_NEAR(cell(up.trajectory, 0, name), 2 * cell(still.trajectory, 0, name), 1e-10);
  }
  EXPECT_FALSE(up.summary.power_checked);
}

/// The base turned by a joint of its own, and the same base carried around: as a table of poses, and of rates.
TEST(SpatialInverse, AMovedBaseIsAJointMore) {
  Model carried = arm_of_three();
  const int foot = carried.robot.find_link("foot");
  Joint carrier;
  carrier.name = "carrier";
  carrier.type = JointType::revolute;
  carrier.child = LinkIndex(foot);
  carrier.axis = Vector3d(0.2, 1, 0.4).normalized();
  carried.robot.joints.push_back(carrier);

  std::vector<std::string> names{"carrier.q", "base.qw", "base.qx", "base.qy", "base.qz"};
  for (const char* joint : {"waist", "shoulder", "elbow"}) names.push_back(joint + std::string(".q"));
  Trajectory table(names);
  for (int k = 0; k <= 200; ++k) {
    const double t = 0.01 * k, angle = 0.8 * std::sin(2 * t);
    double* row = table.append(t);
    row[0] = angle;
    SO3::exp(carrier.axis * angle).store(row + 1);
    row[5] = std::sin(t), row[6] = 0.5 * std::cos(1.5 * t), row[7] = -0.3 + 0.4 * std::sin(3 * t);
  }
  const SpatialDynamicsResult one =
      run(carried, with_columns(table, {"carrier.q", "waist.q", "shoulder.q", "elbow.q"}));
  const SpatialDynamicsResult two =
      run(arm_of_three(),
          with_columns(table, {"base.qw", "base.qx", "base.qy", "base.qz", "waist.q", "shoulder.q", "elbow.q"}));
  for (int k = 30; k <= 170; k += 10) {
    for (const std::string& name : kArmTorques) {
      EXPECT_NEAR(cell(two.trajectory, k, name), cell(one.trajectory, k, name), 1e-4) << k << name;
    }
  }
  // The same instant with rates given: exact.
  Cells state, moved;
  for (const char* joint : {"waist", "shoulder", "elbow"}) {
    for (const char* quantity : {".q", ".v", ".a"}) {
      const std::string name = std::string(joint) + quantity;
      state.emplace_back(name, cell(one.trajectory, 70, name));
    }
  }
  moved = state;
  for (const char* quantity : {"q", "v", "a"}) {
    state.emplace_back(std::string("carrier.") + quantity,
                       cell(one.trajectory, 70, std::string("carrier.") + quantity));
  }
  Eigen::Vector4d turned;
  SO3::exp(carrier.axis * cell(one.trajectory, 70, "carrier.q")).store(turned.data());
  const Vector3d omega = carrier.axis * cell(one.trajectory, 70, "carrier.v");
  const Vector3d alpha = carrier.axis * cell(one.trajectory, 70, "carrier.a");
  for (int i = 0; i < 4; ++i) moved.emplace_back(std::string("base.q") + "wxyz"[i], turned[i]);
  for (int i = 0; i < 3; ++i) moved.emplace_back(std::string("base.w") + "xyz"[i], omega[i]);
  for (int i = 0; i < 3; ++i) moved.emplace_back(std::string("base.al") + "xyz"[i], alpha[i]);
  const SpatialDynamicsResult a = run(carried, one_row(state)), b = run(arm_of_three(), one_row(moved));
  for (const std::string& name : kArmTorques) {
    EXPECT_NEAR(cell(a.trajectory, 0, name), cell(b.trajectory, 0, name), 1e-10) << name;
  }
}

TEST(SpatialInverse, TheReactionAtTheFootCarriesTheWeight) {
  SpatialInverseOptions options;
  options.reactions = true;
  const SpatialDynamicsResult result = run(arm_of_three(), one_row(arm_state(0.3, -0.7, 1.1)), options);
  EXPECT_NEAR(cell(result.trajectory, 0, "waist.reaction.fz"), (2 + 1.5 + 0.7 + 0.2) * kGravity, 1e-10);
  EXPECT_NEAR(cell(result.trajectory, 0, "waist.reaction.fx"), 0, 1e-10);
  EXPECT_NEAR(cell(result.trajectory, 0, "elbow.reaction.fz"), (0.7 + 0.2) * kGravity, 1e-10);
  EXPECT_NEAR(cell(result.trajectory, 0, "shoulder.reaction.my") * std::cos(0.3) -
                  cell(result.trajectory, 0, "shoulder.reaction.mx") * std::sin(0.3),
              cell(result.trajectory, 0, "shoulder.tau"), 1e-10);
}

TEST(SpatialInverse, AFloatingBaseIsLedByItsWrench) {
  Cells state = arm_state(0.3, -0.7, 1.1);
  for (const char* name : {"qw", "qx", "qy", "qz", "x", "y", "z", "wx", "wy", "wz", "vx", "vy", "vz", "alx", "aly",
                           "alz", "ax", "ay", "az"}) {
    state.emplace_back(std::string("base.") + name, name == std::string("qw") ? 1.0 : 0.0);
  }
  const SpatialDynamicsResult result = run(arm_of_three(Robot::Base::floating), one_row(state));
  EXPECT_NEAR(cell(result.trajectory, 0, "base.fz"), (4 + 2 + 1.5 + 0.7 + 0.2) * kGravity, 1e-10);
  const SpatialDynamicsResult fixed = run(arm_of_three(), one_row(arm_state(0.3, -0.7, 1.1)));
  for (const std::string& name : kArmTorques) {
    EXPECT_NEAR(cell(result.trajectory, 0, name), cell(fixed.trajectory, 0, name), 1e-10);
  }
}

/// Torque · motion is the same work for every choice of motors: N_Aᵀ τ_A = N_Hᵀ τ_H.
TEST(SpatialInverse, MoreMotorsThanFreedomsShareByLeastTorque) {
  const Model model = five_bar();
  const double q1 = 0.2, q2 = -0.35;
  const Trajectory state = one_row(five_bar_state(q1, 0.7, -1.5, q2, -0.4, 2));
  const Eigen::MatrixXd N = motions(model, q1, q2);
  const auto torques = [&](std::vector<std::string> actuators, int* undetermined = nullptr) {
    SpatialInverseOptions options;
    options.actuators = std::move(actuators);
    const SpatialDynamicsResult result = run(model, state, options);
    if (undetermined) *undetermined = result.summary.undetermined_max;
    EXPECT_LT(result.summary.power_error, 1e-7 * result.summary.power_max);
    Eigen::VectorXd tau(5);
    for (int i = 0; i < 5; ++i) tau[i] = cell(result.trajectory, 0, "j" + std::to_string(i + 1) + ".tau");
    return tau;
  };
  int two = 0, three = 0;
  const Eigen::VectorXd lead = torques({"j1", "j2"}, &two), usual = torques({"j1", "j5"});
  const Eigen::VectorXd shared = torques({"j1", "j2", "j5"}, &three);
  EXPECT_EQ(three, two + 1);
  EXPECT_LT((N.transpose() * (usual - lead)).norm(), 1e-9 * lead.norm());
  EXPECT_LT((N.transpose() * (shared - lead)).norm(), 1e-9 * lead.norm());
  EXPECT_EQ(shared[2], 0);
  EXPECT_EQ(shared[3], 0);
  EXPECT_LT(shared.norm(), 0.999 * usual.norm());
  EXPECT_LT(shared.norm(), 0.999 * lead.norm());
  // Least: no part of it works against the rest, that is, it lies in the range of N_A.
  Eigen::MatrixXd NA(3, 2);
  NA << N.row(0), N.row(1), N.row(4);
  const Eigen::Vector3d tau(shared[0], shared[1], shared[4]);
  EXPECT_LT((tau - NA * NA.colPivHouseholderQr().solve(tau)).norm(), 1e-9 * tau.norm());
}

TEST(SpatialInverse, LoopsFollowTheirLeadingJoints) {
  const Model model = five_bar();
  Trajectory motion({"j1.q", "j2.q"});
  for (int k = 0; k <= 100; ++k) {
    double* row = motion.append(0.01 * k);
    row[0] = -0.2 * std::sin(0.03 * k), row[1] = -0.1 * (1 - std::cos(0.04 * k));
  }
  const SpatialDynamicsResult result = run(model, motion);
  EXPECT_EQ(result.summary.actuators, (std::vector<std::string>{"j1", "j2"}));
  EXPECT_LT(result.summary.closure_max, 1e-10);
  EXPECT_LT(result.summary.power_error, 1e-6 * result.summary.power_max);
  for (int k = 20; k <= 80; ++k) {
    const double slope = (cell(result.trajectory, k + 1, "j4.q") - cell(result.trajectory, k - 1, "j4.q")) / 0.02;
    EXPECT_NEAR(cell(result.trajectory, k, "j4.v"), slope, 1e-2 * std::max(1.0, std::abs(slope)));
    const double bend = (cell(result.trajectory, k + 1, "j4.v") - cell(result.trajectory, k - 1, "j4.v")) / 0.02;
    EXPECT_NEAR(cell(result.trajectory, k, "j4.a"), bend, 1e-2 * std::max(1.0, std::abs(bend)));
  }
  // What was found is what all joints may be given as.
  std::vector<std::string> all;
  for (int i = 1; i <= 5; ++i) {
    for (const char* quantity : {".q", ".v", ".a"}) all.push_back("j" + std::to_string(i) + quantity);
  }
  SpatialInverseOptions options;
  options.actuators = {"j1", "j2"};
  const SpatialDynamicsResult again = run(model, with_columns(result.trajectory, all), options);
  for (int k = 0; k <= 100; k += 10) {
    EXPECT_NEAR(cell(again.trajectory, k, "j1.tau"), cell(result.trajectory, k, "j1.tau"), 1e-8);
  }
  ASSERT_EQ(again.summary.open_in_table.size(), 1u);
  EXPECT_LT(again.summary.open_in_table[0], 1e-10);
}

TEST(SpatialInverse, PassiveMarksNameTheMotors) {
  Model model = five_bar();
  for (Joint& joint : model.robot.joints) joint.passive = joint.name != "j1" && joint.name != "j5";
  const SpatialDynamicsResult result = run(model, one_row(five_bar_state(0.2, 0.7, -1.5, -0.35, -0.4, 2)));
  EXPECT_EQ(result.summary.actuators, (std::vector<std::string>{"j1", "j5"}));
  EXPECT_EQ(cell(result.trajectory, 0, "j2.tau"), 0);
  EXPECT_NE(cell(result.trajectory, 0, "j5.tau"), 0);
  EXPECT_NEAR(cell(result.trajectory, 0, "j2.a"), 2, 1e-9);
}

TEST(SpatialInverse, LimitsThatAreBrokenAreTold) {
  Model model = arm_of_three();
  model.robot.joints[1].limits = {{-0.5, 0.5, 0.1, 2}};
  const SpatialDynamicsResult result = run(model, one_row(arm_state(0.3, -0.7, 1.1, 0.9, -2)));
  ASSERT_EQ(result.summary.effort.size(), 1u);
  EXPECT_EQ(result.summary.effort[0].name, "shoulder.tau");
  EXPECT_NEAR(result.summary.effort[0].factor, std::abs(cell(result.trajectory, 0, "shoulder.tau")) / 2, 1e-12);
  ASSERT_EQ(result.summary.position.size(), 1u);
  EXPECT_NEAR(result.summary.position[0].factor, 0.2, 1e-12);
  ASSERT_EQ(result.summary.velocity.size(), 1u);
  EXPECT_NEAR(result.summary.velocity[0].factor, 9, 1e-12);
}

std::string refusal(const Model& model, const Trajectory& motion, const std::vector<std::string>& actuators = {}) {
  SpatialInverseOptions options;
  options.actuators = actuators;
  const auto result = spatial_inverse(model, motion, options);
  return result ? "no refusal" : result.failure().to_string();
}

TEST(SpatialInverse, RefusesWithTheNamesOfJoints) {
  const Model arm = arm_of_three(), loop = five_bar();
  EXPECT_EQ(refusal(arm, one_row({{"wiast.q", 0}, {"tool.load.fw", 0}})),
            "error: 'wiast.q' is no quantity of the robot; did you mean 'waist.q'?\n"
            "error: 'tool.load.fw' is no quantity of the robot; did you mean 'tool.load.fx'?");
  EXPECT_EQ(refusal(arm, one_row({{"waist.q", 0}, {"waist.v", 0}, {"waist.a", 0}})),
            "error: no columns 'shoulder.q', 'elbow.q'");
  EXPECT_EQ(refusal(arm, one_row(arm_state(0, 0, 0)), {"wiast"}),
            "error: actuators: unknown joint 'wiast'; did you mean 'waist'?");
  EXPECT_EQ(
      refusal(loop, one_row({{"j1.q", 0}, {"j1.v", 0}, {"j1.a", 0}})),
      "error: the loops leave 2 freedoms and the table has j1 only; give the position of 2 of j1, j2, j3, j4, j5");
  EXPECT_EQ(refusal(loop, one_row(five_bar_state(0, 0, 0, 0, 0, 0)), {"j5"}),
            "error: actuators: the loops have 2 freedoms and 1 motor; name 2 joints or more with --actuators");
  Cells torn = five_bar_state(0, 0, 0, 0, 0, 0);
  for (const char* name : {"j3.q", "j3.v", "j3.a", "j4.q", "j4.v", "j4.a", "j5.q", "j5.v", "j5.a"}) {
    torn.emplace_back(name, name == std::string("j5.q") ? 0.25 : 0);
  }
  EXPECT_EQ(refusal(loop, one_row(torn)),
            "error: the loop of joint 'j5' is open by 0.25 (m, rad) with these positions");
  EXPECT_EQ(refusal(arm, Trajectory({"waist.q"})), "error: the table has no samples");
}

TEST(SpatialInverse, WhereTheMechanismCannotGoIsTold) {
  const auto result = spatial_inverse(five_bar(), one_row(five_bar_state(1.5, 0, 0, 1.5, 0, 0)), {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.failure().exit_status(), 1);
  EXPECT_NE(result.failure().to_string().find("the mechanism cannot follow the motion to t = 0 s: "), std::string::npos)
      << result.failure().to_string();
}

}  // namespace
}  // namespace kinegraph::task::spatial_inverse_test
