// Arms with encoders, some of whose readings are wrong: a robust batch smoother hardly minds, a plain one does.
#include <gtest/gtest.h>

#include <algorithm>

#include "experiments/swinging_arm.hpp"
#include "test/shared.hpp"

namespace kinegraph::experiments::estimation_arm_test {
namespace {

constexpr double kTime = 0.4, kShare = 0.05;

void expect_robust(const std::filesystem::path& model) {
  const SwingingArm arm(model, kTime, testing::TempDir());
  const SwingingArm::Verdict clean = arm.judge(0, "none");
  for (const std::string& warning : clean.warnings) EXPECT_EQ(warning.find("converge"), std::string::npos) << warning;
  EXPECT_LE(clean.iterations, 15);
  EXPECT_LT(clean.rmse, 0.5e-3);  // half an encoder's noise
  EXPECT_GE(arm.judge(kShare, "none").rmse, 3 * clean.rmse);
  for (const char* loss : {"huber", "cauchy", "geman-mcclure"}) {
    EXPECT_LE(arm.judge(kShare, loss).rmse, 1.2 * clean.rmse) << loss;
  }
}

TEST(EstimationOfAnArm, OutliersDoNoHarmInSpiteOfDryFriction) { expect_robust(source_file("models/arm7.urdf")); }

TEST(EstimationOfAnArm, OutliersDoNoHarmOnAnIiwa) {
  const auto model = shared("models/arms/iiwa14_primitive_collision.urdf");
  if (!model) GTEST_SKIP() << "no reference data beside the repository";
  expect_robust(*model);
}

TEST(EstimationOfAnArm, TheNumberOfThreadsChangesNothing) {
  const SwingingArm arm(source_file("models/arm7.urdf"), 0.25, testing::TempDir());
  EXPECT_EQ(arm.judge(kShare, "cauchy", 1).rmse, arm.judge(kShare, "cauchy", 2).rmse);
}

}  // namespace
}  // namespace kinegraph::experiments::estimation_arm_test
