#include "kinegraph/task/live_estimator.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kinegraph/io/model_file.hpp"
#include "kinegraph/task/sensed_simulation.hpp"

namespace kinegraph::task::live_estimator_test {
namespace {

class LiveEstimators : public testing::TestWithParam<const char*> {
 protected:
  Model model_ = *read_model(std::string(KINEGRAPH_SOURCE_DIR) + "/models/fourbar_gyro.yaml");
};

/// Readings pushed one by one, and a move on to every step, as `estimate` does with a log: the same bits.
TEST_P(LiveEstimators, EndWhereTheLogDoes) {
  SensedOptions sensed;
  sensed.motion.time = 0.2;
  sensed.seed = 4;
  const auto run = simulate_sensed(model_, sensed);
  ASSERT_TRUE(run) << run.failure().to_string();
  const Trajectory& log = run->readings;
  std::vector<LogReading> readings;
  for (int i = 0; i < log.samples(); ++i) {
    for (std::size_t s = 0; s < model_.sensors.size(); ++s) {
      const double y = log.at(i, log.find(model_.sensors[s].channels[0].name));
      if (std::isnan(y)) continue;
      LogReading reading{log.times()[i], {log.times()[i], static_cast<int>(s), {}}};
      reading.measurement.y.fill(std::nan(""));
      reading.measurement.y[0] = y;
      readings.push_back(reading);
    }
  }
  EstimateOptions options;
  options.filter = GetParam();
  options.step = 0.005;
  options.start_sd = {{"theta.q", 0.05}};
  const auto whole = estimate(model_, readings, options);
  ASSERT_TRUE(whole) << whole.failure().to_string();
  const Trajectory& found = whole->trajectory;

  auto live = LiveEstimator::make(model_, found.times().front(), options);
  ASSERT_TRUE(live) << live.failure().to_string();
  ASSERT_EQ((*live)->names(), found.names());
  std::size_t next = 0;
  for (int k = 0; k < found.samples(); ++k) {
    constexpr double kTogether = 1e-9;
    const double t = found.times()[k];
    for (; next < readings.size() && readings[next].arrival <= t + kTogether; ++next) {
      const filter::Measurement& m = readings[next].measurement;
      ASSERT_TRUE((*live)->push(model_.sensors[m.sensor].name, m.t, {m.y[0]}));
    }
    ASSERT_TRUE((*live)->advance(t));
    const auto row = (*live)->row();
    ASSERT_TRUE(row);
    for (int i = 0; i < found.series(); ++i) EXPECT_EQ((*row)[i], found.at(k, i)) << found.names()[i] << " at " << t;
  }
  EXPECT_EQ(next, readings.size());
}

INSTANTIATE_TEST_SUITE_P(Filters, LiveEstimators, testing::Values("smoother", "ekf", "ukf", "particle"));

TEST_F(LiveEstimators, RefuseWhatTheyCannotUse) {
  EstimateOptions options;
  options.filter = "ekf";
  auto live = LiveEstimator::make(model_, 0, options);
  ASSERT_TRUE(live);
  EXPECT_EQ((*live)->push("gyr", 0, {1}).failure().to_string(), "error: unknown sensor 'gyr'; did you mean 'gyro'?");
  EXPECT_EQ((*live)->push("gyro", 0, {1, 2}).failure().to_string(),
            "error: sensor 'gyro': expected 1 numbers, found 2");
  EXPECT_FALSE((*live)->push("gyro", 0, {INFINITY}));
  EXPECT_FALSE((*live)->push("gyro", std::nan(""), {1}));
  options.filter = "batch";
  EXPECT_FALSE(LiveEstimator::make(model_, 0, options));
}

}  // namespace
}  // namespace kinegraph::task::live_estimator_test
