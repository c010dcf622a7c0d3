#include "kinegraph/task/identify_weights.hpp"

#include <gtest/gtest.h>

#include <map>

#include "kinegraph/task/identify_recording_test.hpp"

namespace kinegraph::task::identify_weights_test {
namespace {

/// Means and spreads of one number over several recordings.
struct Trials {
  double values = 0, squares = 0, told = 0;
  int count = 0;

  void add(const IdentifySummary::Quantity& q) {
    values += q.value, squares += q.value * q.value, told += q.sandwich, ++count;
  }
  double spread() const { return std::sqrt((squares - values * values / count) / (count - 1)); }
};

/// What is told of how far a number may be off is what recordings with other noise make of it; nothing is said of the
/// noise or of κ. For a machine that is pushed hard, and one that hardly moves. (What the step biases is no noise, but
/// counts in what is told: the step is a short one.)
TEST(IdentifyWeights, DeviationsAreThoseOfManyRecordings) {
  constexpr int kTrials = 20;
  for (const double share : {1.0, 0.1}) {
    const auto push = [&](double t) { return share * pushes(t); };
    std::map<std::string, Trials> found_in;
    for (unsigned seed = 1; seed <= kTrials; ++seed) {
      const Trajectory log = record(with({{"A.viscous", 0.01}, {"theta.q", -M_PI / 2}}), 4, 2e-3, push, seed);
      IdentifyOptions options = options_of({"A.viscous", "rod.I0"});
      options.step = 0.005;
      const Model guess = with({{"rod.I0", 0.03}, {"A.viscous", 0.002}, {"theta.q", -M_PI / 2}});
      const auto result = identify(guess, {log}, {}, options);
      ASSERT_TRUE(result) << result.failure().to_string();
      for (const IdentifySummary::Quantity& q : result->summary.quantities) found_in[q.name].add(q);
    }
    for (const auto& [name, trials] : found_in) {
      const double told = trials.told / kTrials;
      EXPECT_GT(told, 0.5 * trials.spread()) << name << ' ' << share;
      EXPECT_LT(told, 2 * trials.spread()) << name << ' ' << share;
    }
    EXPECT_NEAR(found_in["rod.I0"].values / kTrials, 0.025, 0.05 * 0.025) << share;
    EXPECT_NEAR(found_in["A.viscous"].values / kTrials, 0.01, 0.1 * 0.01) << share;
  }
}

/// A short recording tells little, and how little: its likelihood is flat, and neither κ nor the start may take the
/// place of readings.
TEST(IdentifyWeights, ShortRecordingsTellHowLittleTheyTell) {
  constexpr int kTrials = 20;
  const std::map<std::string, double> truths = {{"A.viscous", 0.01}, {"rod.I0", 0.025}};
  for (const double time : {0.3, 0.6}) {
    int within = 0, all = 0;
    for (unsigned seed = 1; seed <= kTrials; ++seed) {
      const Trajectory log = record(with({{"A.viscous", 0.01}}), time, 1e-3, nothing, seed);
      const Model guess = with({{"rod.I0", 0.03}, {"A.viscous", 0.005}});
      const auto result = identify(guess, {log}, {}, options_of({"A.viscous", "rod.I0"}));
      ASSERT_TRUE(result) << result.failure().to_string();
      EXPECT_LT(result->summary.kappa, 1e4) << seed;
      for (const IdentifySummary::Quantity& q : result->summary.quantities) {
        if (q.identifiable) ++all, within += std::abs(q.value - truths.at(q.name)) < 2 * q.sandwich;
      }
    }
    EXPECT_GE(all, 2 * kTrials);
    EXPECT_GE(within, 0.9 * all) << time;
  }
}

/// The noise of readings is found, whatever was assumed of it, and so is the answer.
TEST(IdentifyWeights, NoiseIsFound) {
  const Trajectory log = record(with({{"A.viscous", 0.01}}), 6, 3e-3, pushes);
  for (const double assumed : {3e-4, 3e-3, 3e-2}) {
    Model model = with({{"rod.I0", 0.03}, {"A.viscous", 0.002}});
    for (Sensor& sensor : model.sensors) sensor.channels[0].noise = assumed;
    const auto result = identify(model, {log}, {}, options_of({"A.viscous", "rod.I0"}));
    ASSERT_TRUE(result) << result.failure().to_string();
    EXPECT_NEAR(found(result->summary, "rod.I0").value, 0.025, 0.02 * 0.025) << assumed;
    EXPECT_NEAR(found(result->summary, "A.viscous").value, 0.01, 0.1 * 0.01) << assumed;
    EXPECT_NEAR(result->summary.channels[0].noise, 3e-3, 0.2 * 3e-3) << assumed;
  }
}

/// Readings that are far off, one in twenty, make no noise where a loss lets them be.
TEST(IdentifyWeights, OutliersAreNoNoiseWhereALossLetsThemBe) {
  Trajectory log = record(with({{"A.viscous", 0.01}}), 6, 1e-3, pushes);
  Random random(5);
  for (int i = 0; i < log.samples(); ++i) {
    if (random.uniform() < 0.05) log.at(i, 0) += 0.3 * random.normal();
  }
  for (const char* loss : {"huber", "cauchy", "tukey"}) {
    IdentifyOptions options = options_of({"A.viscous", "rod.I0"});
    options.loss = loss;
    const auto result = identify(with({{"rod.I0", 0.03}, {"A.viscous", 0.002}}), {log}, {}, options);
    ASSERT_TRUE(result) << result.failure().to_string();
    EXPECT_NEAR(result->summary.channels[0].noise, 1e-3, 0.3e-3) << loss;
    EXPECT_NEAR(found(result->summary, "rod.I0").value, 0.025, 0.01 * 0.025) << loss;
    EXPECT_LT(found(result->summary, "rod.I0").sandwich, 0.01 * 0.025) << loss;
    EXPECT_NEAR(found(result->summary, "A.viscous").value, 0.01, 0.1 * 0.01) << loss;
  }
}

}  // namespace
}  // namespace kinegraph::task::identify_weights_test
