// Orders of the integrators, mechanisms driven by a law of time, cranks that turn over.
#include <cmath>
#include <ostream>

#include "test/acceptance/fourbar_reference.hpp"
#include "test/acceptance/support.hpp"

namespace kinegraph::acceptance::order_test {
namespace {

const std::vector<std::string> kPoints = {"P1.x", "P1.y", "P2.x", "P2.y"};

struct Case {
  std::string formulation, method, integrator;
  std::vector<double> steps;  ///< each half the one before
  double ratio;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.formulation << ", " << c.method << ", " << c.integrator; }

class Order : public testing::TestWithParam<Case> {};

// e = c hᵖ + O(hᵖ⁺¹):  e(h) / e(h/2) = 2ᵖ
TEST_P(Order, HalvingTheStepDividesTheError) {
  const Case& c = GetParam();
  static const Trajectory exact = FourbarReference().motion(5, 2.5e-4, 0, 0);
  double before = 0;
  for (double step : c.steps) {
    task::SimulateOptions o;
    o.formulation = c.formulation;
    o.method = c.method;
    o.integrator = c.integrator;
    o.step = step;
    const double error = rmse(run(own_model("fourbar"), o).trajectory, exact, kPoints, kPoints);
    if (before > 0) {
      EXPECT_NEAR(before / error, c.ratio, 0.1 * c.ratio) << "step " << step << ", error " << error;
    }
    before = error;
  }
}

INSTANTIATE_TEST_SUITE_P(Fourbar, Order,
                         testing::Values(Case{"natural", "smoother", "euler", {5e-4, 2.5e-4}, 2},
                                         Case{"independent", "smoother", "euler", {5e-4, 2.5e-4}, 2},
                                         Case{"natural", "smoother", "trapezoidal", {4e-3, 2e-3, 1e-3}, 4},
                                         Case{"independent", "smoother", "trapezoidal", {4e-3, 2e-3, 1e-3}, 4},
                                         Case{"natural", "smoother", "hermite-simpson", {8e-3, 4e-3, 2e-3}, 16},
                                         Case{"independent", "smoother", "hermite-simpson", {8e-3, 4e-3, 2e-3}, 16},
                                         Case{"natural", "batch", "hermite-simpson", {8e-3, 4e-3, 2e-3}, 16},
                                         Case{"natural", "step", "rk4", {5e-4, 2.5e-4}, 16}),
                         [](const auto& c) {
                           std::string name = c.param.formulation + "_" + c.param.method + "_" + c.param.integrator;
                           for (char& letter : name) letter = letter == '-' ? '_' : letter;
                           return name;
                         });

// models/fourbar_driven.yaml:  θ = ω (t − T (1 − exp(−t/T)))
TEST(Driven, CrankFollowsItsLawAndTheRestItsGeometry) {
  const long double speed = 2 * std::acos(-1.0L), start = 0.5L;
  const FourbarReference fourbar;
  for (const std::string integrator : {"trapezoidal", "hermite-simpson"}) {
    task::SimulateOptions o;
    o.time = 3;
    o.step = 2e-3;
    o.integrator = integrator;
    o.reactions = true;
    const auto found = run(own_model("fourbar_driven"), o);
    const Trajectory& motion = found.trajectory;
    double position = 0, velocity = 0, acceleration = 0;
    for (int k = 0; k < motion.samples(); ++k) {
      const long double t = motion.times()[k], decay = std::exp(-t / start);
      const long double theta = speed * (t - start * (1 - decay)), rate = speed * (1 - decay),
                        second = speed / start * decay;
      const auto pose = FourbarReference::pose(theta, rate, second);
      const auto miss = [&](const char* name, long double exact) {
        return std::abs(value(motion, k, name) - static_cast<double>(exact));
      };
      for (double m : {miss("theta.q", theta), miss("P1.x", pose.p1.x), miss("P1.y", pose.p1.y),
                       miss("P2.x", pose.p2.x), miss("P2.y", pose.p2.y)}) {
        position = std::max(position, m);
      }
      for (double m : {miss("theta.v", rate), miss("P2.vx", pose.v2.x), miss("P2.vy", pose.v2.y)}) {
        velocity = std::max(velocity, m);
      }
      for (double m : {miss("theta.a", second), miss("P2.ax", pose.a2.x), miss("P2.ay", pose.a2.y)}) {
        acceleration = std::max(acceleration, m);
      }
    }
    EXPECT_LT(position, 1e-11) << integrator;  // no integrator errs where nothing is left free
    EXPECT_LT(velocity, 1e-10) << integrator;
    EXPECT_LT(acceleration, 1e-9) << integrator;
    EXPECT_EQ(found.summary.degrees_of_freedom, 0);
    // More than two turns.
    EXPECT_GT(value(motion, motion.samples() - 1, "theta.q"), 4 * M_PI);
  }
}

// A bar hung from a carriage whose place is a law of time: one coordinate driven, one free. The carriage stands in for
// any mechanism with Φ_t ≠ 0 that also has to be integrated;  ⅔ L φ̈ = −ẍ cos φ − g sin φ, φ from the vertical.
const char* const kShaken = R"(
points:
  - {name: left, x: -3, y: 0, fixed: true}
  - {name: right, x: 3, y: 0, fixed: true}
  - {name: hook, x: 0.3, y: 0}
  - {name: tip, x: 0.3, y: -1}
planar_bodies:
  - {name: bar, points: [hook, tip], mass: 1.5}
sliders:
  - {name: rail, point: hook, line: [left, right]}
relative_coordinates:
  - {name: phi, type: absolute_angle, points: [hook, tip]}
drivers:
  - {name: shaker, coordinate: hook.x, law: 0.3*cos(4*t)}
)";

double shaken_tip_error(const std::string& formulation, const std::string& integrator, double step) {
  using Real = long double;
  const double time = 3;
  Real phi = 0, rate = 0;
  const auto rhs = [](Real t, Real at) {
    return 1.5L * (4.8L * std::cos(4 * t) * std::cos(at) - 9.81L * std::sin(at));
  };
  task::SimulateOptions o;
  o.time = time;
  o.step = step;
  o.formulation = formulation;
  o.integrator = integrator;
  const auto found = run(model_of(kShaken), o);
  double square = 0;
  const int fine = static_cast<int>(std::lround(step / 1e-4));
  const Real h = static_cast<Real>(step) / fine;
  for (int k = 0; k < found.trajectory.samples(); ++k) {
    const Real start = static_cast<Real>(step) * k;
    const double ex = value(found.trajectory, k, "tip.x") - double(0.3L * std::cos(4 * start) + std::sin(phi));
    const double ey = value(found.trajectory, k, "tip.y") + double(std::cos(phi));
    square += ex * ex + ey * ey;
    for (int i = 0; i < fine; ++i) {
      const Real t = start + i * h, a1 = rhs(t, phi), a2 = rhs(t + h / 2, phi + h / 2 * rate),
                 a3 = rhs(t + h / 2, phi + h / 2 * rate + h * h / 4 * a1),
                 a4 = rhs(t + h, phi + h * rate + h * h / 2 * a2);
      phi += h * rate + h * h / 6 * (a1 + a2 + a3);
      rate += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
    }
  }
  return std::sqrt(square / found.trajectory.samples());
}

TEST(Driven, FreePartHasTheOrderOfTheIntegrator) {
  for (const std::string formulation : {"natural", "independent"}) {
    const double coarse = shaken_tip_error(formulation, "trapezoidal", 4e-3);
    EXPECT_LT(coarse, 1e-3) << formulation;
    EXPECT_NEAR(coarse / shaken_tip_error(formulation, "trapezoidal", 2e-3), 4, 0.4) << formulation;
    const double fine = shaken_tip_error(formulation, "hermite-simpson", 8e-3);
    EXPECT_LT(fine, 1e-6) << formulation;
    EXPECT_NEAR(fine / shaken_tip_error(formulation, "hermite-simpson", 4e-3), 16, 1.6) << formulation;
  }
}

constexpr double kFast = 12;  // rad/s: more than nine turns in 5 s

double fast_error(const Model& model, const std::vector<std::string>& points, const std::string& formulation,
                  double step) {
  static const Trajectory exact = FourbarReference().motion(5, 5e-4, 0, kFast);
  task::SimulateOptions o;
  o.formulation = formulation;
  o.step = step;
  const auto found = run(model, o);
  EXPECT_LE(found.summary.constraint_max, 1e-12) << formulation;
  if (found.trajectory.find("theta.q") >= 0) {
    const double turns = value(found.trajectory, found.trajectory.samples() - 1, "theta.q") / (2 * M_PI);
    EXPECT_GT(std::abs(turns), 9) << formulation;
    EXPECT_LT(rmse(found.trajectory, exact, {"theta.q"}, {"theta.q"}), 1e-6) << formulation;
  } else if (formulation == "independent") {
    EXPECT_GE(found.summary.coordinate_changes, 18);  // twice per turn at least
  }
  return rmse(found.trajectory, exact, points, kPoints);
}

// The independent coordinate is an angle that goes on counting …
TEST(Turning, CrankTurnsOverManyTimes) {
  const Model model = own_model("fourbar", {{"theta.v", kFast}});
  for (const std::string formulation : {"independent", "natural"}) {
    const double error = fast_error(model, kPoints, formulation, 1e-3);
    EXPECT_LT(error, 5e-7) << formulation;
    EXPECT_NEAR(error / fast_error(model, kPoints, formulation, 5e-4), 16, 1.6) << formulation;
  }
}

// … or an x or y, which have to change places.
TEST(Turning, WithoutAnAngleTheCoordinatesAreChosenAgain) {
  const auto plain = shared_model("fourbars1");
  if (!plain) GTEST_SKIP() << "no reference data";
  const auto fast = plain->with({{"1.vy", kFast}});
  ASSERT_TRUE(fast) << fast.failure().to_string();
  const std::vector<std::string> points = {"1.x", "1.y", "2.x", "2.y"};
  const double error = fast_error(*fast, points, "independent", 1e-3);
  EXPECT_LT(error, 2e-4);
  EXPECT_GT(error / fast_error(*fast, points, "independent", 5e-4), 14.4);
}

}  // namespace
}  // namespace kinegraph::acceptance::order_test
