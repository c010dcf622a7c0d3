// inverse and hybrid on robots from files, against reference numbers and against themselves.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "kinegraph/io/csv.hpp"
#include "kinegraph/io/model_file.hpp"
#include "kinegraph/task/hybrid.hpp"
#include "kinegraph/task/spatial_inverse.hpp"
#include "test/shared.hpp"

namespace kinegraph::acceptance::spatial_dynamics_test {
namespace {

using Json = nlohmann::json;
using Eigen::VectorXd;

Model read(const std::filesystem::path& path) {
  auto model = read_model(path);
  EXPECT_TRUE(model) << model.failure().to_string();
  return model ? *std::move(model) : Model{};
}

Json numbers(const std::filesystem::path& path) { return Json::parse(std::ifstream(path)); }

VectorXd vector_of(const Json& json) {
  const auto values = json.get<std::vector<double>>();
  return VectorXd::Map(values.data(), static_cast<Eigen::Index>(values.size()));
}

/// A row: for each joint the quantities that are given (`.q` → its numbers).
using Quantities = std::vector<std::pair<std::string, VectorXd>>;
Trajectory row_of(const std::vector<std::string>& joints, const Quantities& quantities) {
  std::vector<std::string> names;
  for (const auto& [quantity, values] : quantities) {
    for (const std::string& joint : joints) names.push_back(joint + quantity);
  }
  Trajectory table(names);
  double* row = table.append(0);
  for (const auto& [quantity, values] : quantities) row = std::copy(values.begin(), values.end(), row);
  return table;
}

VectorXd column(const Trajectory& table, const std::vector<std::string>& joints, const std::string& quantity,
                int sample = 0) {
  VectorXd values(static_cast<Eigen::Index>(joints.size()));
  for (std::size_t i = 0; i < joints.size(); ++i) values[i] = table.at(sample, table.find(joints[i] + quantity));
  return values;
}

std::vector<std::string> numbered(const std::string& stem, int count) {
  std::vector<std::string> names;
  for (int i = 1; i <= count; ++i) names.push_back(stem + std::to_string(i));
  return names;
}

task::SpatialDynamicsResult run_inverse(const Model& model, const Trajectory& motion,
                                        const task::SpatialInverseOptions& options = {}) {
  auto result = task::spatial_inverse(model, motion, options);
  EXPECT_TRUE(result) << result.failure().to_string();
  return result ? *std::move(result) : task::SpatialDynamicsResult{};
}

task::HybridResult run_hybrid(const Model& model, const Trajectory& known, const task::HybridOptions& options = {}) {
  auto result = task::hybrid(model, known, options);
  EXPECT_TRUE(result) << result.failure().to_string();
  return result ? *std::move(result) : task::HybridResult{};
}

double difference(const VectorXd& found, const VectorXd& expected) {
  return (found - expected).lpNorm<Eigen::Infinity>() / std::max(1e-3, expected.lpNorm<Eigen::Infinity>());
}

TEST(SpatialDynamics, PumaFollowsTheGoldenTorques) {
  const auto urdf = shared("models/synthetic/puma560_corke.urdf");
  const auto golden = shared("models/synthetic/golden_puma560.json");
  if (!urdf || !golden) GTEST_SKIP() << "no reference data beside the project";
  Model model = read(*urdf);
  const std::vector<std::string> joints = numbered("joint", 6);
  for (const Json& state : numbers(*golden)["corke"]) {
    model.robot.gravity = vector_of(state["gravity"]);
    const VectorXd q = vector_of(state["q"]), v = vector_of(state["qd"]), a = vector_of(state["qdd"]);
    const VectorXd tau = vector_of(state["tau"]);
    const auto there = run_inverse(model, row_of(joints, {{".q", q}, {".v", v}, {".a", a}}));
    EXPECT_LT(difference(column(there.trajectory, joints, ".tau"), tau), 1e-9);
    const auto back = run_hybrid(model, row_of(joints, {{".q", q}, {".v", v}, {".tau", tau}}));
    EXPECT_LT(difference(column(back.trajectory, joints, ".a"), a), 1e-9);
  }
}

TEST(SpatialDynamics, FiveBarFollowsTheGoldenNumbers) {
  const auto sdf = shared("models/synthetic/five_bar.sdf");
  const auto golden = shared("models/synthetic/golden_five_bar.json");
  if (!sdf || !golden) GTEST_SKIP() << "no reference data beside the project";
  Model model = read(*sdf);
  const std::vector<std::string> joints = numbered("j", 5);
  const Json all = numbers(*golden);
  const auto check_force = [](const Trajectory& found, const Json& state) {
    const VectorXd force = vector_of(state["loop_force_on_l4_tip"]);  // the reaction is that on the other side
    const VectorXd ours =
        -Eigen::Vector2d(found.at(0, found.find("j5.reaction.fx")), found.at(0, found.find("j5.reaction.fy")));
    EXPECT_LT(difference(ours, force), 1e-9);
  };
  for (const Json& state : all["id"]) {
    model.robot.gravity = vector_of(state["gravity"]);
    task::SpatialInverseOptions options;
    options.actuators = {"j1", "j5"};
    options.reactions = true;
    const auto found = run_inverse(
        model,
        row_of(joints,
               {{".q", vector_of(state["q"])}, {".v", vector_of(state["qd"])}, {".a", vector_of(state["qdd"])}}),
        options);
    const Eigen::Vector2d expected(state["tau1"].get<double>(), state["tau5"].get<double>());
    EXPECT_LT(difference(column(found.trajectory, {"j1", "j5"}, ".tau"), expected), 1e-9);
    check_force(found.trajectory, state);
  }
  for (const Json& state : all["fd"]) {
    model.robot.gravity = vector_of(state["gravity"]);
    VectorXd tau = VectorXd::Zero(5);
    tau[0] = state["tau1"], tau[4] = state["tau5"];
    task::HybridOptions options;
    options.reactions = true;
    const auto found = run_hybrid(
        model, row_of(joints, {{".q", vector_of(state["q"])}, {".v", vector_of(state["qd"])}, {".tau", tau}}), options);
    const VectorXd a = vector_of(state["qdd"]);
    EXPECT_LT(difference(column(found.trajectory, joints, ".a"), a), 1e-9);
    check_force(found.trajectory, state);

    // One acceleration, one torque: the other two follow.
    VectorXd part_a = VectorXd::Constant(5, std::nan("")), part_tau = tau;
    part_a[0] = a[0], part_tau[0] = std::nan("");
    const auto mixed = run_hybrid(
        model,
        row_of(joints,
               {{".q", vector_of(state["q"])}, {".v", vector_of(state["qd"])}, {".a", part_a}, {".tau", part_tau}}));
    EXPECT_LT(difference(column(mixed.trajectory, joints, ".a"), a), 1e-9);
    EXPECT_NEAR(mixed.trajectory.at(0, mixed.trajectory.find("j1.tau")), tau[0], 1e-8);
  }
}

TEST(SpatialDynamics, ForwardUndoesInverseOnAnArmOfSeven) {
  const Model model = read(source_file("models/arm7.urdf"));
  const std::vector<std::string> joints = numbered("joint", 7);
  std::mt19937 generator(1);
  std::uniform_real_distribution<double> number(-2, 2);
  for (int trial = 0; trial < 20; ++trial) {
    const auto random = [&] { return VectorXd(VectorXd::NullaryExpr(7, [&] { return number(generator); })); };
    const VectorXd q = random(), v = random(), a = 5 * random();
    const auto there = run_inverse(model, row_of(joints, {{".q", q}, {".v", v}, {".a", a}}));
    const VectorXd tau = column(there.trajectory, joints, ".tau");
    const auto back = run_hybrid(model, row_of(joints, {{".q", q}, {".v", v}, {".tau", tau}}));
    EXPECT_LT(difference(column(back.trajectory, joints, ".a"), a), 1e-10) << trial;
    EXPECT_LT(there.summary.power_error, 1e-6 * there.summary.power_max) << trial;
  }
}

const std::vector<std::string> kMotors{"left_motor", "right_motor"};

TEST(SpatialDynamics, AFiveBarsMotorsAreThoseWithAnEffort) {
  const Model model = read(source_file("models/five_bar.sdf"));
  const Eigen::Vector2d q(0.3, -0.2), v(1, 2), a(-3, 1);
  const Trajectory motion = row_of(kMotors, {{".q", q}, {".v", v}, {".a", a}});
  const auto there = run_inverse(model, motion);
  EXPECT_EQ(there.summary.actuators, kMotors);
  EXPECT_LT(there.summary.closure_max, 1e-10);
  EXPECT_LT(there.summary.power_error, 1e-6 * there.summary.power_max);
  for (const char* joint : {"left_elbow", "right_elbow", "tip"}) {
    EXPECT_EQ(there.trajectory.at(0, there.trajectory.find(std::string(joint) + ".tau")), 0);
  }
  const VectorXd tau = column(there.trajectory, kMotors, ".tau");
  const auto back = run_hybrid(model, row_of(kMotors, {{".q", q}, {".v", v}, {".tau", tau}}));
  EXPECT_LT(difference(column(back.trajectory, kMotors, ".a"), a), 1e-9);

  // A motor more shares the work: a shorter vector of torques that does the same.
  task::SpatialInverseOptions more;
  more.actuators = {"left_motor", "right_motor", "left_elbow"};
  const auto shared_work = run_inverse(model, motion, more);
  const VectorXd three = column(shared_work.trajectory, more.actuators, ".tau");
  EXPECT_LT(three.norm(), 0.999 * tau.norm());
  EXPECT_LT(difference(column(shared_work.trajectory, {"left_elbow", "tip"}, ".a"),
                       column(there.trajectory, {"left_elbow", "tip"}, ".a")),
            1e-9);
  EXPECT_LT(shared_work.summary.power_error, 1e-6 * shared_work.summary.power_max);
}

/// A table of inverse is one of hybrid, once it says what is asked for.
TEST(SpatialDynamics, TablesReadBack) {
  const Model model = read(source_file("models/three_r.urdf"));
  const std::string text =
      "t,joint1.q,joint1.v,joint1.a,joint1.tau,joint2.q,joint2.v,joint2.a,joint2.tau,joint3.q,joint3.v,joint3.a,"
      "joint3.tau\n"
      "0,0.1,1,2,,0.2,-1,,0.5,0.3,0.2,,-0.1\n"
      "0.5,0.1,1,,3,0.2,-1,1,,0.3,0.2,4,\n";
  CsvOptions options;
  options.may_be_empty = task::may_be_unknown;
  const auto table = parse_csv(text, "known.csv", options);
  ASSERT_TRUE(table) << table.failure().to_string();
  const auto result = run_hybrid(model, *table);
  EXPECT_EQ(result.masks, 2);
  const std::vector<std::string> joints = numbered("joint", 3);
  const auto again = run_inverse(model, result.trajectory);
  for (int k = 0; k < 2; ++k) {
    EXPECT_LT(difference(column(again.trajectory, joints, ".tau", k), column(result.trajectory, joints, ".tau", k)),
              1e-10);
  }
  EXPECT_NEAR(again.trajectory.at(0, again.trajectory.find("joint2.tau")), 0.5, 1e-10);
  EXPECT_NEAR(again.trajectory.at(1, again.trajectory.find("joint1.tau")), 3, 1e-10);
}

}  // namespace
}  // namespace kinegraph::acceptance::spatial_dynamics_test
