// From noisy sensors to motion: simulate, read the sensors, estimate, compare with the truth.
#include <cmath>
#include <numbers>

#include "kinegraph/io/sensors_file.hpp"
#include "kinegraph/task/estimate.hpp"
#include "kinegraph/task/sensed_simulation.hpp"
#include "test/acceptance/support.hpp"

namespace kinegraph::acceptance::estimation_test {
namespace {

constexpr double kDegree = std::numbers::pi / 180;

task::SensedResult sense(const Model& model, double time, unsigned long seed, bool disturbed = true) {
  task::SensedOptions options;
  options.motion.time = time;
  options.motion.step = 2e-3;
  options.disturbed = disturbed;
  options.seed = seed;
  auto result = task::simulate_sensed(model, options);
  EXPECT_TRUE(result) << result.failure().to_string();
  return result ? *std::move(result) : task::SensedResult{};
}

/// The readings of a table, of the sensors named (none: of all).
std::vector<task::LogReading> log_of(const Model& model, const Trajectory& table,
                                     const std::vector<std::string>& names = {}) {
  std::vector<task::LogReading> log;
  for (int k = 0; k < table.samples(); ++k) {
    for (std::size_t s = 0; s < model.sensors.size(); ++s) {
      const Sensor& sensor = model.sensors[s];
      if (!names.empty() && std::find(names.begin(), names.end(), sensor.name) == names.end()) continue;
      task::LogReading reading{table.times()[k], {table.times()[k] - sensor.delay, static_cast<int>(s), {}}};
      bool any = false;
      for (std::size_t c = 0; c < sensor.channels.size(); ++c) {
        reading.measurement.y[c] = table.at(k, table.find(sensor.channels[c].name));
        any = any || !std::isnan(reading.measurement.y[c]);
      }
      if (any) log.push_back(reading);
    }
  }
  return log;
}

task::EstimateResult find(const Model& model, const std::vector<task::LogReading>& log,
                          const task::EstimateOptions& options) {
  auto result = task::estimate(model, log, options);
  EXPECT_TRUE(result) << result.failure().to_string();
  return result ? *std::move(result) : task::EstimateResult{};
}

struct Errors {
  double square = 0;   // mean of (error / sd)²
  double largest = 0;  // of |error|
  double last = 0;
  int samples = 0;
};

/// Of a series against the truth, from a time on; the truth has a sample wherever the estimate has one.
Errors compare(const Trajectory& found, const Trajectory& truth, const std::string& name, double from) {
  Errors errors;
  const int s = found.find(name), sd = found.find(name + ".sd"), of = truth.find(name);
  EXPECT_GE(s, 0);
  EXPECT_GE(sd, 0);
  EXPECT_GE(of, 0);
  int j = 0;
  for (int k = 0; k < found.samples() && s >= 0 && of >= 0; ++k) {
    while (j + 1 < truth.samples() && truth.times()[j] < found.times()[k] - 1e-9) ++j;
    if (found.times()[k] < from || std::abs(truth.times()[j] - found.times()[k]) > 1e-9) continue;
    const double error = std::remainder(found.at(k, s) - truth.at(j, of), 2 * std::numbers::pi);
    errors.square += std::pow(error / found.at(k, sd), 2);
    errors.largest = std::max(errors.largest, std::abs(error));
    errors.last = std::abs(error);
    ++errors.samples;
  }
  errors.square /= std::max(errors.samples, 1);
  return errors;
}

class EveryFilter : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Filters, EveryFilter, testing::Values("smoother", "batch", "ekf", "ukf", "particle"));

TEST_P(EveryFilter, FindsTheMotionWithinItsOwnUncertainty) {
  const Model model = own_model("fourbar_gyro");
  const task::SensedResult truth = sense(model, 2, 7);
  task::EstimateOptions options;
  options.filter = GetParam();
  options.step = 0.01;
  options.start_sd = {{"theta.q", 5 * kDegree}, {"theta.v", 0.1}};
  const task::EstimateResult found = find(model, log_of(model, truth.readings), options);
  const Errors angle = compare(found.trajectory, truth.motion.trajectory, "theta.q", 0.1);
  EXPECT_GT(angle.samples, 150);
  EXPECT_LT(angle.square, 3) << "in standard deviations, mean of squares";
  EXPECT_GT(angle.square, 0.2);
  EXPECT_LT(angle.largest, 0.6 * kDegree);
  EXPECT_LT(compare(found.trajectory, truth.motion.trajectory, "P2.x", 0.1).square, 3);
  EXPECT_LT(compare(found.trajectory, truth.motion.trajectory, "theta.v", 0.1).square, 3);
  EXPECT_EQ(found.summary.start, "file");
  ASSERT_EQ(found.summary.sensors.size(), 2u);
  EXPECT_EQ(found.summary.sensors[0].readings, 401);
  EXPECT_GT(found.summary.nis_mean, 0.7);
  EXPECT_LT(found.summary.nis_mean, 1.4);
}

TEST_P(EveryFilter, FindsStartAndBranchWithAGyroscopeAlone) {
  const Model model = own_model("fourbar_gyro", {{"theta.q", 2.0}});
  const task::SensedResult truth = sense(model, 2, 3);
  task::EstimateOptions options;
  options.filter = GetParam();
  options.start = "unknown";
  options.seed = 5;
  const task::EstimateResult found = find(model, log_of(model, truth.readings, {"gyro"}), options);
  EXPECT_LT(compare(found.trajectory, truth.motion.trajectory, "theta.q", 1).largest, 3 * kDegree);
  ASSERT_EQ(found.summary.branches.size(), 2u);
  EXPECT_GT(found.summary.branches[0], 0.99);  // the file's own
  EXPECT_EQ(found.summary.branch, 0);
  EXPECT_GE(found.trajectory.find("branch.1"), 0);
  EXPECT_EQ(found.trajectory.find("branch.2"), -1);
}

TEST(Estimate, TellsWhatTheOtherBranchIs) {
  const Model model = own_model("fourbar_gyro");
  const task::SensedResult truth = sense(model, 1, 1);
  for (const char* filter : {"ekf", "smoother", "batch"}) {
    task::EstimateOptions options;
    options.filter = filter;
    options.branches = "all";
    const task::EstimateResult found = find(model, log_of(model, truth.readings), options);
    ASSERT_EQ(found.summary.branches.size(), 2u) << filter;
    EXPECT_GT(found.summary.branches[0], 0.99) << filter;
  }
}

TEST(Estimate, PredictsSensorsThatTheLogDoesNotHave) {
  const Model model = own_model("fourbar_gyro");
  const task::SensedResult truth = sense(model, 1, 2);
  task::EstimateOptions options;
  options.filter = "ekf";
  const task::EstimateResult found = find(model, log_of(model, truth.readings, {"theta"}), options);
  ASSERT_GE(found.trajectory.find("gyro.w"), 0);
  EXPECT_GE(found.trajectory.find("gyro.w.sd"), 0);
  EXPECT_EQ(found.summary.sensors.size(), 1u);
}

// A log whose readings come late and out of order says the same in the end.
TEST(Estimate, TakesLateReadingsInTheirPlace) {
  Model model = own_model("fourbar_gyro");
  model.sensors[0].delay = 0.02;
  const task::SensedResult truth = sense(model, 1, 4);
  EXPECT_DOUBLE_EQ(truth.readings.times().back(), 1.02);
  for (const char* filter : {"ekf", "smoother", "particle"}) {
    task::EstimateOptions options;
    options.filter = filter;
    options.step = 0.01;
    options.window = 20;
    const double afterwards = find(model, log_of(model, truth.readings), options).summary.final[0].value;
    options.lag = 0.05;
    const task::EstimateResult online = find(model, log_of(model, truth.readings), options);
    // The last row is at 1.02 s, when the last reading comes.
    EXPECT_NEAR(value(online.trajectory, 100, "theta.q"), afterwards, kDegree) << filter;
    EXPECT_EQ(online.summary.sensors[0].refused, 0) << filter;
    options.lag = 0.001;
    EXPECT_GT(find(model, log_of(model, truth.readings), options).summary.sensors[0].refused, 190) << filter;
  }
}

const char* const kBalanced = R"(
gravity: [0, 0]
points:
  - {name: A, x: 0, y: 0, fixed: true}
  - {name: P, x: 1, y: 0}
planar_bodies:
  - {name: crank, points: [A, P], length: 1, mass: 1, I0: 0.2, cog: [0, 0]}
relative_coordinates:
  - {name: theta, type: absolute_angle, points: [A, P]}
initial: {theta.v: 1}
sensors:
  - {name: gyro, type: gyroscope, body: crank, noise: 0.01}
)";

TEST(Estimate, SaysWhatTheLogCannotTell) {
  const Model model = model_of(kBalanced);
  const task::SensedResult truth = sense(model, 0.5, 1, false);
  const std::vector<task::LogReading> log = log_of(model, truth.readings);
  for (const char* filter : {"smoother", "batch", "ekf", "ukf", "particle"}) {
    task::EstimateOptions options;
    options.filter = filter;
    const auto result = task::estimate(model, log, options);
    ASSERT_FALSE(result);
    EXPECT_EQ(
        result.failure().to_string(),
        "error: the log cannot tell theta.q: no reading changes with it; an encoder on theta would tell it; or say "
        "what is known of it: --start-sd theta.q=…");
    EXPECT_EQ(result.failure().exit_status(), 1);
  }
  task::EstimateOptions options;
  options.start_sd = {{"theta.q", 0.01}};
  const task::EstimateResult found = find(model, log, options);
  EXPECT_TRUE(found.summary.assumed_density);
  options.start_sd = {{"thta.q", 0.01}};
  EXPECT_EQ(task::estimate(model, log, options).failure().to_string(),
            "error: start-sd: 'thta.q' is none of the numbers of the state: theta.q, theta.v; did you mean 'theta.q'?");
}

TEST(Estimate, NeedsNoiseToWeighReadings) {
  Model model = own_model("fourbar_gyro");
  const task::SensedResult truth = sense(model, 0.2, 1);
  model.sensors[0].channels[0].noise = 0;
  const auto result = task::estimate(model, log_of(model, truth.readings), {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.failure().exit_status(), 2);
  EXPECT_NE(result.failure().to_string().find("sensor 'gyro': noise: must be > 0"), std::string::npos);
}

const char* const kPushed = R"(
points:
  - {name: A, x: 0, y: 0, fixed: true}
  - {name: P, x: 1, y: 0}
planar_bodies:
  - {name: crank, points: [A, P], length: 1, mass: 1}
relative_coordinates:
  - {name: theta, type: absolute_angle, points: [A, P]}
motors:
  - {coordinate: theta, torque: 2}
initial: {theta.q: -90deg}
sensors:
  - {type: encoder, coordinate: theta, noise: 1e-3, rate: 200}
disturbances:
  - {coordinate: theta, density: 0.02}
)";

TEST_P(EveryFilter, FindsAnUnknownTorque) {
  const Model model = model_of(kPushed);
  const task::SensedResult truth = sense(model, 2, 9);
  Model without = model;
  without.motors.clear();
  task::EstimateOptions options;
  options.filter = GetParam();
  options.particles = 500;
  options.machine.unknown = {{"theta", 1}};
  options.start_sd = {{"theta.tau", 3}};
  const task::EstimateResult found = find(without, log_of(model, truth.readings), options);
  const int s = found.trajectory.find("theta.tau"), sd = found.trajectory.find("theta.tau.sd");
  ASSERT_GE(s, 0);
  const int last = found.trajectory.samples() - 1;
  // Particles are few for three numbers, one of which hardly moves: what they believe is coarse.
  const bool particles = std::string(GetParam()) == "particle";
  EXPECT_NEAR(found.trajectory.at(last, s), 2, particles ? 1 : 4 * found.trajectory.at(last, sd));
  EXPECT_LT(found.trajectory.at(last, sd), 0.5);
}

TEST(Estimate, FindsTheMotionOfARobot) {
  const auto read = read_model(source_file("models/double_pendulum.urdf"));
  ASSERT_TRUE(read) << read.failure().to_string();
  const auto set = read->with({{"shoulder.q", -0.5}, {"elbow.q", 1.0}});
  ASSERT_TRUE(set) << set.failure().to_string();
  const auto model = io::parse_sensors(R"(
sensors:
  - {name: shoulder_encoder, type: encoder, joint: shoulder, noise: 0.01, rate: 100}
  - {name: elbow_encoder, type: encoder, joint: elbow, noise: 0.01, rate: 50, outliers: 0.05, outlier_size: 1}
  - {name: hinge, type: torque, joint: elbow, noise: 0.1, rate: 100}
disturbances:
  - {joint: shoulder, density: 0.5}
  - {joint: elbow, density: 0.5}
)",
                                       "pendulum.sensors.yaml", *set);
  ASSERT_TRUE(model) << model.failure().to_string();
  const task::SensedResult truth = sense(*model, 2, 3);
  for (const char* filter : {"smoother", "batch"}) {
    task::EstimateOptions options;
    options.filter = filter;
    options.loss = "huber";
    const std::vector<task::LogReading> log = log_of(*model, truth.readings, {"shoulder_encoder", "elbow_encoder"});
    const task::EstimateResult found = find(*model, log, options);
    EXPECT_LT(compare(found.trajectory, truth.motion.trajectory, "shoulder.q", 0.2).square, 4) << filter;
    EXPECT_LT(compare(found.trajectory, truth.motion.trajectory, "elbow.q", 0.2).square, 6) << filter;
    EXPECT_GE(found.trajectory.find("hinge.tau"), 0);
  }
}

// ---- logs -------------------------------------------------------------------------------------------------------

TEST(Sensors, ReadTheSameWhateverOtherSensorsThereAre) {
  const Model both = own_model("fourbar_gyro");
  Model one = both;
  one.sensors.erase(one.sensors.begin());
  const task::SensedResult a = sense(both, 0.5, 11, false), b = sense(one, 0.5, 11, false);
  const int of_a = a.readings.find("theta.q"), of_b = b.readings.find("theta.q");
  ASSERT_GE(of_a, 0);
  ASSERT_EQ(b.readings.samples(), 51);
  int j = 0;
  for (int k = 0; k < a.readings.samples(); ++k) {
    if (std::isnan(a.readings.at(k, of_a))) continue;
    EXPECT_EQ(a.readings.at(k, of_a), b.readings.at(j++, of_b));
  }
  EXPECT_EQ(j, 51);
}

TEST(Sensors, ReadBetweenSteps) {
  Model model = own_model("fourbar_gyro");
  for (Sensor& sensor : model.sensors) sensor.channels[0].noise = 0;
  model.sensors[1].rate = 700;  // never on a step but at 0, 0.01 …
  for (const std::string& formulation : {"natural", "independent", "screw"}) {
    task::SensedOptions options;
    options.motion.time = 1;
    options.motion.step = 2e-3;
    options.motion.formulation = formulation;
    auto coarse = task::simulate_sensed(model, options);
    ASSERT_TRUE(coarse) << coarse.failure().to_string();
    options.motion.step = 1.0 / 1400;
    auto fine = task::simulate_sensed(model, options);
    ASSERT_TRUE(fine) << fine.failure().to_string();
    const int column = fine->readings.find("theta.q");
    ASSERT_EQ(coarse->readings.samples(), fine->readings.samples());
    for (int k = 0; k < fine->readings.samples(); ++k) {
      if (std::isnan(fine->readings.at(k, column))) continue;
      EXPECT_NEAR(coarse->readings.at(k, column), fine->readings.at(k, column), 1e-6) << formulation << " " << k;
    }
  }
}

TEST(Sensors, HaveTheFaultsOfTheModel) {
  Model model = own_model("fourbar_gyro");
  Sensor& encoder = model.sensors[1];
  encoder.rate = 1000;
  encoder.channels[0].noise = 0.01;
  encoder.channels[0].scale = -2;
  encoder.channels[0].bias = 0.5;
  encoder.dropout = 0.25;
  const task::SensedResult with = sense(model, 4, 2, false);
  encoder.channels[0].noise = encoder.channels[0].bias = 0;
  encoder.channels[0].scale = 1;
  const task::SensedResult exact = sense(model, 4, 2, false);  // the same are lost
  const int column = with.readings.find("theta.q");
  double sum = 0, squares = 0;
  int count = 0;
  for (int k = 0; k < with.readings.samples(); ++k) {
    const double e = with.readings.at(k, column) + 2 * exact.readings.at(k, column);
    if (std::isnan(e)) continue;
    sum += e;
    squares += (e - 0.5) * (e - 0.5);
    ++count;
  }
  EXPECT_NEAR(count, 3000, 150);
  EXPECT_EQ(with.lost + count, 4001);
  EXPECT_NEAR(sum / count, 0.5, 1e-3);
  EXPECT_NEAR(std::sqrt(squares / count), 0.01, 5e-4);
  encoder.channels[0].quantum = 0.1;
  const task::SensedResult rounded = sense(model, 0.5, 2, false);
  for (int k = 0; k < rounded.readings.samples(); ++k) {
    const double y = rounded.readings.at(k, column);
    if (!std::isnan(y)) EXPECT_NEAR(std::remainder(y, 0.1), 0, 1e-12);
  }
}

TEST(Sensors, AreNeeded) {
  const auto result = task::simulate_sensed(own_model("fourbar"), {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.failure().exit_status(), 2);
  EXPECT_NE(result.failure().to_string().find("sensors: the model has none"), std::string::npos);
}

}  // namespace
}  // namespace kinegraph::acceptance::estimation_test
