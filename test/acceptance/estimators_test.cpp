// The claims of the experiments, on fewer seeds and shorter logs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "experiments/gyroscope_fourbar.hpp"
#include "experiments/known_start.hpp"
#include "experiments/table.hpp"

namespace kinegraph::experiments::estimators_test {
namespace {

// 100 seeds, as asked. At the last instant: errors at different times of one run are not independent.
TEST(Estimators, BelieveInTheirErrorsAsMuchAsTheyShould) {
  constexpr int kSteps = 120;
  const KnownStart logs(0.5, 100, kSteps);
  for (const KnownStart::Contestant& contestant : logs.contestants(100)) {
    if (contestant.name.starts_with("particles")) continue;  // they are in the experiment
    const KnownStart::Verdict verdict = logs.judge(contestant);
    EXPECT_GT(verdict.nees.back(), logs.band_low()) << contestant.name;
    EXPECT_LT(verdict.nees.back(), logs.band_high()) << contestant.name;
    EXPECT_NEAR(verdict.mean_nees, 1, 0.1) << contestant.name;
    EXPECT_GT(verdict.inside, 0.75) << contestant.name;
    EXPECT_NEAR(verdict.converged, 1, 1e-9) << contestant.name;
  }
}

TEST(Estimators, FindTheCrankAndTheAssemblyFromAGyroscope) {
  const Model model = fourbar();
  const Tracker tracker(model, {.compiled = false});
  ASSERT_EQ(tracker.branches(), 2);
  for (int branch = 0; branch < 2; ++branch) {
    const Truth truth = fall(model, branch, 0, 2.5);
    std::vector<double> times;
    for (const Score& s : scores(tracker, truth, branch, 12)) {
      EXPECT_TRUE(s.converged) << "branch " << branch;
      EXPECT_TRUE(s.right_branch) << "branch " << branch;
      EXPECT_LT(s.rmse, 0.2) << "branch " << branch;
      times.push_back(s.within_3);
    }
    EXPECT_LT(median(times), 0.2) << "branch " << branch;
  }
}

TEST(Estimators, TakeModelErrorsForProcessNoise) {
  const Model model = fourbar();
  const Truth truth = fall(model, 0, 0, 2.5);
  const auto wrong = model.with({{"crank_length", 0.125 * 1.03}, {"crank.mass", 0.039 * 1.03}});
  ASSERT_TRUE(wrong);
  const auto rmse = [&](const Model& assumed, double density) {
    TrackSettings settings{.compiled = false};
    settings.density = density;
    double mean = 0;
    for (const Score& s : scores(Tracker(assumed, settings), truth, 0, 6)) mean += s.rmse / 6;
    return mean;
  };
  const double densities[] = {0.1, 0.6, 3};
  double right[3], off[3];
  for (int i = 0; i < 3; ++i) right[i] = rmse(model, densities[i]), off[i] = rmse(*wrong, densities[i]);
  const auto best = [](const double* errors) { return std::min_element(errors, errors + 3) - errors; };
  EXPECT_LT(right[best(right)], 0.3);
  EXPECT_GT(off[0], 3 * right[0]) << "a wrong crank must show";
  EXPECT_GE(best(off), best(right)) << "a wrong crank asks for as much process noise or more";
}

// 50 particles that know nothing of the machine's friction, a reading every 6 ms.
TEST(Estimators, FindTheAssemblyInSpiteOfUnknownFriction) {
  constexpr int kSeeds = 10;
  const Model real = fourbar("coordinate_dampers:\n  - {coordinate: theta, damping: 1.5e-3}\n");
  TrackSettings settings{.compiled = false};
  settings.particles = 50;
  settings.period = 6e-3;
  settings.step = 3e-3;
  settings.assumed_noise = 1;
  settings.density = 4 / 0.125 * std::sqrt(settings.step);
  const Tracker tracker(fourbar(), settings);
  for (int branch = 0; branch < 2; ++branch) {
    for (const double angle : {60.0, 120.0}) {
      int right = 0;
      double rmse = 0;
      std::vector<double> times;
      for (const Score& s : scores(tracker, fall(real, branch, angle * M_PI / 180, 1.5), branch, kSeeds)) {
        right += s.right_branch;
        rmse += s.rmse / kSeeds;
        times.push_back(s.branch_time);
      }
      EXPECT_EQ(right, kSeeds) << "branch " << branch << ", " << angle << "°";
      EXPECT_LT(rmse, 1) << "branch " << branch << ", " << angle << "°";
      EXPECT_LT(median(times), 0.3) << "branch " << branch << ", " << angle << "°";
    }
  }
}

}  // namespace
}  // namespace kinegraph::experiments::estimators_test
