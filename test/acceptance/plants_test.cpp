#include <gtest/gtest.h>

#include "kinegraph/filter/screw_check_test.hpp"
#include "kinegraph/io/model_file.hpp"
#include "kinegraph/linear/allocations_test.hpp"
#include "test/shared.hpp"

// Robots from files as systems to estimate: derivatives against differences, and no allocation once warm.

namespace kinegraph::filter::plants_test {
namespace {

struct File {
  const char* name;
  int freedoms;
  bool floating;
};

class Plants : public ::testing::TestWithParam<File> {
 protected:
  void SetUp() override {
    auto model = read_model(source_file(std::string("models/") + GetParam().name));
    ASSERT_TRUE(model) << model.failure().to_string();
    if (GetParam().floating) model->robot.base = Robot::Base::floating;
    tree = *screw::Tree::make(model->robot);
    options.integrator = *step::find_tableau("rk4");
    options.forces = {tree->tree_freedoms() - 1};
    options.noises = {{tree->tree_freedoms() - 1, Disturbance::Kind::acceleration}};
  }
  std::shared_ptr<const screw::Tree> tree;
  PlantOptions options;
};

TEST_P(Plants, AreDifferentiatedExactly) {
  for (const ChartKind kind : {ChartKind::independent, ChartKind::manifold}) {
    options.chart = kind;
    ScrewPlant plant(tree, GetParam().freedoms, {}, options);
    test::PlantCheck(plant, test::random_state(plant, tree->start_position(), 4)).all();
  }
}

TEST_P(Plants, AllocateNothingOnceWarm) {
  if (!linear::test::allocations_are_counted()) GTEST_SKIP() << "malloc belongs to the sanitizer";
  ScrewPlant plant(tree, GetParam().freedoms, {}, options);
  Eigen::VectorXd x = test::random_state(plant, tree->start_position(), 4), next(x);
  const double force = 0.1;
  Chart chart, next_chart;
  Eigen::MatrixXd F, B, noise;
  ASSERT_TRUE(plant.choose(0, x.data(), chart));
  const auto allocations = [](auto&& run) {
    EXPECT_TRUE(run() && run());
    const long before = linear::test::allocations();
    const bool good = run();
    const long after = linear::test::allocations();
    EXPECT_TRUE(good);
    return after - before;
  };
  EXPECT_EQ(allocations([&] { return plant.advance(0, 1e-3, x.data(), &force, next.data()); }), 0);
  EXPECT_EQ(allocations([&] { return plant.noise_directions(0, x.data(), noise); }), 0);
  EXPECT_EQ(allocations([&] { return plant.advance(0, 1e-3, x.data(), &force, chart, next.data(), next_chart, F, B); }),
            0);
}

INSTANTIATE_TEST_SUITE_P(Files, Plants,
                         ::testing::Values(File{"double_pendulum.urdf", 2, false}, File{"arm7.urdf", 7, false},
                                           File{"quadruped.urdf", 18, true}, File{"five_bar.sdf", 2, false},
                                           File{"bennett.sdf", 1, false}));

}  // namespace
}  // namespace kinegraph::filter::plants_test
