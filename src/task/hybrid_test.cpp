#include "kinegraph/task/hybrid.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <random>

#include "kinegraph/task/arms_test.hpp"

namespace kinegraph::task::hybrid_test {
namespace {

using Cells = std::vector<std::pair<std::string, double>>;
const double kUnknown = std::nan("");
const std::vector<std::string> kJoints{"waist", "shoulder", "elbow"};

struct State {
  Eigen::Vector3d q, v;
};

State random_state(unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> number(-2, 2);
  State s;
  for (int i = 0; i < 3; ++i) s.q[i] = number(generator), s.v[i] = number(generator);
  return s;
}

HybridResult run(const Model& model, const Trajectory& known) {
  auto result = hybrid(model, known, {});
  EXPECT_TRUE(result) << result.failure().to_string();
  return result ? *std::move(result) : HybridResult{};
}

/// a or tau of a joint may be NaN.
Trajectory arm_table(const State& s, const Eigen::Vector3d& a, const Eigen::Vector3d& tau) {
  Cells cells;
  for (int i = 0; i < 3; ++i) {
    cells.emplace_back(kJoints[i] + ".q", s.q[i]);
    cells.emplace_back(kJoints[i] + ".v", s.v[i]);
    cells.emplace_back(kJoints[i] + ".a", a[i]);
    cells.emplace_back(kJoints[i] + ".tau", tau[i]);
  }
  return one_row(cells);
}

Eigen::Vector3d read(const HybridResult& result, const std::string& quantity, int sample = 0) {
  Eigen::Vector3d x;
  for (int i = 0; i < 3; ++i) x[i] = cell(result.trajectory, sample, kJoints[i] + quantity);
  return x;
}

const Eigen::Vector3d kNone = Eigen::Vector3d::Constant(kUnknown);

TEST(Hybrid, ForwardUndoesInverse) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const State s = random_state(seed);
    const Eigen::Vector3d a = random_state(seed + 100).q;
    const Eigen::Vector3d tau = read(run(arm_of_three(), arm_table(s, a, kNone)), ".tau");
    const Eigen::Vector3d back = read(run(arm_of_three(), arm_table(s, kNone, tau)), ".a");
    EXPECT_LT((back - a).norm(), 1e-10 * a.norm()) << seed;
  }
}

/// Featherstone's three steps, with step 2 on the free joints alone and the given accelerations held:
///     τ⁰ = ID(θ̈_given, 0);   H_ff θ̈_f = τ_f − τ_f⁰;   τ = ID(θ̈)
TEST(Hybrid, OneShotEqualsThreeSteps) {
  const Model model = arm_of_three();
  const auto inverse = [&](const State& s, const Eigen::Vector3d& a) {
    return read(run(model, arm_table(s, a, kNone)), ".tau");
  };
  for (unsigned seed = 0; seed < 8; ++seed) {
    const State s = random_state(seed);
    const Eigen::Vector3d a = random_state(seed + 50).q, tau = 10 * random_state(seed + 60).q;
    const unsigned free = seed;  // a bit per joint: its torque is given
    Eigen::Vector3d known_a = a, known_tau = tau, held = a;
    std::vector<int> f;
    for (int i = 0; i < 3; ++i) {
      if (free >> i & 1)
        known_a[i] = kUnknown, held[i] = 0, f.push_back(i);
      else
        known_tau[i] = kUnknown;
    }
    const HybridResult shot = run(model, arm_table(s, known_a, known_tau));

    const Eigen::Vector3d bias = inverse(s, held);
    const int n = static_cast<int>(f.size());
    Eigen::MatrixXd H(n, n);
    Eigen::VectorXd right(n);
    for (int c = 0; c < n; ++c) {
      const Eigen::Vector3d column = inverse(s, held + Eigen::Vector3d::Unit(f[c])) - bias;
      for (int r = 0; r < n; ++r) H(r, c) = column[f[r]];
      right[c] = tau[f[c]] - bias[f[c]];
    }
    Eigen::Vector3d all = held;
    if (n > 0) {
      const Eigen::VectorXd found = H.partialPivLu().solve(right);
      for (int c = 0; c < n; ++c) all[f[c]] = found[c];
    }
    const Eigen::Vector3d torque = inverse(s, all);
    EXPECT_LT((read(shot, ".a") - all).norm(), 1e-9 * (1 + all.norm())) << free;
    EXPECT_LT((read(shot, ".tau") - torque).norm(), 1e-9 * (1 + torque.norm())) << free;
  }
}

TEST(Hybrid, WhatIsKnownMayChangeFromSampleToSample) {
  const Model model = arm_of_three();
  const State s = random_state(7);
  const Eigen::Vector3d a = random_state(8).q;
  const Eigen::Vector3d tau = read(run(model, arm_table(s, a, kNone)), ".tau");
  Trajectory table(arm_table(s, a, tau).names());
  for (int mask = 0; mask < 16; ++mask) {
    Eigen::Vector3d known_a = a, known_tau = tau;
    for (int i = 0; i < 3; ++i) (mask >> i & 1 ? known_a : known_tau)[i] = kUnknown;
    const Trajectory row = arm_table(s, known_a, known_tau);
    std::copy_n(row.row(0), row.series(), table.append(mask));
  }
  const HybridResult result = run(model, table);
  EXPECT_EQ(result.masks, 8);
  for (int k = 0; k < 16; ++k) {
    EXPECT_LT((read(result, ".a", k) - a).norm(), 1e-9 * a.norm()) << k;
    EXPECT_LT((read(result, ".tau", k) - tau).norm(), 1e-9 * tau.norm()) << k;
  }
}

/// A body that floats falls; a joint that is turned inside turns the rest the other way.
TEST(Hybrid, AFloatingBaseIsFreeUnlessItIsGiven) {
  Cells cells;
  for (const char* name : {"qw", "qx", "qy", "qz", "x", "y", "z", "wx", "wy", "wz", "vx", "vy", "vz"}) {
    cells.emplace_back(std::string("base.") + name, name == std::string("qw") ? 1.0 : 0.0);
  }
  for (const std::string& joint : kJoints) {
    cells.emplace_back(joint + ".q", 0.4), cells.emplace_back(joint + ".v", 0), cells.emplace_back(joint + ".a", 0);
  }
  const Model model = arm_of_three(Robot::Base::floating);
  const HybridResult falling = run(model, one_row(cells));
  EXPECT_NEAR(cell(falling.trajectory, 0, "base.az"), -kGravity, 1e-10);
  EXPECT_NEAR(cell(falling.trajectory, 0, "shoulder.tau"), 0, 1e-10);
  for (auto& [name, value] : cells) {
    if (name == "waist.a") value = 1;
  }
  const HybridResult turning = run(model, one_row(cells));
  EXPECT_LT(cell(turning.trajectory, 0, "base.alz"), -1e-3);
  EXPECT_EQ(cell(turning.trajectory, 0, "base.fz"), 0);
}

Cells five_bar_state() { return {{"j1.q", 0.2}, {"j1.v", 0.7}, {"j2.q", -0.35}, {"j2.v", -0.4}}; }

TEST(Hybrid, AFiveBarWithOneTorqueAndOneAcceleration) {
  const Model model = five_bar();
  Cells cells = five_bar_state();
  cells.insert(cells.end(), {{"j1.a", -1.5}, {"j5.tau", 3}});
  const HybridResult mixed = run(model, one_row(cells));
  EXPECT_EQ(cell(mixed.trajectory, 0, "j1.a"), -1.5);
  EXPECT_EQ(cell(mixed.trajectory, 0, "j5.tau"), 3);
  EXPECT_EQ(cell(mixed.trajectory, 0, "j3.tau"), 0);

  // Forward with the torque that was found gives the acceleration back.
  Cells forward = five_bar_state();
  forward.insert(forward.end(), {{"j1.tau", cell(mixed.trajectory, 0, "j1.tau")}, {"j5.tau", 3}});
  const HybridResult moved = run(model, one_row(forward));
  for (int i = 1; i <= 5; ++i) {
    const std::string name = "j" + std::to_string(i) + ".a";
    EXPECT_NEAR(cell(moved.trajectory, 0, name), cell(mixed.trajectory, 0, name), 1e-9) << name;
  }
  EXPECT_LT(moved.summary.power_error, 1e-7 * moved.summary.power_max);

  // Both of j1 known, nothing of j5: its torque and acceleration follow.
  Cells both = five_bar_state();
  both.insert(both.end(), {{"j1.a", -1.5}, {"j1.tau", cell(mixed.trajectory, 0, "j1.tau")}, {"j5.tau", kUnknown}});
  const HybridResult open = run(model, one_row(both));
  EXPECT_NEAR(cell(open.trajectory, 0, "j5.tau"), 3, 1e-8);
}

std::string refusal(const Model& model, const Trajectory& known) {
  const auto result = hybrid(model, known, {});
  return result ? "no refusal" : result.failure().to_string();
}

TEST(Hybrid, RefusesWhatIsNotKnownOrTwice) {
  const State s = random_state(1);
  Eigen::Vector3d a(1, kUnknown, 3), tau(1, kUnknown, kUnknown);
  Trajectory table = arm_table(s, a, tau);
  table.file = "known.csv";
  table.lines = {2};
  EXPECT_EQ(refusal(arm_of_three(), table),
            "known.csv:2:1: error: joint 'waist': acceleration and torque are both given: leave one of them empty\n"
            "known.csv:2:1: error: joint 'shoulder': neither acceleration nor torque is given");
  Cells cells = five_bar_state();
  cells.insert(cells.end(), {{"j1.a", kUnknown}, {"j5.tau", 1}});
  EXPECT_EQ(refusal(five_bar(), one_row(cells)), "error: joint 'j1': neither acceleration nor torque is given");
}

TEST(Hybrid, KnownNumbersThatContradictEachOtherAreTold) {
  Cells cells = five_bar_state();
  cells.insert(cells.end(), {{"j1.a", 1}, {"j2.a", 1}, {"j5.a", 40}});
  const auto result = hybrid(five_bar(), one_row(cells), {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.failure().exit_status(), 1);
  EXPECT_NE(result.failure().to_string().find("at t = 0 s what is known contradicts itself: "), std::string::npos)
      << result.failure().to_string();
}

TEST(Hybrid, NamesOfFieldsThatMayBeEmpty) {
  for (const char* name : {"j.a", "j.tau", "b.alx", "base.mx", "u.a2", "p.fy"})
    EXPECT_TRUE(may_be_unknown(name)) << name;
  for (const char* name : {"j.q", "j.v", "hand.load.fx", "a", "b.qw", "b.vx"})
    EXPECT_FALSE(may_be_unknown(name)) << name;
}

}  // namespace
}  // namespace kinegraph::task::hybrid_test
