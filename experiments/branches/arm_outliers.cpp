// An arm with encoders, 5 % of whose readings are wrong, and an IMU on its tool: what the batch smoother makes of them,
// with and without a robust loss. The arm follows a smooth motion by recorded torques.
//
//     arm_outliers [MODEL.urdf [SEEDS]]      default: models/arm7.urdf, one log; sensors that an arm lacks are made up
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "experiments/record.hpp"
#include "experiments/swinging_arm.hpp"

int main(int argc, char** argv) {
  using kinegraph::experiments::figure, kinegraph::experiments::SwingingArm;
  kinegraph::experiments::Record record("arm_outliers");
  constexpr double kTime = 2;
  const SwingingArm arm(argc > 1 ? argv[1] : KINEGRAPH_SOURCE_DIR "/models/arm7.urdf", kTime, "out/experiments");
  fmt::print("{}: encoders and an IMU on the tool, {} s; 5 % of the encoder readings wrong by {} rad\n",
             arm.model().name, kTime, SwingingArm::kOutlier);
  struct Case {
    const char* name;
    double outliers;
    const char* loss;
  };
  const Case cases[] = {{"clean", 0, "none"},
                        {"5 % outliers", 0.05, "none"},
                        {"5 % outliers", 0.05, "huber"},
                        {"5 % outliers", 0.05, "cauchy"},
                        {"5 % outliers", 0.05, "geman-mcclure"}};
  const int seeds = argc > 2 ? std::max(1, std::atoi(argv[2])) : 1;
  kinegraph::experiments::Table table(
      "arm_outliers", {"log", "loss", "RMSE in mrad", "ratio", "least", "largest", "iterations", "time in s"});
  std::vector<double> clean(seeds);
  for (const Case& c : cases) {
    double rmse = 0, ratio = 0, least = INFINITY, largest = 0, iterations = 0, wall = 0;
    for (int seed = 0; seed < seeds; ++seed) {
      const SwingingArm::Verdict verdict = arm.judge(c.outliers, c.loss, 2, seed);
      for (const std::string& warning : verdict.warnings) {
        fmt::print("  {}, {}, seed {}: {}\n", c.name, c.loss, seed, warning);
      }
      if (&c == cases) clean[seed] = verdict.rmse;
      const double here = verdict.rmse / clean[seed];
      rmse += verdict.rmse / seeds, ratio += here / seeds;
      least = std::min(least, here), largest = std::max(largest, here);
      iterations += static_cast<double>(verdict.iterations) / seeds, wall += verdict.wall_s / seeds;
    }
    table.add({c.name, c.loss, figure(1e3 * rmse), figure(ratio), figure(least), figure(largest), figure(iterations),
               figure(wall)});
  }
  record.show("Wrong readings of an arm: robust losses", table);
  fmt::print("  asked: robust ≤ 1.2 × the clean error, without a robust loss ≥ 3 × worse\n");
}
