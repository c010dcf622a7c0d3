#include "kinegraph/task/step_division.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kinegraph/expr/expression.hpp"
#include "kinegraph/task/driver_jump.hpp"
#include "kinegraph/task/energy_verdict.hpp"
#include "kinegraph/task/planar_drawing.hpp"
#include "kinegraph/task/simulate.hpp"

namespace kinegraph::task::step_division_test {
namespace {

/// One unit of time, of which the stretch from 0.3 to 0.31 does not balance unless a part of it is short enough.
class Stretch final : public DivisibleStep {
 public:
  void keep(int depth) override { kept_[depth] = at; }
  void back(int depth) override { at = kept_[depth]; }
  double advance(int depth) override {
    const double h = std::ldexp(1.0, -depth), from = at;
    at += h;
    ++tried;
    if (blocked && from <= 0.3 && at > 0.3) return std::numeric_limits<double>::infinity();
    return from < 0.31 && at > 0.3 && h > 0.01 ? 1.0 : 0.0;
  }
  void take() override { ends.push_back(at); }

  double at = 0;
  int tried = 0;
  bool blocked = false;
  std::vector<double> ends;

 private:
  double kept_[20] = {};
};

TEST(StepDivision, HalvesOnlyWhereTheEnergyDoesNotBalance) {
  StepDivision division;
  EXPECT_FALSE(division.needed(0.9e-4, 1, 0));
  EXPECT_TRUE(division.needed(-2e-4, 1, 0));
  EXPECT_FALSE(division.needed(2e-4, 1, 1e-3));  // rounding
  EXPECT_TRUE(division.needed(std::numeric_limits<double>::quiet_NaN(), 1, 0));
  Stretch step;
  ASSERT_TRUE(division.run(step, 1, 0));
  EXPECT_EQ(division.steps(), 1);
  EXPECT_EQ(step.at, 1);
  EXPECT_EQ(step.ends.back(), 1);
  EXPECT_LT(step.ends.size(), 20U);
  for (std::size_t i = 1; i < step.ends.size(); ++i) {
    const double from = step.ends[i - 1], to = step.ends[i];
    EXPECT_LT(from, to);
    if (from < 0.31 && to > 0.3) {
      EXPECT_LE(to - from, 0.01);
    }
  }
}

TEST(StepDivision, GivesUpWhereThereIsNoAnswer) {
  StepDivision division;
  Stretch step;
  step.blocked = true;
  EXPECT_FALSE(division.run(step, 1, 0));
  EXPECT_EQ(division.steps(), 0);
  EXPECT_LT(step.tried, 50);
}

PlanarBody bar(const std::string& name, int a, int b, double length, double mass) {
  PlanarBody body;
  body.name = name;
  body.points = {PointIndex(a), PointIndex(b)};
  body.local = {{0, 0}, {length, 0}};
  body.length = length;
  body.mass = mass;
  body.inertia = mass * length * length / 3;
  body.cog = {length / 2, 0};
  return body;
}

/// A heavy crank that cannot turn round: the light rod (0.2 m) swings through where the crank has to turn back, within
/// a few milliseconds.
Model heavy_crank() {
  constexpr double kCrank = 0.194, kRod = 0.2, kOffset = 0.015, kStart = 0.7;
  Model m;
  const Vector2d a{kCrank * std::cos(kStart), kCrank * std::sin(kStart)};
  const Vector2d b{a.x() + std::sqrt(kRod * kRod - (a.y() - kOffset) * (a.y() - kOffset)), kOffset};
  m.points = {{"O", {0, 0}, {0, 0}, true, {}},
              {"A", a, {0, 0}, false, {}},
              {"B", b, {0, 0}, false, {}},
              {"G1", {0, kOffset}, {0, 0}, true, {}},
              {"G2", {1, kOffset}, {0, 0}, true, {}}};
  m.bodies = {bar("crank", 0, 1, kCrank, 100), bar("rod", 1, 2, kRod, 0.8)};
  m.sliders.push_back({"guide", PointIndex(2), PointIndex(3), PointIndex(4), {}});
  RelativeCoordinate theta;
  theta.name = "theta";
  theta.points = {PointIndex(0), PointIndex(1)};
  m.relative.push_back(theta);
  m.initial.push_back({{CoordinateRef::What::relative, 0}, true, 5.0, {}});
  return m;
}

double last_angle(const SimulateResult& found) {
  return found.trajectory.at(found.trajectory.samples() - 1, found.trajectory.find("theta.q"));
}

TEST(StepDivision, AHeavyCrankTurnsBackAtItsDeadPoint) {
  const Model model = heavy_crank();
  SimulateOptions options;
  options.time = 0.5;
  options.step = 2e-5;
  options.every = 50;
  const auto exact = simulate(model, options);
  ASSERT_TRUE(exact) << exact.failure().to_string();
  ASSERT_LT(exact->summary.energy_drift, 1e-5);
  EXPECT_EQ(exact->summary.divided_steps, 0);
  options.step = 1e-3;
  options.every = 1;
  for (const char* formulation : {"natural", "independent", "screw"}) {
    options.formulation = formulation;
    const auto found = simulate(model, options);
    ASSERT_TRUE(found) << formulation << ": " << found.failure().to_string();
    EXPECT_GT(found->summary.divided_steps, 0) << formulation;
    EXPECT_LT(found->summary.divided_steps, 50) << formulation;
    EXPECT_LT(found->summary.energy_drift, 1e-3) << formulation;
    EXPECT_TRUE(found->summary.warnings.empty()) << formulation << ": " << found->summary.warnings.front();
    EXPECT_EQ(found->trajectory.samples(), 501) << formulation;
    EXPECT_NEAR(last_angle(*found), last_angle(*exact), 1e-3) << formulation;
  }
  options.formulation = "natural";
  options.method = "step";
  const auto stepped = simulate(model, options);
  ASSERT_TRUE(stepped) << stepped.failure().to_string();
  EXPECT_NEAR(last_angle(*stepped), last_angle(*exact), 1e-3);
}

TEST(StepDivision, IntegratorsOfLowOrderStayAsTheyAreAndAreWarnedOf) {
  Model pendulum;
  pendulum.points = {{"O", {0, 0}, {0, 0}, true, {}}, {"P", {1, 0}, {0, 0}, false, {}}};
  pendulum.bodies = {bar("arm", 0, 1, 1, 1)};
  SimulateOptions options;
  options.time = 3;
  options.step = 0.1;
  options.integrator = "trapezoidal";
  const auto found = simulate(pendulum, options);
  ASSERT_TRUE(found) << found.failure().to_string();
  EXPECT_EQ(found->summary.divided_steps, 0);
  ASSERT_GT(found->summary.energy_drift, 1e-3);
  ASSERT_EQ(found->summary.warnings.size(), 1U);
  EXPECT_NE(found->summary.warnings[0].find("the energy is off by"), std::string::npos);
  EXPECT_NE(found->summary.warnings[0].find("take a smaller step than 0.1 s"), std::string::npos);
}

TEST(EnergyBalance, IsMeasuredByWhatMoves) {
  EnergyBalance balance;
  balance.start(5, 0);
  balance.add(0.1, 5, 2, 0);
  balance.add(0.2, 5.5, 1, 0.1);  // 0.4 J too much
  balance.add(0.3, 5.4, 1, 0.1);
  SimulateSummary s;
  balance.tell(s);
  EXPECT_DOUBLE_EQ(s.energy_error, 0.4);
  EXPECT_DOUBLE_EQ(s.energy_drift, 0.2);
  EXPECT_DOUBLE_EQ(s.energy_worst_t, 0.2);
  s.step = 0.1;
  warn_of_energy(s);
  ASSERT_EQ(s.warnings.size(), 1U);
  EXPECT_NE(s.warnings[0].find("t = 0.2 s"), std::string::npos) << s.warnings[0];
  balance.tell(s, 1.9);  // constraints that give way by less than what moves do not hide it
  EXPECT_DOUBLE_EQ(s.energy_drift, 0.2);

  balance.start(0, 0);  // what rounding moves is no motion
  balance.add(0.1, 1e-27, 1e-27, 0);
  balance.tell(s);
  EXPECT_LT(s.energy_drift, 0.01);

  balance.start(0, 0);
  balance.add(0.1, 4, 0, 0);
  balance.tell(s);
  EXPECT_TRUE(std::isnan(s.energy_drift));  // nothing moves: there is no ratio
}

Model driven(const std::string& law) {
  Model m;
  m.points = {{"O", {0, 0}, {0, 0}, true, {}}, {"P", {1, 0}, {0, 0}, false, {}}};
  m.bodies = {bar("arm", 0, 1, 1, 1)};
  RelativeCoordinate theta;
  theta.name = "theta";
  theta.points = {PointIndex(0), PointIndex(1)};
  m.relative.push_back(theta);
  auto expression = Expression::parse(law, {});
  EXPECT_TRUE(expression);
  m.drivers.push_back({"drive",
                       {CoordinateRef::What::relative, 0},
                       Law(std::make_shared<const Expression>(*std::move(expression))),
                       {}});
  return m;
}

TEST(DriverJump, IsRefusedWithItsTimeAndSize) {
  SimulateOptions options;
  options.time = 1;
  for (const char* formulation : {"natural", "maximal"}) {
    options.formulation = formulation;
    const auto found = simulate(driven("0.2*step(t - 0.3456)"), options);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.failure().exit_status(), 1);
    EXPECT_NE(found.failure().to_string().find("driver 'drive' jumps by 0.2 at t = 0.3456 s"), std::string::npos)
        << found.failure().to_string();
  }
  EXPECT_TRUE(check_drivers(driven("sin(200*t)"), 1, 1e-2));  // fast, but it does not jump
  EXPECT_TRUE(check_drivers(driven("abs(t - 0.5)"), 1, 1e-3));
  EXPECT_TRUE(check_drivers(driven("step(t - 2)"), 1, 1e-3));
  EXPECT_FALSE(check_drivers(driven("t + floor(t)"), 1.5, 1e-3));
}

TEST(DriverJump, ALawWithoutFiniteNumbersIsRefusedWithItsTime) {
  const auto expect = [](const char* law, const std::string& what) {
    const auto found = check_drivers(driven(law), 1, 0.1);
    ASSERT_FALSE(found) << law;
    EXPECT_EQ(found.failure().exit_status(), 1);
    EXPECT_EQ(found.failure().to_string(), "error: driver 'drive' has no finite " + what +
                                               ": its law cannot be computed there, or has no derivative");
  };
  expect("1/(1 + exp(1000*t))", "acceleration at t = 0.7 s");
  expect("log(0.45 - t)", "position at t = 0.5 s");
  expect("sqrt(t)", "velocity at t = 0 s");
  expect("log(t)", "position at t = 0 s");
}

TEST(PlanarDrawing, EveryFormulationStartsFromTheSameAssembly) {
  Model m;
  m.points = {{"A", {0, 0}, {0, 0}, true, {}},
              {"P", {0.1, 0.95}, {0, 0}, false, {}},
              {"R", {2.1, 1.6}, {0, 0}, false, {}},
              {"D", {3, 0}, {0, 0}, true, {}}};
  m.bodies = {bar("crank", 0, 1, 1, 1), bar("coupler", 1, 2, 2, 2), bar("rocker", 3, 2, 2, 2)};
  RelativeCoordinate theta;
  theta.name = "theta";
  theta.points = {PointIndex(0), PointIndex(1)};
  m.relative.push_back(theta);
  const Drawing drawing = assembled_drawing(m);
  ASSERT_TRUE(drawing.model);
  EXPECT_GT(drawing.moved, 0.01);
  EXPECT_FALSE(assembled_drawing(*drawing.model).model);  // it is assembled now

  SimulateOptions options;
  options.time = 0.01;
  const auto natural = simulate(m, options);
  ASSERT_TRUE(natural) << natural.failure().to_string();
  EXPECT_EQ(natural->summary.assembly_moved, drawing.moved);
  for (const char* formulation : {"independent", "screw", "maximal"}) {
    options.formulation = formulation;
    const auto found = simulate(m, options);
    ASSERT_TRUE(found) << formulation << ": " << found.failure().to_string();
    EXPECT_NEAR(found->trajectory.at(0, found->trajectory.find("theta.q")),
                natural->trajectory.at(0, natural->trajectory.find("theta.q")), 1e-9)
        << formulation;
    EXPECT_EQ(found->summary.assembly_moved, drawing.moved) << formulation;
  }
}

}  // namespace
}  // namespace kinegraph::task::step_division_test
