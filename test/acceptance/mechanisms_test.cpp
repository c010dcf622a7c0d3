// Every model of the repository and of the reference data moves, and the ways to move it agree.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <stdexcept>

#include "kinegraph/model/friction_support.hpp"
#include "test/acceptance/support.hpp"

namespace kinegraph::acceptance::mechanisms_test {
namespace {

struct Named {
  std::string name;
  Model model;
};

std::vector<Named> all_models() {
  std::vector<std::filesystem::path> files;
  const auto gather = [&files](const std::filesystem::path& folder) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const bool sidecar = entry.path().stem().has_extension();  // arm.loops.yaml, arm.sensors.yaml
      if (entry.path().extension() == ".yaml" && !sidecar) files.push_back(entry.path());
    }
  };
  gather(source_file("models"));
  if (const auto folder = shared("models/planar")) gather(*folder);
  std::sort(files.begin(), files.end());
  std::vector<Named> models;
  for (const auto& file : files) {
    auto model = read_model(file);
    if (!model) throw std::runtime_error(model.failure().to_string());
    if (!natural_friction(*model)) continue;  // natural coordinates have none
    models.push_back({file.filename().string(), std::move(*model)});
  }
  return models;
}

task::SimulateOptions options(const std::string& formulation, const std::string& method = "smoother") {
  task::SimulateOptions o;
  o.time = 1;
  o.step = 1e-3;
  o.formulation = formulation;
  o.method = method;
  return o;
}

/// The largest distance between two motions, over points and relative coordinates.
double apart(const Model& model, const Trajectory& a, const Trajectory& b) {
  double most = 0;
  for (const Point& p : model.points) {
    if (p.fixed) continue;
    most = std::max({most, largest_difference(a, b, p.name + ".x"), largest_difference(a, b, p.name + ".y")});
  }
  for (const RelativeCoordinate& r : model.relative) most = std::max(most, largest_difference(a, b, r.name + ".q"));
  return most;
}

// The parallelograms become singular: singular_test.cpp looks at them.
bool singular(const Named& m) { return m.name.starts_with("parallelogram"); }

TEST(Mechanisms, KeepTheirEnergyAndAgree) {
  const auto models = all_models();
  EXPECT_GE(models.size(), 9u);
  for (const Named& m : models) {
    if (singular(m)) continue;
    SCOPED_TRACE(m.name);
    const auto natural = run(m.model, options("natural"));
    const auto independent = run(m.model, options("independent"));
    const auto step = run(m.model, options("natural", "step"));
    // Ten turns per second: the work of its drive, summed up in steps of the simulation, is 3e-6 off at 1 ms.
    const double drift = m.name == "slider_crank.yaml" ? 1e-5 : 1e-6;
    for (const auto* found : {&natural, &independent, &step}) {
      EXPECT_LT(found->summary.energy_drift, drift) << found->summary.formulation << " " << found->summary.method;
      EXPECT_LT(found->summary.constraint_max, 1e-10) << found->summary.formulation << " " << found->summary.method;
      ASSERT_EQ(found->trajectory.samples(), 1001);
      for (int s = 0; s < found->trajectory.series(); ++s) {
        ASSERT_TRUE(std::isfinite(found->trajectory.at(1000, s))) << found->trajectory.names()[s];
      }
    }
    EXPECT_LT(apart(m.model, natural.trajectory, independent.trajectory), 1e-7);
    EXPECT_LT(apart(m.model, natural.trajectory, step.trajectory), 1e-7);
  }
}

// Not sums of steps, whose rounding grows: a law that jumps at 1 s must jump there.
TEST(Mechanisms, TimesAreMultiplesOfTheStep) {
  for (const std::string method : {"smoother", "batch", "step"}) {
    const auto found = run(own_model("fourbar"), options("natural", method));
    for (int k = 0; k <= 1000; ++k) ASSERT_EQ(found.trajectory.times()[k], k * 1e-3) << method << " at sample " << k;
  }
}

TEST(Mechanisms, BatchIsTheSmoothersMotion) {
  for (const Named& m : all_models()) {
    SCOPED_TRACE(m.name);
    const auto window = task::simulate(m.model, options("natural"));
    const auto batch = task::simulate(m.model, options("natural", "batch"));
    EXPECT_TRUE(window) << window.failure().to_string();
    EXPECT_TRUE(batch) << batch.failure().to_string();
    if (!window || !batch) continue;
    EXPECT_LT(apart(m.model, window->trajectory, batch->trajectory), singular(m) ? 1e-7 : 1e-9);
  }
}

// Newton's law for the whole: the ground's forces and the weights move the centre of mass.
TEST(Reactions, OfTheGroundMoveTheCentreOfMass) {
  const Model model = own_model("fourbar");
  auto o = options("natural");
  o.reactions = true;
  const auto found = run(model, o);
  for (int k = 0; k < found.trajectory.samples(); k += 50) {
    const auto at = [&](const std::string& name) { return value(found.trajectory, k, name); };
    // Centres of the bars: ½ P1, ½ (P1 + P2), ½ (P2 + D).
    const double ax = 0.5 * (1 + 2) * at("P1.ax") + 0.5 * (2 + 4) * at("P2.ax");
    const double ay = 0.5 * (1 + 2) * at("P1.ay") + 0.5 * (2 + 4) * at("P2.ay");
    EXPECT_NEAR(at("A.fx") + at("D.fx"), ax, 1e-8) << k;
    EXPECT_NEAR(at("A.fy") + at("D.fy") - 7 * 9.81, ay, 1e-8) << k;
    // And of each bar: the crank between A and P1, the rocker between P2 and D.
    EXPECT_NEAR(at("A.fx") - at("P1.fx"), 0.5 * at("P1.ax"), 1e-8) << k;
    EXPECT_NEAR(at("P2.fy") + at("D.fy") - 4 * 9.81, 0.5 * 4 * at("P2.ay"), 1e-8) << k;
  }
}

// The closed form of a bar that swings:  N = m (g cos φ + ½ L φ̇²) along it at the pivot, ¼ m g sin φ across.
TEST(Reactions, OfAPendulum) {
  const Model model = own_model("pendulum");
  auto o = options("natural");
  o.reactions = true;
  const auto found = run(model, o);
  for (int k = 0; k < found.trajectory.samples(); k += 100) {
    const double x = value(found.trajectory, k, "tip.x"), y = value(found.trajectory, k, "tip.y");
    const double rate = value(found.trajectory, k, "theta.v");
    const double along = 9.81 * -y + 0.5 * rate * rate, across = 0.25 * 9.81 * x;
    // Along: from the tip to the pivot; across: square to the bar, and against the weight.
    EXPECT_NEAR(value(found.trajectory, k, "O.fx"), -along * x - across * y, 1e-8) << k;
    EXPECT_NEAR(value(found.trajectory, k, "O.fy"), -along * y + across * x, 1e-8) << k;
  }
}

TEST(Inputs, ARecordedTorqueActsAsTheSameLaw) {
  const auto law = own_model("fourbar").with({{"theta.torque", 15}});
  ASSERT_TRUE(law) << law.failure().to_string();
  Trajectory torque({"theta.tau"});
  for (int k = 0; k <= 10; ++k) *torque.append(0.1 * k) = 15;
  auto o = options("natural");
  const auto wanted = run(*law, o);
  o.input = torque;
  const auto found = run(own_model("fourbar"), o);
  EXPECT_LT(apart(own_model("fourbar"), wanted.trajectory, found.trajectory), 1e-13);
  EXPECT_EQ(value(found.trajectory, 500, "theta.tau"), 15);
}

// A straight line between samples: a ramp recorded at its ends is the ramp.
TEST(Inputs, RecordedForcesAreJoinedByLines) {
  const char* const loaded = R"(
points:
  - {name: O, x: 0, y: 0, fixed: true}
  - {name: tip, x: 0, y: -1}
planar_bodies:
  - {name: bar, points: [O, tip], mass: 1}
relative_coordinates:
  - {name: theta, type: absolute_angle, points: [O, tip]}
loads:
  - {name: push, point: tip, x: %x, y: %y}
torques:
  - {name: twist, body: bar, torque: %t}
)";
  const auto filled = [&](const std::string& x, const std::string& y, const std::string& t) {
    std::string text = loaded;
    for (const auto& [key, with] : {std::pair<std::string, std::string>{"%x", x}, {"%y", y}, {"%t", t}}) {
      text.replace(text.find(key), 2, with);
    }
    return model_of(text);
  };
  const Model law = filled("3*t", "1 - t", "0.5*t"), silent = filled("0", "0", "0");
  Trajectory input({"push.fx", "push.fy", "twist.tau"});
  for (double t : {0.0, 1.0}) {
    double* row = input.append(t);
    row[0] = 3 * t, row[1] = 1 - t, row[2] = 0.5 * t;
  }
  for (const std::string method : {"smoother", "step"}) {
    auto o = options("natural", method);
    const auto wanted = run(law, o);
    o.input = input;
    const auto found = run(silent, o);
    EXPECT_LT(apart(law, wanted.trajectory, found.trajectory), 1e-12) << method;
    EXPECT_GT(std::abs(value(found.trajectory, 1000, "tip.x")), 0.1) << method;
  }
}

}  // namespace
}  // namespace kinegraph::acceptance::mechanisms_test
