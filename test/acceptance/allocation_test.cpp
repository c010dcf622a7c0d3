// The step loop takes no memory once its first window stands.
#include <algorithm>

#include "kinegraph/linear/allocations_test.hpp"
#include "test/acceptance/support.hpp"

namespace kinegraph::acceptance::allocation_test {
namespace {

using linear::test::allocations;
using linear::test::allocations_are_counted;

constexpr int kWarm = 20;  // steps: more than any window here

struct Count {
  long samples = 0, first = 0, last = 0;
};

Count count(const Model& model, task::SimulateOptions o) {
  Count c;
  o.keep = false;
  o.sample = [&c](double, const double*) {
    if (c.samples == kWarm) c.first = allocations();
    c.last = allocations();
    ++c.samples;
  };
  const auto found = run(model, o);
  EXPECT_EQ(found.trajectory.samples(), 0);
  EXPECT_EQ(c.samples, found.summary.steps + 1);
  return c;
}

void expect_none(const Model& model, const std::string& what) {
  if (!allocations_are_counted()) GTEST_SKIP() << "the address sanitizer owns malloc";
  for (const std::string formulation : {"natural", "independent"}) {
    for (const std::string integrator : {"hermite-simpson", "trapezoidal"}) {
      for (int window : {2, 10}) {
        task::SimulateOptions o;
        o.time = 2;
        o.formulation = formulation;
        o.integrator = integrator;
        o.window = window;
        const Count c = count(model, o);
        EXPECT_EQ(c.last, c.first) << what << ", " << formulation << ", " << integrator << ", window " << window;
      }
    }
  }
}

TEST(StepLoop, AllocatesNothing) { expect_none(own_model("fourbar"), "four-bar with an angle"); }

TEST(StepLoop, AllocatesNothingWhereCoordinatesAreChosenAgain) {
  const Model fast = model_of(R"(
points:
  - {x: 0, y: 0, fixed: true}
  - {x: 1, y: 0}
  - {x: 1, y: 2}
  - {x: 4, y: 0, fixed: true}
planar_bodies:
  - {points: [0, 1], mass: 1}
  - {points: [1, 2], mass: 2}
  - {points: [2, 3], mass: 4}
initial: {1.vy: 12}
)");
  task::SimulateOptions o;
  o.time = 2;
  o.formulation = "independent";
  ASSERT_GE(run(fast, o).summary.coordinate_changes, 4);
  expect_none(fast, "four-bar without an angle");
}

TEST(StepLoop, AllocatesNothingOfSharedFourbars) {
  const auto plain = shared_model("fourbars1"), angle = shared_model("fourbars1-with-rel-angle");
  if (!plain || !angle) GTEST_SKIP() << "no reference data";
  expect_none(*plain, "fourbars1");
  expect_none(*angle, "fourbars1-with-rel-angle");
}

TEST(StepLoop, AllocatesNothingInSingularPositionsAndStepByStep) {
  if (!allocations_are_counted()) GTEST_SKIP() << "the address sanitizer owns malloc";
  for (const std::string formulation : {"natural", "independent"}) {
    task::SimulateOptions o;
    o.time = 2;
    o.formulation = formulation;
    const Count c = count(own_model("parallelogram"), o);
    EXPECT_EQ(c.last, c.first) << formulation;
  }
  task::SimulateOptions o;
  o.time = 2;
  o.method = "step";
  const Count c = count(own_model("fourbar"), o);
  EXPECT_EQ(c.last, c.first) << "step";
}

TEST(StepLoop, AllocatesNothingWithSoftWeightsReactionsAndRecordedTorques) {
  if (!allocations_are_counted()) GTEST_SKIP() << "the address sanitizer owns malloc";
  Trajectory torque({"theta.tau"});
  for (int k = 0; k <= 200; ++k) *torque.append(k * 0.01) = 5.0 * (k % 10);
  for (const std::string weights : {"hard", "soft"}) {
    task::SimulateOptions o;
    o.time = 2;
    o.weights = weights;
    o.integrator = "trapezoidal";
    o.reactions = true;
    o.input = torque;
    const Count c = count(own_model("fourbar"), o);
    EXPECT_EQ(c.last, c.first) << weights;
  }
}

}  // namespace
}  // namespace kinegraph::acceptance::allocation_test
