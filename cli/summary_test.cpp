#include "summary.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace kinegraph::cli::summary_test {
namespace {

TEST(Summary, TellsPeopleAlignedTextWithUnits) {
  Summary summary("simulate", "crank.yaml");
  summary.add("steps", 5000L, "steps")
      .add("step_us", 3.25, "per step", "µs")
      .add("actuators", std::vector<std::string>{"a", "b"}, "actuators")
      .add("redundant", std::vector<std::string>{}, "redundant")
      .add("assembled", true, "assembled")
      .add("hidden", 1, "")
      .add_text("\nmore\n");
  EXPECT_EQ(summary.text(),
            "  steps      5000\n"
            "  per step   3.25 µs\n"
            "  actuators  a, b\n"
            "  redundant  none\n"
            "  assembled  yes\n"
            "\nmore\n");
}

TEST(Summary, TellsMachinesEveryDigitAndNeverNan) {
  Summary summary("simulate", "crank.yaml");
  summary.add("drift", 1.0 / 3, "drift")
      .add("bad", std::nan(""), "bad")
      .add("list", std::vector<double>{1.5, INFINITY}, "list");
  const auto json = nlohmann::json::parse(summary.json());
  EXPECT_EQ(json["verb"], "simulate");
  EXPECT_EQ(json["model"], "crank.yaml");
  EXPECT_EQ(json["drift"].get<double>(), 1.0 / 3);
  EXPECT_TRUE(json["bad"].is_null());
  EXPECT_EQ(json["list"][0], 1.5);
  EXPECT_TRUE(json["list"][1].is_null());
  EXPECT_NE(summary.text().find("bad    undefined"), std::string::npos) << summary.text();
}

TEST(Summary, PositionsStandSideBySide) {
  Trajectory poses({"P1.x", "P1.vx", "theta.q"});
  for (int i = 0; i < 2; ++i) {
    double* row = poses.append(i);
    row[0] = 1.5 - 2 * i;
    row[1] = 9;
    row[2] = i == 0 ? 0.25 : -1e-9;
  }
  EXPECT_EQ(position_table(poses, "branch"),
            "               branch 0      branch 1\n"
            "  P1.x         1.500000     -0.500000 m\n"
            "  theta.q      0.250000      0.000000\n");
}

}  // namespace
}  // namespace kinegraph::cli::summary_test
