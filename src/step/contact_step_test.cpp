#include "kinegraph/step/contact_step.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "kinegraph/step/contact_step_test.hpp"

namespace kinegraph::step::contact_step_test {
namespace {

using Eigen::VectorXd;
using maximal::Grip;
using test::Simulation;
using test::World;

constexpr double kG = 9.81;

/// A block on a plane with μ = 0.5, gravity tilted by an angle in some direction.
Simulation block_on_slope(double degrees, double direction, double h, int directions = 4) {
  World world;
  world.plane(0.5);
  world.body(Shape::Type::box, {0.2, 0.3, 0.1}, 2);
  const double angle = degrees * M_PI / 180;
  world.robot.gravity =
      kG * Vector3d(std::sin(angle) * std::cos(direction), std::sin(angle) * std::sin(direction), -std::cos(angle));
  ContactOptions options;
  options.directions = directions;
  Simulation run(world.robot, h, options);
  run.position(0) = Vector3d{0, 0, 0.05};
  return run;
}

TEST(ContactStep, a_block_sticks_below_the_friction_angle) {
  for (const double degrees : {5.0, 20.0, 26.0, 26.5}) {  // atan 0.5 = 26.565°
    for (const double direction : {0.0, 0.9}) {
      Simulation run = block_on_slope(degrees, direction, 1e-3);
      ASSERT_TRUE(run.advance(1)) << degrees;
      EXPECT_LT(run.position(0).head<2>().norm(), 1e-6) << degrees;
      EXPECT_LT(run.velocity(0).norm(), 1e-7) << degrees;
    }
  }
}

TEST(ContactStep, a_block_slides_above_it_with_the_right_acceleration) {
  for (const double degrees : {26.7, 27.0, 30.0, 45.0}) {
    for (const int directions : {4, 8}) {
      Simulation run = block_on_slope(degrees, 0.9, 1e-3, directions);
      ASSERT_TRUE(run.advance(1)) << degrees;
      const double angle = degrees * M_PI / 180, expected = kG * (std::sin(angle) - 0.5 * std::cos(angle));
      EXPECT_NEAR(run.velocity(0).norm(), expected, 0.01 * expected) << degrees;
      EXPECT_NEAR(run.velocity(0).normalized().dot(Vector3d(std::cos(0.9), std::sin(0.9), 0)), 1, 1e-5);
      EXPECT_NEAR(run.position(0)[2], 0.05, 1e-7);
      EXPECT_GT(run.guessed, run.steps - 10);
    }
  }
}

TEST(ContactStep, a_sliding_block_comes_to_rest) {
  Simulation run = block_on_slope(0, 0, 1e-3);
  run.velocity(0) = Vector3d{1.2, 1.6, 0};  // 2 m/s: stops after v²/(2 μ g)
  ASSERT_TRUE(run.advance(1));
  EXPECT_LT(run.velocity(0).norm(), 1e-9);
  EXPECT_NEAR(run.position(0).head<2>().norm(), 4 / kG, 0.01 * 4 / kG);
}

TEST(ContactStep, the_plane_may_tilt_instead_of_gravity) {
  World world;
  const double angle = 0.6;
  world.plane(0.3, 0, {-std::sin(angle), 0, std::cos(angle)});
  world.body(Shape::Type::box, {0.2, 0.2, 0.1}, 1, 0.3);
  Simulation run(world.robot, 1e-3);
  run.turn(0, {0, -angle, 0});
  run.position(0) = 0.05 * Vector3d(-std::sin(angle), 0, std::cos(angle));
  ASSERT_TRUE(run.advance(0.5));
  const double expected = 0.5 * kG * (std::sin(angle) - 0.3 * std::cos(angle));
  EXPECT_NEAR(run.velocity(0).norm(), expected, 0.01 * expected);
}

TEST(ContactStep, a_ball_bounces_as_high_as_restitution_says_and_comes_to_rest) {
  World world;
  world.plane(0.5, 0.8);
  world.body(Shape::Type::sphere, {0.1, 0, 0}, 1, 0.5, 0.3);  // the larger one counts
  Simulation run(world.robot, 1e-3);
  run.position(0) = Vector3d{0, 0, 1.1};
  std::vector<double> apexes;
  double lowest = 1;
  for (int k = 0; k < 10000; ++k) {
    const double before = run.velocity(0)[2];
    ASSERT_TRUE(run.advance());
    if (before > 0 && run.velocity(0)[2] <= 0) apexes.push_back(run.position(0)[2] - 0.1);
    lowest = std::min(lowest, run.position(0)[2] - 0.1);
  }
  ASSERT_GT(apexes.size(), 5u);
  EXPECT_NEAR(apexes[0], 0.64, 0.01);
  EXPECT_NEAR(apexes[1], 0.64 * 0.64, 0.01);
  EXPECT_GT(lowest, -1e-6);
  EXPECT_NEAR(run.position(0)[2], 0.1, 1e-6);
  EXPECT_LT(run.velocity(0).norm(), 1e-9);
}

TEST(ContactStep, without_restitution_nothing_bounces) {
  World world;
  world.plane();
  world.body(Shape::Type::sphere, {0.1, 0, 0}, 1);
  world.body(Shape::Type::box, {0.2, 0.3, 0.1}, 1);
  Simulation run(world.robot, 1e-3);
  run.position(0) = Vector3d{0, 0, 1.1};
  run.position(1) = Vector3d{1, 0, 1.1};
  double highest = 0;
  for (int k = 0; k < 2000; ++k) {
    ASSERT_TRUE(run.advance());
    if (run.position(0)[2] < 0.11) highest = std::max(highest, run.velocity(0)[2]);
    if (run.position(1)[2] < 0.06) highest = std::max(highest, run.velocity(1)[2]);
  }
  EXPECT_LT(highest, 1e-4);
  EXPECT_NEAR(run.position(0)[2], 0.1, 1e-6);
  EXPECT_NEAR(run.position(1)[2], 0.05, 1e-6);
}

TEST(ContactStep, a_thrown_ball_rolls_at_the_end) {
  World world;
  world.plane();
  world.body(Shape::Type::sphere, {0.1, 0, 0}, 1);
  Simulation run(world.robot, 1e-3);
  run.position(0) = Vector3d{0, 0, 0.1};
  run.velocity(0) = Vector3d{1, 0, 0};
  ASSERT_TRUE(run.advance(1));
  EXPECT_NEAR(run.velocity(0)[0], 5.0 / 7, 1e-3);
  EXPECT_NEAR((SO3::load(run.q.data()) * Vector3d(run.spin(0)))[1], 50.0 / 7, 1e-2);
}

TEST(ContactStep, a_stack_of_three_boxes_stands_for_a_minute) {
  World world;
  world.plane();
  for (int i = 0; i < 3; ++i) world.body(Shape::Type::box, {0.2, 0.2, 0.1}, 1);
  Simulation run(world.robot, 0.01);
  for (int i = 0; i < 3; ++i) run.position(i) = Vector3d{0.01 * i, 0.005 * i, 0.05 + 0.101 * i};
  ASSERT_TRUE(run.advance(60));
  for (int i = 0; i < 3; ++i) {
    EXPECT_LT((run.position(i) - Vector3d(0.01 * i, 0.005 * i, 0.05 + 0.1 * i)).norm(), 1e-4) << i;
    EXPECT_LT(run.velocity(i).norm() + run.spin(i).norm(), 1e-8) << i;
  }
  EXPECT_GT(run.guessed, run.steps - 50);  // nearly all bases are known from the step before
  ASSERT_TRUE(run.step->complete(run.grips.data()));
  double weight = 0;
  for (int c = 0; c < static_cast<int>(run.step->contacts().size()); ++c) {
    if (run.step->contacts()[c].a() < 0) weight += run.step->impulse(c)[2] / 0.01;
  }
  EXPECT_NEAR(weight, 3 * kG, 1e-6);
}

TEST(ContactStep, boxes_stacked_crosswise_stand_on_their_edges) {
  World world;
  world.plane();
  for (int i = 0; i < 2; ++i) world.body(Shape::Type::box, {0.2, 0.2, 0.1}, 1);
  Simulation run(world.robot, 0.005);
  run.position(0) = Vector3d{0, 0, 0.05};
  run.position(1) = Vector3d{0, 0, 0.15};
  run.turn(1, {0, 0, M_PI / 4});
  ASSERT_TRUE(run.advance(2));
  EXPECT_NEAR(run.position(1)[2], 0.15, 1e-5);
  EXPECT_LT(run.velocity(1).norm() + run.spin(1).norm(), 1e-7);
}

TEST(ContactStep, every_shape_falls_rolls_and_rests_on_the_plane) {
  for (const double restitution : {0.0, 0.8}) {
    World world;
    world.plane(0.5, restitution);
    world.body(Shape::Type::box, {0.2, 0.3, 0.1}, 1);
    world.body(Shape::Type::capsule, {0.05, 0.2, 0}, 1);
    world.body(Shape::Type::cylinder, {0.1, 0.2, 0}, 1);
    world.body(Shape::Type::ellipsoid, {0.1, 0.15, 0.2}, 1);
    Simulation run(world.robot, 2e-3);
    for (int i = 0; i < run.bodies(); ++i) {
      run.position(i) = Vector3d{3.0 * i, 0, 0.5};
      run.turn(i, {0.4, 0.7, 0.2});
      run.spin(i) = Vector3d{1, 2, 3};
    }
    const double start = run.energy();
    double lowest = 1, highest = start;
    for (int k = 0; k < 5000; ++k) {
      ASSERT_TRUE(run.advance());
      for (const maximal::Contact& contact : run.step->contacts()) lowest = std::min(lowest, contact.touch.gap);
      highest = std::max(highest, run.energy());
    }
    EXPECT_GT(lowest, -1e-3);
    EXPECT_LT(highest, start * (1 + 1e-9));
    for (int i = 0; i < 3; ++i) EXPECT_LT(std::abs(run.velocity(i)[2]), 0.01) << i;
  }
}

// ---- energy without input

/// Mean energies of the first and the last tenth of a minute, and the range.
struct EnergyHistory {
  double first = 0, last = 0, scale = 0;
};

EnergyHistory energy_of_a_minute(Simulation& run) {
  EnergyHistory history;
  const int steps = static_cast<int>(std::lround(60 / run.input.h)), part = steps / 10;
  for (int k = 0; k < steps; ++k) {
    EXPECT_TRUE(run.advance());
    const maximal::Energy e = maximal::energy_of(*run.mechanism, run.mechanism->numbers(), run.q.data(), run.v.data());
    if (k < part) history.first += (e.kinetic + e.potential) / part;
    if (k >= steps - part) history.last += (e.kinetic + e.potential) / part;
    history.scale = std::max(history.scale, e.kinetic);
  }
  return history;
}

Joint& add_joint(Robot& robot, int parent, int child, const Vector3d& on_parent, const Vector3d& on_child,
                 JointType type = JointType::revolute) {
  Joint& joint = robot.joints.emplace_back();
  joint.name = "j" + std::to_string(robot.joints.size());
  joint.type = type;
  joint.axis = Vector3d::UnitY();
  if (parent >= 0) joint.parent = LinkIndex{parent};
  joint.child = LinkIndex{child};
  joint.X_PF = SE3(SO3(), on_parent);
  joint.X_CM = SE3(SO3(), on_child);
  return joint;
}

/// Rods of 0.5 m that hang from the ground, the first one turned up.
Robot chain(int rods, JointType type) {
  World world;
  int last = 0;
  for (int i = 0; i < rods; ++i) {
    const int next = world.body(Shape::Type::capsule, {0.02, 0.46, 0}, 1);
    add_joint(world.robot, last, next, i == 0 ? Vector3d(0, 0, 2) : Vector3d(0, 0, -0.25), {0, 0, 0.25}, type);
    if (i == 0 && type == JointType::revolute) world.robot.joints.back().initial_q = {2.0};
    if (i == 0 && type == JointType::ball) world.robot.joints.back().initial_q = {std::cos(1), std::sin(1), 0, 0};
    last = next;
  }
  return world.robot;
}

/// A parallelogram: two rods from the ground and a third between their ends.
Robot four_bar() {
  World world;
  const int left = world.body(Shape::Type::capsule, {0.02, 0.46, 0}, 1);
  const int right = world.body(Shape::Type::capsule, {0.02, 0.46, 0}, 1);
  const int top = world.body(Shape::Type::box, {1, 0.02, 0.02}, 1);
  add_joint(world.robot, 0, left, {0, 0, 0}, {0, 0, -0.25}).initial_q = {0.5};
  add_joint(world.robot, 0, right, {1, 0, 0}, {0, 0, -0.25}).initial_q = {0.5};
  add_joint(world.robot, left, top, {0, 0, 0.25}, {-0.5, 0, 0}).initial_q = {-0.5};
  add_joint(world.robot, right, top, {0, 0, 0.25}, {0.5, 0, 0}).closes_loop = true;
  return world.robot;
}

TEST(ContactStep, mean_energy_does_not_rise_in_a_minute) {
  const auto check = [](const char* name, Simulation run) {
    const EnergyHistory e = energy_of_a_minute(run);
    EXPECT_GT(e.scale, 0.1) << name;
    EXPECT_LT(e.last, e.first + 1e-3 * e.scale) << name;
  };
  check("pendulum", Simulation(chain(1, JointType::revolute), 0.005));
  check("ball pendulum", Simulation(chain(1, JointType::ball), 0.005));
  check("chain", Simulation(chain(4, JointType::revolute), 0.005));
  check("four-bar", Simulation(four_bar(), 0.005));
  for (const double restitution : {0.0, 1.0}) {
    World world;
    world.plane(0.5, restitution);
    world.body(Shape::Type::box, {0.2, 0.3, 0.1}, 1);
    Simulation run(world.robot, 0.005);
    run.position(0) = Vector3d{0, 0, 1};
    run.turn(0, {0.3, 0.5, 0.2});
    run.spin(0) = Vector3d{1, 2, 3};
    check("tumbling box", std::move(run));
  }
}

// ---- derivatives

/// Derivatives by q and v, and by numbers, against central differences.
void compare_derivatives(Simulation& run, const std::vector<int>& numbers = {}) {
  const int n = run.mechanism->tangent();
  Eigen::MatrixXd directions = Eigen::MatrixXd::Zero(run.mechanism->numbers().size(), numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) directions(numbers[i], i) = 1;
  run.step->set_directions(directions);
  run.input.reference = run.step->smooth().position();
  std::vector<Grip> grips = run.grips;
  VectorXd after(n);
  ASSERT_TRUE(run.step->advance(run.q.data(), run.v.data(), run.input, grips.data(), after.data()));
  ASSERT_FALSE(run.step->contacts().empty());
  ContactStep::Matrix derivative;
  ASSERT_TRUE(run.step->differentiate(derivative));
  ASSERT_EQ(derivative.cols(), 2 * n + static_cast<int>(numbers.size()));

  const auto at = [&](int column, double step) {
    VectorXd q = run.q, v = run.v, out(n), pi = run.mechanism->numbers(), delta = VectorXd::Zero(n);
    if (column < n) {
      delta[column] = step;
      maximal::retract(run.bodies(), run.q.data(), delta.data(), q.data());
    } else if (column < 2 * n) {
      v[column - n] += step;
    } else {
      pi[numbers[column - 2 * n]] += step;
    }
    run.step->set_numbers(pi);
    std::vector<Grip> guess = grips;
    EXPECT_TRUE(run.step->advance(q.data(), v.data(), run.input, guess.data(), out.data()));
    return out;
  };
  for (int c = 0; c < derivative.cols(); ++c) {
    const bool gravity = c >= 2 * n && numbers[c - 2 * n] < 3;
    const double step = gravity ? 1e-3 : 1e-7;  // what it changes must be more than the problem's tolerance
    const VectorXd difference = (at(c, step) - at(c, -step)) / (2 * step);
    const double scale = 1 + difference.lpNorm<Eigen::Infinity>();
    EXPECT_LT((derivative.col(c) - difference).lpNorm<Eigen::Infinity>(), 2e-5 * scale)
        << "column " << c << "\n"
        << derivative.col(c).transpose() << "\n"
        << difference.transpose();
  }
  run.step->set_numbers(run.mechanism->numbers());
}

/// Mass, centre of mass and inertia of a body, and gravity.
std::vector<int> all_numbers(const Simulation& run, int body) {
  std::vector<int> numbers(3 + maximal::BodyNumbers::count);
  std::iota(numbers.begin(), numbers.begin() + 3, 0);
  std::iota(numbers.begin() + 3, numbers.end(), run.mechanism->bodies()[body].numbers);
  return numbers;
}

TEST(ContactStepDerivatives, sliding_sticking_and_bouncing) {
  {
    SCOPED_TRACE("a block that slides and turns");
    Simulation run = block_on_slope(20, 0.4, 1e-3);
    run.velocity(0) = Vector3d{1, -0.7, 0};
    run.spin(0) = Vector3d{0, 0, 1.5};
    ASSERT_TRUE(run.advance(0.02));
    run.position(0)[2] -= 1e-5;  // away from a gap of zero
    compare_derivatives(run, all_numbers(run, 0));
  }
  {
    SCOPED_TRACE("a block that is held");
    Simulation run = block_on_slope(20, 0.4, 1e-3);
    ASSERT_TRUE(run.advance(0.02));
    run.position(0)[2] -= 1e-5;
    compare_derivatives(run, all_numbers(run, 0));
  }
  {
    SCOPED_TRACE("a ball in the moment of bouncing");
    World world;
    world.plane(0.2, 0.7);
    world.body(Shape::Type::sphere, {0.1, 0, 0}, 1);
    Simulation run(world.robot, 1e-3);
    run.position(0) = Vector3d{0, 0, 0.101};
    run.velocity(0) = Vector3d{1, 0.5, -3};
    run.spin(0) = Vector3d{5, 2, 1};
    compare_derivatives(run, all_numbers(run, 0));
  }
  {
    SCOPED_TRACE("rolling and sliding things");
    World world;
    world.plane();
    world.body(Shape::Type::cylinder, {0.1, 0.2, 0}, 1);
    world.body(Shape::Type::ellipsoid, {0.1, 0.15, 0.2}, 1);
    Simulation run(world.robot, 1e-3);
    for (int i = 0; i < 2; ++i) run.position(i) = Vector3d{3.0 * i, 0, 0.5}, run.turn(i, {0.4, 0.7, 0.2});
    for (int i = 0; i < 2; ++i) run.velocity(i) = Vector3d{1, 2, 0}, run.spin(i) = Vector3d{1, -2, 3};
    while (run.position(1)[2] > 0.1 && run.steps < 400) {
      ASSERT_TRUE(run.advance());
      if (run.step->contacts().size() >= 2 && run.step->impulse(0)[2] > 0 && run.step->impulse(1)[2] > 0) break;
    }
    compare_derivatives(run, all_numbers(run, 1));
  }
}

TEST(ContactStepDerivatives, an_arm_with_dry_joints_on_the_floor) {
  for (const double friction : {0.05, 5.0}) {  // joints that move, joints that are held
    World world;
    world.plane(0.3);
    const int upper = world.body(Shape::Type::capsule, {0.02, 0.46, 0}, 1, 0.3);
    const int lower = world.body(Shape::Type::capsule, {0.02, 0.46, 0}, 1, 0.3);
    add_joint(world.robot, 0, upper, {0, 0, 0.7}, {0, 0, 0.25}).initial_q = {0.7};
    add_joint(world.robot, upper, lower, {0, 0, -0.25}, {0, 0, 0.25}).initial_q = {-0.3};
    for (Joint& joint : world.robot.joints) {
      if (joint.type == JointType::revolute) joint.dynamics = {JointDynamics{.damping = 0.1, .friction = 0.05}};
    }
    world.robot.joints.back().dynamics[0].friction = friction;
    Simulation run(world.robot, 1e-3);
    for (int k = 0; k < 1000; ++k) {
      ASSERT_TRUE(run.advance());
      if (!run.step->contacts().empty() && run.step->impulse(0)[2] > 0 && k > 20) break;
    }
    ASSERT_TRUE(run.advance(0.01));
    ASSERT_FALSE(run.step->contacts().empty());
    EXPECT_GT(run.step->impulse(0)[2], 0);
    EXPECT_EQ(run.grips[1] == Grip::held, friction > 1);
    compare_derivatives(run, all_numbers(run, 1));
  }
}

TEST(ContactStep, the_same_run_gives_the_same_bits) {
  const auto end = [] {
    World world;
    world.plane(0.5, 0.5);
    for (int i = 0; i < 2; ++i) world.body(Shape::Type::box, {0.2, 0.2, 0.1}, 1);
    Simulation run(world.robot, 2e-3);
    for (int i = 0; i < 2; ++i)
      run.position(i) = Vector3d{0.05 * i, 0, 0.2 + 0.3 * i}, run.turn(i, {0.3 * i, 0.2, 0.1});
    EXPECT_TRUE(run.advance(1));
    return run.q;
  };
  EXPECT_EQ(end(), end());
}

}  // namespace
}  // namespace kinegraph::step::contact_step_test
