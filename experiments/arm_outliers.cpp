// An arm with encoders, 5 % of whose readings are wrong, and an IMU on its tool: what the batch smoother makes of them,
// with and without a robust loss. The arm follows a smooth motion by recorded torques.
//
//     arm_outliers [MODEL.urdf]      default: models/arm7.urdf; sensors that an arm lacks are made up
#include <fmt/format.h>

#include "experiments/swinging_arm.hpp"
#include "experiments/table.hpp"

int main(int argc, char** argv) {
  using kinegraph::experiments::figure, kinegraph::experiments::SwingingArm;
  constexpr double kTime = 2;
  const SwingingArm arm(argc > 1 ? argv[1] : KINEGRAPH_SOURCE_DIR "/models/arm7.urdf", kTime, "out/experiments");
  fmt::print("{}: encoders and an IMU on the tool, {} s; 5 % of the encoder readings wrong by {} rad\n",
             arm.model().name, kTime, SwingingArm::kOutlier);
  struct Case {
    const char* name;
    double outliers;
    const char* loss;
  };
  kinegraph::experiments::Table table("arm_outliers",
                                      {"log", "loss", "RMSE in mrad", "ratio", "iterations", "time in s"});
  double clean = 0;
  for (const Case& c :
       {Case{"clean", 0, "none"}, Case{"5 % outliers", 0.05, "none"}, Case{"5 % outliers", 0.05, "huber"},
        Case{"5 % outliers", 0.05, "cauchy"}, Case{"5 % outliers", 0.05, "geman-mcclure"}}) {
    const SwingingArm::Verdict verdict = arm.judge(c.outliers, c.loss);
    for (const std::string& warning : verdict.warnings) fmt::print("  {}, {}: {}\n", c.name, c.loss, warning);
    if (clean == 0) clean = verdict.rmse;
    table.add({c.name, c.loss, figure(1e3 * verdict.rmse), figure(verdict.rmse / clean),
               std::to_string(verdict.iterations), figure(verdict.wall_s)});
  }
  table.show();
  fmt::print("  asked: robust ≤ 1.2 × the clean error, without a robust loss ≥ 3 × worse\n");
}
