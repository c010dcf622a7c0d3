#include "kinegraph/task/open_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "kinegraph/graph/function_factor.hpp"
#include "kinegraph/io/model_file.hpp"
#include "kinegraph/solve/optimizer.hpp"

namespace kinegraph::task::open_graph_test {
namespace {

const std::string kModels = std::string(KINEGRAPH_SOURCE_DIR) + "/models/";

Key key_of(const build::OpenGraph& open, const std::string& name) {
  for (const auto& [variable, key] : open.variables) {
    if (variable == name) return key;
  }
  ADD_FAILURE() << "no variable " << name;
  return {};
}

int coordinate(const build::OpenGraph& open, const std::string& name) {
  const auto found = std::find(open.coordinates.begin(), open.coordinates.end(), name);
  return static_cast<int>(found - open.coordinates.begin());
}

/// e = q[index] − value
std::shared_ptr<Factor> at(int size, int index, double value) {
  return std::make_shared<FunctionFactor>("seen", 1, std::vector{size},
                                          [=](Slots x, double* residual, double* jacobian) {
                                            residual[0] = x[0][index] - value;
                                            if (!jacobian) return;
                                            std::fill_n(jacobian, size, 0.0);
                                            jacobian[index] = 1;
                                          });
}

TEST(OpenGraph, APoseTakesAFactorOfOnesOwn) {
  const auto model = read_model(kModels + "fourbar.yaml");
  ASSERT_TRUE(model);
  auto open = pose_graph(*model);
  ASSERT_TRUE(open) << open.failure().to_string();
  const int theta = coordinate(*open, "theta"), size = static_cast<int>(open->coordinates.size());
  ASSERT_LT(theta, size);
  open->graph.add(at(size, theta, 0.4), {key_of(*open, "q")});
  const auto report = optimize(open->graph, open->values);
  ASSERT_TRUE(report && report->converged());
  const auto q = open->values.vector(key_of(*open, "q"));
  EXPECT_NEAR(q[theta], 0.4, 1e-9);
  EXPECT_NEAR(q[coordinate(*open, "P1.y")], std::sin(0.4), 1e-9);  // the crank has length 1 about the origin
}

TEST(OpenGraph, AMotionWithAFreeStartFollowsWhatWasSeen) {
  const auto model = read_model(kModels + "fourbar.yaml");
  ASSERT_TRUE(model);
  const auto turned = model->with({{"theta.q", 0.1}, {"theta.v", 0.5}});
  ASSERT_TRUE(turned);
  const auto truth = motion_graph(*turned, 0.2, 0.01, false);
  auto open = motion_graph(*model, 0.2, 0.01, true);
  ASSERT_TRUE(truth && open);
  const int x = coordinate(*open, "P2.x"), size = static_cast<int>(open->coordinates.size());
  for (int k = 0; k <= 20; ++k) {
    const std::string name = "q[" + std::to_string(k) + "]";
    open->graph.add(at(size, x, truth->values.vector(key_of(*truth, name))[x]), {key_of(*open, name)});
  }
  const auto report = optimize(open->graph, open->values);
  ASSERT_TRUE(report) << report.failure().to_string();
  ASSERT_TRUE(report->converged()) << report->message;
  const int theta = coordinate(*open, "theta");
  EXPECT_NEAR(open->values.vector(key_of(*open, "q[0]"))[theta], 0.1, 1e-7);
  EXPECT_NEAR(open->values.vector(key_of(*open, "v[0]"))[theta], 0.5, 1e-7);
  EXPECT_LT(report->hard_after, 1e-9);
}

TEST(OpenGraph, RobotsHavePosesOfTheirLinks) {
  const auto model = read_model(kModels + "three_r.urdf");
  ASSERT_TRUE(model);
  const auto open = pose_graph(*model);
  ASSERT_TRUE(open);
  const auto poses = std::count_if(open->variables.begin(), open->variables.end(),
                                   [](const auto& v) { return v.first.ends_with(".pose"); });
  EXPECT_EQ(poses, 3);
  const auto motion = motion_graph(*model, 1, 0.1, false);
  ASSERT_FALSE(motion);
  EXPECT_EQ(motion.failure().kind, Failure::Kind::bad_input);
}

TEST(OpenGraph, TimesAndStepsAreChecked) {
  const auto model = read_model(kModels + "fourbar.yaml");
  ASSERT_TRUE(model);
  const auto wrong = motion_graph(*model, -1, 0, false);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.failure().to_string(), "error: step: must be > 0, is 0\nerror: time: must be > 0, is -1");
}

}  // namespace
}  // namespace kinegraph::task::open_graph_test
