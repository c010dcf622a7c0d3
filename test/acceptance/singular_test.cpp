// Mechanisms that come through positions where they could branch, and constraints that repeat others.
#include <algorithm>
#include <cmath>
#include <iostream>

#include "kinegraph/task/check.hpp"
#include "test/acceptance/support.hpp"

namespace kinegraph::acceptance::singular_test {
namespace {

/// models/parallelogram.yaml as one equation:  J θ̈ = −G cos θ, the coupler moving in a circle without turning.
struct Swing {
  long double theta, rate;
  long double inertia = 5.0L / 3, load = 2 * 9.81L;

  void advance(long double h, int steps) {
    for (int i = 0; i < steps; ++i) {
      const auto a = [&](long double at) { return -load / inertia * std::cos(at); };
      const long double a1 = a(theta), a2 = a(theta + h / 2 * rate), a3 = a(theta + h / 2 * rate + h * h / 4 * a1),
                        a4 = a(theta + h * rate + h * h / 2 * a2);
      theta += h * rate + h * h / 6 * (a1 + a2 + a3);
      rate += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
    }
  }
};

struct Case {
  std::string formulation;
  double start_degrees;
  int window;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.formulation << ", " << c.start_degrees << " deg"; }

class Parallelogram : public testing::TestWithParam<Case> {};

TEST_P(Parallelogram, PassesItsSingularPositions) {
  const Case& c = GetParam();
  const double start = c.start_degrees * M_PI / 180;
  task::SimulateOptions o;
  o.time = 10;
  o.formulation = c.formulation;
  o.window = c.window;
  const auto found = run(own_model("parallelogram", {{"start", start}}), o);
  const Trajectory& motion = found.trajectory;

  Swing exact{start, 8};
  long crossings = 0;  // of the line through the fixed pivots, by the exact motion
  double branch = 0, theta = 0;
  for (int k = 0; k < motion.samples(); ++k) {
    branch = std::max({branch, std::abs(value(motion, k, "P2.x") - value(motion, k, "P1.x") - 2),
                       std::abs(value(motion, k, "P2.y") - value(motion, k, "P1.y"))});
    theta = std::max(theta, std::abs(value(motion, k, "theta.q") - static_cast<double>(exact.theta)));
    const double before = std::floor(static_cast<double>(exact.theta) / M_PI);
    exact.advance(1e-4L, 10);
    if (k + 1 < motion.samples()) crossings += std::floor(static_cast<double>(exact.theta) / M_PI) != before;
  }
  const double energy = found.summary.energy_error / found.summary.kinetic_start;
  std::cout << "singular positions passed: " << found.summary.singular_passes << " (by the exact motion " << crossings
            << "), energy error " << energy << " of the first kinetic energy, branch " << branch << " m, angle "
            << theta << " rad\n";
  EXPECT_GE(found.summary.singular_passes, 5);
  EXPECT_NEAR(found.summary.singular_passes, crossings, 1);  // one at either end may be half a pass
  // Independent coordinates pass too, but less exactly: one coordinate carries what least squares over all of them
  // evens out.
  const bool natural = std::string(c.formulation) == "natural";
  EXPECT_LT(energy, natural ? 1e-5 : 1e-3);
  EXPECT_LT(branch, natural ? 1e-6 : 2e-6);
  EXPECT_LT(theta, natural ? 1e-4 : 1e-2);
  EXPECT_NEAR(found.summary.kinetic_start, 0.5 * 5 / 3 * 64, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Starts, Parallelogram,
                         testing::Values(Case{"natural", 90, 2}, Case{"independent", 90, 2}, Case{"natural", 90, 10},
                                         Case{"natural", 0, 2}, Case{"independent", 0, 2}, Case{"natural", 0, 10},
                                         Case{"natural", 180, 2}, Case{"natural", 37, 2}),
                         [](const auto& c) {
                           return c.param.formulation + "_" + std::to_string(int(c.param.start_degrees)) +
                                  "deg_window" + std::to_string(c.param.window);
                         });

TEST(Singular, InLineIsToldByCheck) {
  const auto away = task::check(own_model("parallelogram"));
  const auto in_line = task::check(own_model("parallelogram", {{"start", 0}}));
  ASSERT_TRUE(away) << away.failure().to_string();
  ASSERT_TRUE(in_line) << in_line.failure().to_string();
  EXPECT_FALSE(away->singular_here);
  EXPECT_TRUE(in_line->singular_here);
  EXPECT_EQ(in_line->degrees_of_freedom, 1);
  EXPECT_TRUE(in_line->redundant.empty());
}

TEST(Redundant, FifthBarIsNamedAndRuns) {
  const Model model = own_model("parallelogram_redundant");
  const auto checked = task::check(model);
  ASSERT_TRUE(checked) << checked.failure().to_string();
  ASSERT_EQ(checked->redundant.size(), 1u);
  EXPECT_TRUE(checked->redundant[0] == "distance E-M" || checked->redundant[0] == "distance D-P2" ||
              checked->redundant[0] == "distance A-P1")
      << checked->redundant[0];
  EXPECT_EQ(checked->degrees_of_freedom, 1);

  // The middle bar adds its third of a kilogram m² and half its weight.
  Swing exact{M_PI / 3, 8, 2, 2.5L * 9.81L};
  task::SimulateOptions o;
  o.time = 10;
  for (const std::string formulation : {"natural", "independent"}) {
    o.formulation = formulation;
    const auto found = run(model, o);
    Swing swing = exact;
    double theta = 0, branch = 0;
    for (int k = 0; k < found.trajectory.samples(); ++k) {
      theta = std::max(theta, std::abs(value(found.trajectory, k, "theta.q") - static_cast<double>(swing.theta)));
      branch = std::max(branch, std::abs(value(found.trajectory, k, "P2.y") - value(found.trajectory, k, "P1.y")));
      swing.advance(1e-4L, 10);
    }
    const bool natural = formulation == "natural";
    EXPECT_LT(theta, natural ? 1e-4 : 1e-2) << formulation;
    EXPECT_LT(branch, 1e-6) << formulation;
    EXPECT_LT(found.summary.energy_error / found.summary.kinetic_start, natural ? 1e-5 : 1e-3) << formulation;
    EXPECT_EQ(found.summary.redundant_constraints, 1);
  }
}

}  // namespace
}  // namespace kinegraph::acceptance::singular_test
