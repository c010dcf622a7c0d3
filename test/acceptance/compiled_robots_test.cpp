// simulate and inverse by generated code: the same as by numeric elimination, and a note where there is no compiler.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "kinegraph/io/model_file.hpp"
#include "kinegraph/task/compiled_dynamics.hpp"
#include "kinegraph/task/spatial_inverse.hpp"
#include "kinegraph/task/spatial_simulate.hpp"
#include "test/shared.hpp"

namespace kinegraph::task::compiled_robots_test {
namespace {

constexpr double kStep = 1e-3;  // s

struct File {
  const char* name;
  bool floating, smooth;  // smooth: without the dry friction of its joints
};

class RobotByCode : public testing::TestWithParam<File> {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("kinegraph_dynamics_test_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
    ReadOptions options;
    if (GetParam().floating) options.base = Robot::Base::floating;
    const auto model = read_model(source_file(GetParam().name), options);
    ASSERT_TRUE(model) << model.failure().to_string();
    model_ = *model;
    for (Joint& joint : model_.robot.joints) {
      for (JointDynamics& dynamics : joint.dynamics) {
        if (GetParam().smooth) dynamics.friction = 0;
        rough_ = rough_ || !dynamics.smooth();
      }
    }
    simulation_.time = 0.1;
    simulation_.step = kStep;
  }
  void TearDown() override {
    unsetenv("XDG_CACHE_HOME");
    unsetenv("KINEGRAPH_CXX");
    std::filesystem::remove_all(folder_);
  }
  void expect_same(const Trajectory& a, const Trajectory& b, double tolerance) const {
    ASSERT_EQ(a.samples(), b.samples());
    ASSERT_EQ(a.names(), b.names());
    for (int s = 0; s < a.series(); ++s) {
      double largest = 1, worst = 0;
      for (int k = 0; k < a.samples(); ++k) {
        largest = std::max(largest, std::abs(b.at(k, s)));
        worst = std::max(worst, std::abs(a.at(k, s) - b.at(k, s)));
      }
      // Dry friction at standstill turns rounding of a velocity into accelerations: within a step, no further.
      const double longest = rough_ && a.names()[s].ends_with(".a") ? 1 / kStep : 1;
      EXPECT_LT(worst, tolerance * largest * longest) << a.names()[s];
    }
  }
  Model model_;
  bool rough_ = false;
  SimulateOptions simulation_;
  std::filesystem::path folder_;
};

TEST_P(RobotByCode, MovesAndIsDrivenTheSame) {
  const auto numeric = simulate_spatial(model_, simulation_);
  ASSERT_TRUE(numeric) << numeric.failure().to_string();
  EXPECT_EQ(numeric->summary.code, "");
  simulation_.compiled = true;
  const auto by_code = simulate_spatial(model_, simulation_);
  ASSERT_TRUE(by_code) << by_code.failure().to_string();
  if (by_code->summary.code.find("no C++ compiler") != std::string::npos) GTEST_SKIP();
  EXPECT_EQ(by_code->summary.code.find("generated code of "), 0U) << by_code->summary.code;
  expect_same(by_code->trajectory, numeric->trajectory, 1e-9);
  EXPECT_NEAR(by_code->summary.energy_drift, numeric->summary.energy_drift, 1e-9);
  EXPECT_NEAR(by_code->summary.momentum_error, numeric->summary.momentum_error, 1e-9);

  SpatialInverseOptions options;
  const auto torques = spatial_inverse(model_, numeric->trajectory, options);
  ASSERT_TRUE(torques) << torques.failure().to_string();
  options.compiled = true;
  const auto compiled = spatial_inverse(model_, numeric->trajectory, options);
  ASSERT_TRUE(compiled) << compiled.failure().to_string();
  EXPECT_EQ(compiled->summary.code.find("generated code of "), 0U) << compiled->summary.code;
  expect_same(compiled->trajectory, torques->trajectory, 1e-9);
  EXPECT_NEAR(compiled->summary.power_error, torques->summary.power_error, 1e-6 * torques->summary.power_max);
}

TEST_P(RobotByCode, WithoutACompilerNumericEliminationGoesOn) {
  const auto numeric = simulate_spatial(model_, simulation_);
  ASSERT_TRUE(numeric);
  setenv("KINEGRAPH_CXX", "no-such-compiler", 1);
  simulation_.compiled = true;
  const auto result = simulate_spatial(model_, simulation_);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->summary.code.find("numeric elimination (no C++ compiler was found"), 0U) << result->summary.code;
  expect_same(result->trajectory, numeric->trajectory, 1e-300);
}

INSTANTIATE_TEST_SUITE_P(Models, RobotByCode,
                         testing::Values(File{"models/three_r.urdf", false, true},
                                         File{"models/quadruped.urdf", true, true},
                                         File{"models/quadruped.urdf", true, false}));

}  // namespace
}  // namespace kinegraph::task::compiled_robots_test
