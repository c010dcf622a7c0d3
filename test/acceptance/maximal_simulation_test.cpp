// simulate --formulation maximal on models from files: the same motion as the other formulations.
#include <cmath>

#include "test/acceptance/fourbar_reference.hpp"
#include "test/acceptance/support.hpp"

namespace kinegraph::acceptance::maximal_simulation_test {
namespace {

using task::SimulateOptions;

SimulateOptions maximal(double time, double step, int every) {
  SimulateOptions options;
  options.formulation = "maximal";
  options.compliance = 1e-10;
  options.time = time;
  options.step = step;
  options.every = every;
  return options;
}

const std::vector<std::string> kPoints{"P1.x", "P1.y", "P2.x", "P2.y"};

double worst(const Trajectory& found, const Trajectory& exact, const std::vector<std::string>& names) {
  double most = 0;
  for (int k = 0; k < found.samples(); ++k) {
    for (std::size_t i = 0; i < kPoints.size(); ++i)
      most = std::max(most, std::abs(found.at(k, found.find(kPoints[i])) - exact.at(k, exact.find(names[i]))));
  }
  return most;
}

TEST(MaximalSimulation, TheFourBarOfThePaperIsExactToAMicrometre) {
  const Model model = own_model("fourbar");
  const auto table = shared_table("fourbar_exact.csv");
  const Trajectory exact = FourbarReference().motion(2, 1e-3, 0, 0);
  double last = 0;
  for (const double step : {1e-3, 5e-4, 2.5e-4}) {
    const auto found = run(model, maximal(2, step, static_cast<int>(std::lround(1e-3 / step))));
    const double error = worst(found.trajectory, exact, kPoints);
    if (last > 0) {
      EXPECT_LT(error, 0.5 * last) << step;  // first order or better
    }
    last = error;
  }
  const auto found = run(model, maximal(2, 1e-4, 10));
  EXPECT_LT(worst(found.trajectory, exact, kPoints), 5e-6);
  if (table) {
    EXPECT_LT(worst(found.trajectory, *table, {"x1", "y1", "x2", "y2"}), 5e-6);
  }
}

TEST(MaximalSimulation, TheFourBarsOfAllFormulationsAgree) {
  const Model model = own_model("fourbar");
  SimulateOptions other = maximal(2, 1e-3, 1);
  const auto found = run(model, maximal(2, 1e-4, 10));
  for (const char* formulation : {"natural", "screw"}) {
    other.formulation = formulation;
    EXPECT_LT(worst(found.trajectory, run(model, other).trajectory, kPoints), 1e-3) << formulation;
  }
}

/// Against the exact position of the piston.
TEST(MaximalSimulation, ASliderCrank) {
  const auto found = run(own_model("slider_crank"), maximal(0.2, 1e-4, 10));
  const double speed = 600 * M_PI / 30, r = 0.05, l = 0.18;
  for (int k = 0; k < found.trajectory.samples(); ++k) {
    const double angle = speed * found.trajectory.times()[k];
    const double x = r * std::cos(angle) + std::sqrt(l * l - std::pow(r * std::sin(angle), 2));
    EXPECT_NEAR(value(found.trajectory, k, "piston.x"), x, 1e-5);
    EXPECT_NEAR(value(found.trajectory, k, "stroke.q"), x, 1e-5);
  }
  ASSERT_EQ(found.summary.warnings.size(), 1u);
  EXPECT_EQ(found.summary.warnings[0], "'cylinder' without mass: a millionth of the others' stands in for it");
}

TEST(MaximalSimulation, SpatialLoopsMoveAsInTheScrewFormulation) {
  for (const char* file : {"five_bar.sdf", "bennett.sdf", "furuta.urdf"}) {
    const Result<Model> model = read_model(source_file(std::string("models/") + file));
    ASSERT_TRUE(model) << file;
    SimulateOptions other = maximal(0.5, 1e-3, 1);
    other.formulation = "screw";
    const auto found = run(*model, maximal(0.5, 1e-4, 10)), exact = run(*model, other);
    for (const std::string& name : exact.trajectory.names()) {
      if (!name.ends_with(".q")) continue;
      EXPECT_LT(largest_difference(found.trajectory, exact.trajectory, name), 1e-3) << name;
    }
  }
}

}  // namespace
}  // namespace kinegraph::acceptance::maximal_simulation_test
