// The four-bar of 000, section 7.1: 5 s from rest, against its exact motion.
#include <fmt/format.h>

#include <cmath>

#include "test/acceptance/fourbar_reference.hpp"
#include "test/acceptance/support.hpp"

namespace kinegraph::acceptance::accuracy_test {
namespace {

const std::vector<std::string> kPoints = {"P1.x", "P1.y", "P2.x", "P2.y"};

/// Computed once: 5 s at 1 ms.
const Trajectory& exact() {
  static const Trajectory motion = FourbarReference().motion(5, 1e-3, 0, 0);
  return motion;
}

task::SimulateOptions options(const std::string& formulation, const std::string& integrator, double step = 1e-3) {
  task::SimulateOptions o;
  o.formulation = formulation;
  o.integrator = integrator;
  o.step = step;
  return o;
}

double error(const Trajectory& found) { return rmse(found, exact(), kPoints, kPoints); }

TEST(Reference, HalvingItsStepChangesNothing) {
  const Trajectory finer = FourbarReference().motion(5, 1e-3, 0, 0, 2);
  for (const std::string& name : kPoints) EXPECT_LT(largest_difference(finer, exact(), name), 1e-13) << name;
}

TEST(Reference, KeepsItsEnergy) {
  const FourbarReference fourbar;
  const int last = exact().samples() - 1;
  const auto start = fourbar.energy(0, 0);
  EXPECT_NEAR(double(start), 58.86, 1e-12);
  EXPECT_NEAR(double(fourbar.energy(value(exact(), last, "theta.q"), value(exact(), last, "theta.v"))), double(start),
              1e-11);
}

// Printed in the notes on paper 000 and computed by other means.
TEST(Reference, IsTheNotesMotion) {
  const int last = exact().samples() - 1;
  EXPECT_NEAR(value(exact(), last, "theta.q"), -3.609423858830, 2e-12);
  EXPECT_NEAR(value(exact(), last, "theta.v"), -1.76107128828, 1e-11);
  EXPECT_NEAR(value(exact(), last, "P1.x"), -.892548408007, 2e-12);
  EXPECT_NEAR(value(exact(), last, "P2.y"), 1.579325725958, 2e-12);
}

TEST(Reference, IsTheSharedMotion) {
  const auto table = shared_table("fourbar_exact.csv");
  if (!table) GTEST_SKIP() << "no reference data";
  EXPECT_LT(rmse(exact(), *table, kPoints, {"x1", "y1", "x2", "y2"}), 1e-12);
}

struct Case {
  std::string formulation, integrator, method;
  int window;
  double step, bound;
};

class FourbarAccuracy : public testing::TestWithParam<Case> {};

TEST_P(FourbarAccuracy, IsAsPromised) {
  const Case& c = GetParam();
  task::SimulateOptions o = options(c.formulation, c.integrator, c.step);
  o.method = c.method;
  o.window = c.window;
  const auto found = run(own_model("fourbar"), o);
  const double miss = error(found.trajectory);
  RecordProperty("rmse", fmt::format("{:.4g}", miss));
  EXPECT_EQ(found.trajectory.samples(), std::lround(5 / c.step) + 1);
  EXPECT_LE(miss, c.bound);
  EXPECT_LE(found.summary.constraint_max, 1e-12);
  EXPECT_LE(found.summary.constraint_velocity_max, 1e-11);
  EXPECT_EQ(found.summary.formulation, c.formulation);
  EXPECT_EQ(found.summary.integrator, c.integrator);
}

INSTANTIATE_TEST_SUITE_P(Hard, FourbarAccuracy,
                         testing::Values(Case{"natural", "trapezoidal", "smoother", 2, 1e-3, 3e-5},
                                         Case{"natural", "trapezoidal", "smoother", 10, 1e-3, 3e-5},
                                         Case{"natural", "trapezoidal", "batch", 2, 1e-3, 3e-5},
                                         Case{"independent", "trapezoidal", "smoother", 2, 1e-3, 5e-6},
                                         Case{"independent", "trapezoidal", "smoother", 10, 1e-3, 5e-6},
                                         Case{"independent", "trapezoidal", "batch", 2, 1e-3, 5e-6},
                                         Case{"natural", "hermite-simpson", "smoother", 2, 1e-3, 1e-10},
                                         Case{"natural", "hermite-simpson", "smoother", 10, 1e-3, 1e-10},
                                         Case{"natural", "hermite-simpson", "batch", 2, 1e-3, 1e-10},
                                         Case{"independent", "hermite-simpson", "smoother", 2, 1e-3, 1e-10},
                                         Case{"independent", "hermite-simpson", "smoother", 10, 1e-3, 1e-10},
                                         Case{"independent", "hermite-simpson", "batch", 2, 1e-3, 1e-10},
                                         Case{"natural", "hermite-simpson", "smoother", 2, 4e-3, 1e-8},
                                         Case{"natural", "hermite-simpson", "smoother", 10, 4e-3, 1e-8},
                                         Case{"natural", "hermite-simpson", "batch", 2, 4e-3, 1e-8},
                                         Case{"independent", "hermite-simpson", "smoother", 2, 4e-3, 1e-8}),
                         [](const auto& c) {
                           std::string name =
                               fmt::format("{}_{}_{}_{}_{}ms", c.param.formulation, c.param.integrator, c.param.method,
                                           c.param.window, std::lround(1e3 * c.param.step));
                           for (char& letter : name) letter = letter == '-' ? '_' : letter;
                           return name;
                         });

// The shared files: no coordinate declared, or the crank's angle. Without one the independent coordinates are some x or
// y, in which the motion is less smooth; nothing is promised of them but the order.
TEST(Fourbar, SharedFilesMoveTheSame) {
  const auto table = shared_table("fourbar_exact.csv");
  const auto plain = shared_model("fourbars1"), angle = shared_model("fourbars1-with-rel-angle");
  if (!table || !plain || !angle) GTEST_SKIP() << "no reference data";
  const auto miss = [&](const Model& model, const std::string& formulation, const std::string& integrator) {
    const auto found = run(model, options(formulation, integrator));
    EXPECT_LE(found.summary.constraint_max, 1e-12) << formulation << " " << integrator;
    EXPECT_LE(found.summary.constraint_velocity_max, 1e-11) << formulation << " " << integrator;
    return rmse(found.trajectory, *table, {"1.x", "1.y", "2.x", "2.y"}, {"x1", "y1", "x2", "y2"});
  };
  for (const Model* model : {&*plain, &*angle}) {
    EXPECT_LE(miss(*model, "natural", "trapezoidal"), 3e-5);
    EXPECT_LE(miss(*model, "natural", "hermite-simpson"), 1e-10);
  }
  EXPECT_LE(miss(*angle, "independent", "trapezoidal"), 5e-6);
  EXPECT_LE(miss(*angle, "independent", "hermite-simpson"), 1e-10);
  EXPECT_LE(miss(*plain, "independent", "trapezoidal"), 5e-4);
  EXPECT_LE(miss(*plain, "independent", "hermite-simpson"), 5e-9);
}

TEST(Fourbar, HermiteSimpsonIsTheDefault) {
  task::SimulateOptions o;
  o.time = 0.01;
  EXPECT_EQ(run(own_model("fourbar"), o).summary.integrator, "hermite-simpson");
}

TEST(Fourbar, VelocitiesAndAccelerationsAreExactToo) {
  const auto found = run(own_model("fourbar"), options("natural", "hermite-simpson"));
  const std::vector<std::string> rates = {"P1.vx", "P1.vy", "P2.vx", "P2.vy", "theta.v"};
  EXPECT_LT(rmse(found.trajectory, exact(), rates, rates), 1e-9);
  EXPECT_LT(rmse(found.trajectory, exact(), {"theta.a"}, {"theta.a"}), 1e-8);
  EXPECT_LT(rmse(found.trajectory, exact(), {"theta.q"}, {"theta.q"}), 1e-10);
  EXPECT_GT(found.summary.energy_drift, 0);
  EXPECT_LT(found.summary.energy_drift, 1e-9);
}

struct SoftCase {
  std::string formulation, covariance;
  double factor;
  int window;
};

class SoftWeights : public testing::TestWithParam<SoftCase> {};

// The covariances of 000, Table 2, one at a time.
TEST_P(SoftWeights, AreNoMatterOfTaste) {
  const SoftCase& c = GetParam();
  task::SimulateOptions o = options(c.formulation, "trapezoidal");
  o.weights = "soft";
  o.window = c.window;
  if (!c.covariance.empty()) o.soft_scale[c.covariance] = c.factor;
  const auto found = run(own_model("fourbar"), o);
  const double miss = error(found.trajectory);
  RecordProperty("rmse", fmt::format("{:.4g}", miss));
  EXPECT_LE(miss, 6e-5);
  EXPECT_LE(found.summary.iterations_mean, 5);
  EXPECT_EQ(found.summary.weights, "soft");
}

std::vector<SoftCase> soft_cases() {
  std::vector<SoftCase> cases;
  for (int window : {2, 10})
    cases.push_back({"natural", "", 1, window}), cases.push_back({"independent", "", 1, window});
  for (double factor : {0.1, 10.0}) {
    for (const char* covariance : {"prior", "integrator", "dynamics", "constraint"}) {
      cases.push_back({"natural", covariance, factor, 2});
    }
    for (const char* covariance : {"prior", "integrator", "dynamics", "constraint", "equality"}) {
      cases.push_back({"independent", covariance, factor, 2});
    }
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Table2, SoftWeights, testing::ValuesIn(soft_cases()), [](const auto& c) {
  return fmt::format("{}_{}_{}_{}", c.param.formulation, c.param.covariance.empty() ? "as_printed" : c.param.covariance,
                     c.param.factor < 1   ? "tenth"
                     : c.param.factor > 1 ? "tenfold"
                                          : "same",
                     c.param.window);
});

}  // namespace
}  // namespace kinegraph::acceptance::accuracy_test
