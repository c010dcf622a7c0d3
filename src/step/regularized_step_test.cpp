#include "kinegraph/step/regularized_step.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "kinegraph/mechanics/maximal/conversion.hpp"

namespace kinegraph::step::regularized_step_test {
namespace {

using maximal::Grip;
using maximal::Mechanism;

/// A machine with random numbers: bodies in a row, joints of all kinds, friction and motors in all of them.
struct RandomMachine {
  explicit RandomMachine(unsigned seed) : generator(seed) {}

  double number() { return std::uniform_real_distribution<double>(-1, 1)(generator); }
  Vector3d vector() { return Vector3d(number(), number(), number()); }

  void link() {
    Link link;
    link.name = "l" + std::to_string(robot.links.size());
    link.has_inertia = true;
    link.inertia.mass = 1.5 + number();
    link.inertia.com = 0.2 * vector();
    const Matrix3d a = Matrix3d::NullaryExpr([&] { return 0.2 * number(); });
    link.inertia.about_com = a * a.transpose() + 0.05 * Matrix3d::Identity();
    robot.links.push_back(link);
  }

  Joint& joint(JointType type, int parent, int child) {
    Joint joint;
    joint.name = "j" + std::to_string(robot.joints.size());
    joint.type = type;
    joint.parent = LinkIndex(parent);
    joint.child = LinkIndex(child);
    joint.X_PF = SE3(SO3::exp(vector()), 0.3 * vector());
    joint.X_CM = SE3(SO3::exp(vector()), 0.3 * vector());
    joint.axis = vector().normalized();
    joint.axis2 = joint.axis.cross(vector()).normalized();
    joint.pitch = 0.2;
    joint.dynamics.resize(freedoms(type));
    for (JointDynamics& d : joint.dynamics) {
      d = {0.3, dry, 0.5, 0.1, 0.02, 0.1, dry / 2, 1.5, load, 0.7};
    }
    robot.joints.push_back(joint);
    return robot.joints.back();
  }

  void chain(const std::vector<JointType>& types) {
    for (std::size_t i = 0; i < types.size(); ++i) {
      link();
      joint(types[i], static_cast<int>(i) - 1, static_cast<int>(i));
    }
  }

  std::mt19937 generator;
  Robot robot;
  double dry = 0, load = 0;
};

/// A step at a random state, which does not satisfy the constraints.
struct Trial {
  std::shared_ptr<const Mechanism> mechanism;
  RegularizedStep step;
  StepInput input;
  Eigen::VectorXd q, v;
  std::vector<Grip> grip;

  Trial(RandomMachine& random, double h, double speed, maximal::Hold hold = maximal::Hold::end)
      : mechanism(*Mechanism::make(random.robot)),
        step(mechanism, {.compliance = 1e-5, .angular_compliance = 2e-5, .relaxation = 0.02, .hold = hold}),
        input(*mechanism, h),
        q(mechanism->stored()),
        v(mechanism->tangent()),
        grip(mechanism->freedoms().size(), Grip::none) {
    const screw::Tree& tree = mechanism->tree();
    const Eigen::VectorXd turned = Eigen::VectorXd::NullaryExpr(tree.freedoms(), [&] { return random.number(); });
    const Eigen::VectorXd apart =
        Eigen::VectorXd::NullaryExpr(mechanism->tangent(), [&] { return 0.02 * random.number(); });
    Eigen::VectorXd q_tree = tree.start_position(), closed(mechanism->stored());
    tree.retract(q_tree.data(), turned.data(), q_tree.data());
    maximal::poses_of(*mechanism, mechanism->numbers(), q_tree.data(), closed.data());
    maximal::retract(static_cast<int>(mechanism->bodies().size()), closed.data(), apart.data(), q.data());
    for (double& x : v) x = speed * random.number();
    for (double& x : input.torque) x = random.number();
    for (double& x : input.control) x = random.number();
    for (double& x : input.target) x = random.number();
    for (auto& f : input.force) f = random.vector();
    for (auto& m : input.moment) m = random.vector();
  }

  Eigen::VectorXd after(const Eigen::VectorXd& numbers, const Eigen::VectorXd& dq, const Eigen::VectorXd& dv) {
    Eigen::VectorXd moved(q.size()), out(v.size());
    maximal::retract(static_cast<int>(mechanism->bodies().size()), q.data(), dq.data(), moved.data());
    const Eigen::VectorXd speed = v + dv;
    step.set_numbers(numbers);
    EXPECT_TRUE(step.advance(moved.data(), speed.data(), input, grip.data(), out.data()));
    return out;
  }

  /// Derivatives against differences, along random directions.
  void check(RandomMachine& random, double tolerance) {
    const Eigen::VectorXd numbers = mechanism->numbers();
    const int n = mechanism->tangent(), p = 5;
    Eigen::MatrixXd directions = Eigen::MatrixXd::NullaryExpr(numbers.size(), p, [&] { return 0.1 * random.number(); });
    for (const maximal::Freedom& f : mechanism->freedoms()) {  // friction that is not there stays away
      for (const int k : {maximal::FreedomNumbers::friction, maximal::FreedomNumbers::stribeck,
                          maximal::FreedomNumbers::load_friction}) {
        if (numbers[f.numbers + k] == 0) directions.row(f.numbers + k).setZero();
      }
    }
    for (const maximal::Joint& joint : mechanism->joints()) {  // frames turn, they do not shear
      for (const int frame : {maximal::JointNumbers::F, maximal::JointNumbers::M}) {
        const Eigen::Map<const Matrix3d> R(numbers.data() + joint.numbers + frame);
        for (int d = 0; d < p; ++d) {
          Eigen::Map<Matrix3d>(directions.col(d).data() + joint.numbers + frame) =
              R * skew<double>(Vector3d(0.1 * random.vector()));
        }
      }
    }
    directions.col(1).setZero();
    directions.col(1).tail(1).setOnes();
    const Eigen::VectorXd still = Eigen::VectorXd::Zero(n);
    const Eigen::VectorXd at = after(numbers, still, still);
    const std::vector<Grip> found = grip;
    RegularizedStep::Matrix derivative;
    step.set_directions(directions);
    step.differentiate(derivative);
    ASSERT_EQ(derivative.cols(), 2 * n + p);
    ASSERT_TRUE(derivative.allFinite());
    const double e = 1e-6, scale = 1 + derivative.cwiseAbs().maxCoeff();
    for (int c = 0; c < 2 * n + p; ++c) {
      const auto moved = [&](double by) {
        Eigen::VectorXd dq = still, dv = still, to = numbers;
        if (c < n) {
          dq[c] = by;
        } else if (c < 2 * n) {
          dv[c - n] = by;
        } else {
          to += by * directions.col(c - 2 * n);
        }
        return after(to, dq, dv);
      };
      const Eigen::VectorXd difference = (moved(e) - moved(-e)) / (2 * e);
      EXPECT_EQ(grip, found);
      EXPECT_LT((difference - derivative.col(c)).cwiseAbs().maxCoeff(), tolerance * scale) << "column " << c;
    }
    step.set_numbers(numbers);
  }
};

const std::vector<JointType> kAll = {JointType::revolute, JointType::prismatic,   JointType::universal,
                                     JointType::ball,     JointType::cylindrical, JointType::screw,
                                     JointType::planar,   JointType::continuous};

TEST(RegularizedStep, DerivativesMatchDifferences) {
  for (unsigned seed = 0; seed < 6; ++seed) {
    RandomMachine random(seed);
    random.chain(kAll);
    Trial trial(random, 0.01, 2, seed % 2 ? maximal::Hold::start : maximal::Hold::end);
    trial.check(random, 2e-6);
  }
}

TEST(RegularizedStep, DerivativesMatchDifferencesWithDryFriction) {
  int held = 0, slipping = 0;
  for (unsigned seed = 0; seed < 8; ++seed) {
    RandomMachine random(seed);
    random.dry = seed % 2 ? 1.0 : 4000.0;  // the second holds some even here, where constraints are open
    random.load = seed % 4 < 2 ? 0.0 : 0.02;
    random.chain({JointType::revolute, JointType::prismatic, JointType::revolute, JointType::cylindrical});
    Trial trial(random, 0.01, 1);
    trial.check(random, 5e-6);
    for (const Grip g : trial.grip) (g == Grip::held ? held : slipping) += 1;
  }
  EXPECT_GT(held, 3);
  EXPECT_GT(slipping, 3);
}

TEST(RegularizedStep, DerivativesMatchDifferencesWithSpringsLoadsAndDrives) {
  RandomMachine random(3);
  random.chain({JointType::revolute, JointType::revolute});
  random.robot.springs.push_back({"s", {LinkIndex(0), random.vector()}, {LinkIndex(1), random.vector()}, 3, 0.2, 0.4});
  random.robot.springs.push_back({"g", {LinkIndex(), random.vector()}, {LinkIndex(1), random.vector()}, 2, 0.1, 0.3});
  random.robot.loads.push_back({"f", {LinkIndex(1), random.vector()}, {}, {}});
  random.robot.drives.push_back({"d", JointIndex(0), Law(0.3)});
  for (const maximal::Hold hold : {maximal::Hold::end, maximal::Hold::start}) {
    Trial trial(random, 0.01, 1, hold);
    trial.check(random, 2e-6);
  }
}

/// A bar hinged about z, level at angle 0, with gravity along −y and friction at its pivot.
Robot pendulum(const JointDynamics& friction) {
  Robot robot;
  Link link;
  link.name = "bar";
  link.has_inertia = true;
  link.inertia = {1, Vector3d(0.5, 0, 0), Vector3d(0.01, 0.1, 0.1).asDiagonal()};
  robot.links = {link};
  Joint joint;
  joint.name = "hinge";
  joint.type = JointType::revolute;
  joint.child = LinkIndex(0);
  joint.axis = Vector3d::UnitZ();
  robot.gravity = Vector3d(0, -9.81, 0);
  joint.dynamics = {friction};
  robot.joints = {joint};
  return robot;
}
Robot pendulum(double dry) { return pendulum(JointDynamics{.friction = dry}); }

TEST(RegularizedStep, DryFrictionHoldsUpToItsLimitAndThenGives) {
  const double torque = 9.81 * 0.5;  // of the level bar
  for (const double dry : {0.0, 0.5, 0.99, 1.01, 3.0}) {
    const Result<std::shared_ptr<const Mechanism>> mechanism = Mechanism::make(pendulum(dry * torque));
    ASSERT_TRUE(mechanism.ok());
    RegularizedStep step(*mechanism, {.compliance = 1e-10, .angular_compliance = 1e-10});
    StepInput input(**mechanism, 1e-3);
    double q[7] = {1, 0, 0, 0, 0.5, 0, 0}, v[6] = {}, after[6];
    Grip grip = Grip::none;
    ASSERT_TRUE(step.advance(q, v, input, &grip, after));
    const double expected = std::max(0.0, torque * (1 - dry) / (0.1 + 0.25)) * 1e-3;
    EXPECT_NEAR(-after[2], expected, 2e-4 * torque * 1e-3) << dry;
    if (dry > 1) {
      EXPECT_EQ(grip, Grip::held);
      EXPECT_NEAR(step.friction()[0], torque * 1e-3, 1e-6);
    }
  }
}

TEST(RegularizedStep, LoadFrictionIsCountedByTheForceThroughTheJoint) {
  Robot robot = pendulum(0);
  robot.joints[0].dynamics[0].load_friction = 0.01;
  const auto mechanism = *Mechanism::make(robot);
  RegularizedStep step(mechanism, {.compliance = 1e-10, .angular_compliance = 1e-10});
  StepInput input(*mechanism, 1e-4);
  // hanging, turning at 2 rad/s: the force is m (g + ω² l)
  double q[7], v[6] = {}, after[6];
  SE3(SO3::exp(Vector3d(0, 0, -M_PI / 2)), Vector3d(0, -0.5, 0)).store(q);
  v[2] = 2, v[3] = 1;
  Grip grip = Grip::none;
  for (int k = 0; k < 60; ++k) {  // the constraint takes up the turning of its force over some steps
    ASSERT_TRUE(step.advance(q, v, input, &grip, after));
    std::copy_n(after, 6, v);
    const Eigen::VectorXd move = 1e-4 * Eigen::Map<const Eigen::VectorXd>(v, 6);
    maximal::retract(1, q, move.data(), q);
  }
  EXPECT_EQ(grip, Grip::forward);
  EXPECT_NEAR(step.friction()[0] / 1e-4, -0.01 * (9.81 + 4 * 0.5), 1e-3);
}

TEST(RegularizedStep, AFreeBodyKeepsItsEnergyAndMomentum) {
  Robot robot;
  Link link;
  link.name = "stone";
  link.has_inertia = true;
  link.inertia = {1, Vector3d::Zero(), Vector3d(0.02, 0.035, 0.05).asDiagonal()};
  robot.links = {link};
  robot.base = Robot::Base::floating;
  robot.gravity.setZero();
  const auto mechanism = *Mechanism::make(robot);
  RegularizedStep step(mechanism, {});
  const StepInput input(*mechanism, 0.01);
  Eigen::VectorXd q(7), v(6), after(6);
  SE3().store(q.data());
  v << 0.1, 6, 0.2, 1, 2, 3;  // about the middle axis: it tumbles
  const Eigen::Vector3d J(0.02, 0.035, 0.05);
  const auto energy = [&] { return 0.5 * v.head<3>().dot(J.cwiseProduct(v.head<3>())); };
  const double start = energy();
  const Eigen::Vector3d momentum = SO3::load(q.data()) * Eigen::Vector3d(J.cwiseProduct(v.head<3>()));
  double turned = 0;
  for (int k = 0; k < 6000; ++k) {
    ASSERT_TRUE(step.advance(q.data(), v.data(), input, nullptr, after.data()));
    v = after;
    const Eigen::VectorXd move = 0.01 * v;
    maximal::retract(1, q.data(), move.data(), q.data());
    turned = std::max(turned, std::abs(v[0]));
  }
  EXPECT_GT(turned, 1);  // it did tumble
  EXPECT_NEAR(energy(), start, 1e-9 * start);
  const Eigen::Vector3d end = SO3::load(q.data()) * Eigen::Vector3d(J.cwiseProduct(v.head<3>()));
  EXPECT_NEAR(end.norm(), momentum.norm(), 1e-9);
}

/// The bar let go level: its angle after 4 s, by θ̈ = −(m g l / J) cos θ in small steps.
double exact_angle(const JointDynamics& friction) {
  const auto faster = [&](double theta, double omega) {
    return -(9.81 * 0.5 * std::cos(theta) + (friction.damping + friction.quadratic * std::abs(omega)) * omega) / 0.35;
  };
  double theta = 0, omega = 0;
  const double h = 1e-4;
  for (int i = 0; i < 40000; ++i) {
    const double a1 = faster(theta, omega), w2 = omega + 0.5 * h * a1;
    const double a2 = faster(theta + 0.5 * h * omega, w2), w3 = omega + 0.5 * h * a2;
    const double a3 = faster(theta + 0.5 * h * w2, w3), w4 = omega + h * a3;
    const double a4 = faster(theta + h * w3, w4);
    theta += h / 6 * (omega + 2 * w2 + 2 * w3 + w4);
    omega += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
  }
  return theta;
}

/// The same by steps of h. Velocities are means over steps, so that the first push is half a step's.
double angle_by_steps(double h, maximal::Hold hold, const JointDynamics& friction) {
  const auto mechanism = *Mechanism::make(pendulum(friction));
  RegularizedStep step(mechanism, {.compliance = 1e-10, .angular_compliance = 1e-10, .relaxation = 0.02, .hold = hold});
  const StepInput input(*mechanism, h);
  double q[7] = {1, 0, 0, 0, 0.5, 0, 0}, v[6] = {}, after[6], turned = 0;
  Grip grip = Grip::none;
  for (int k = 0; k < std::lround(4 / h); ++k) {
    EXPECT_TRUE(step.advance(q, v, input, &grip, after));
    for (int i = 0; i < 6; ++i) v[i] = k == 0 ? 0.5 * (v[i] + after[i]) : after[i];
    const Eigen::VectorXd move = h * Eigen::Map<const Eigen::VectorXd>(v, 6);
    maximal::retract(1, q, move.data(), q);
    turned += move[2];
  }
  return turned;
}

TEST(RegularizedStep, IsOfSecondOrder) {
  using maximal::Hold;
  for (const JointDynamics& friction :
       {JointDynamics{}, JointDynamics{.damping = 0.2}, JointDynamics{.damping = 0.1, .quadratic = 0.2}}) {
    const double exact = exact_angle(friction);
    const auto error = [&](double h, Hold hold) { return std::abs(angle_by_steps(h, hold, friction) - exact); };
    for (const Hold hold : {Hold::end, Hold::start}) {
      SCOPED_TRACE(testing::Message() << friction.damping << ' ' << friction.quadratic << ' ' << int(hold));
      EXPECT_GT(error(0.00125, hold) / error(0.000625, hold), 3.2);
      EXPECT_GT(error(0.000625, hold) / error(0.0003125, hold), 3.2);
    }
  }
}

/// A hinge that is damped and nothing else: its rate falls, next to e^(−h d/J) where that is little in a step, and
/// never turns round.
TEST(RegularizedStep, DampingTakesRatesAwayAndNeverTurnsThemRound) {
  using maximal::Hold;
  for (const Hold hold : {Hold::end, Hold::start}) {
    double last = 1;
    for (double z = 1e-3; z < 1e6; z *= 2) {
      Robot robot = pendulum(JointDynamics{.damping = z * 0.35 / 0.01});
      robot.gravity.setZero();
      const auto mechanism = *Mechanism::make(robot);
      RegularizedStep step(mechanism, {.compliance = 1e-10, .angular_compliance = 1e-10, .hold = hold});
      const StepInput input(*mechanism, 0.01);
      double q[7] = {1, 0, 0, 0, 0.5, 0, 0}, v[6] = {0, 0, 1e-3, 0, 5e-4, 0}, after[6];
      Grip grip = Grip::none;
      ASSERT_TRUE(step.advance(q, v, input, &grip, after));
      const double left = after[2] / v[2];
      EXPECT_GE(left, -1e-6) << z;  // constraints give way
      EXPECT_LT(left, last + 1e-6) << z;
      if (z < 0.5) EXPECT_NEAR(left, std::exp(-z), 0.1 * z * z * z + 1e-6) << z;
      last = left;
    }
    EXPECT_LT(last, 1e-6);
  }
}

/// What a joint's damping is strong against is the inertia behind all joints, not that of a light link next to it.
TEST(RegularizedStep, ALightLinkBetweenDoesNotMakeDampingStrong) {
  Robot robot = pendulum(JointDynamics{.damping = 0.2});
  Link cross;
  cross.name = "cross";
  cross.has_inertia = true;
  cross.inertia = {1e-6, Vector3d::Zero(), 1e-9 * Matrix3d::Identity()};
  robot.links.push_back(cross);
  Joint lift = robot.joints[0];
  lift.name = "lift";
  lift.parent = LinkIndex(1);
  lift.axis = Vector3d::UnitY();
  robot.joints[0].child = LinkIndex(1);
  robot.joints.push_back(lift);
  const auto mechanism = *Mechanism::make(robot);
  RegularizedStep step(mechanism, {});
  Eigen::VectorXd q(mechanism->stored()), v = Eigen::VectorXd::Zero(mechanism->tangent()), after = v;
  maximal::poses_of(*mechanism, mechanism->numbers(), mechanism->tree().start_position().data(), q.data());
  std::vector<Grip> grip(2, Grip::none);
  ASSERT_TRUE(step.advance(q.data(), v.data(), StepInput(*mechanism, 0.01), grip.data(), after.data()));
  EXPECT_NEAR(step.freedom(0).mobility, 1 / 0.35, 1e-3);
  EXPECT_NEAR(step.freedom(1).mobility, 1 / 0.35, 1e-3);
}

/// A weight on a spring with a damper, drawn out: as it goes in truth, to second order; with a damper of whatever
/// strength it comes nearer to rest.
TEST(RegularizedStep, DampersOfSpringsAreOfSecondOrderAndStable) {
  const auto slide = [](double damping) {
    Robot robot = pendulum(0);
    robot.gravity.setZero();
    robot.joints[0].type = JointType::prismatic;
    robot.joints[0].axis = Vector3d::UnitX();
    robot.springs.push_back({"s", {LinkIndex(), Vector3d(-2, 0, 0)}, {LinkIndex(0), Vector3d::Zero()}, 4, 1, damping});
    return *Mechanism::make(robot);
  };
  const auto end = [&](double damping, double h, double time) {
    const auto mechanism = slide(damping);
    RegularizedStep step(mechanism, {});
    const StepInput input(*mechanism, h);
    double q[7], v[6] = {}, after[6];
    maximal::poses_of(*mechanism, mechanism->numbers(), mechanism->tree().start_position().data(), q);
    Grip grip = Grip::none;
    for (int k = 0; k < std::lround(time / h); ++k) {
      EXPECT_TRUE(step.advance(q, v, input, &grip, after));
      for (int i = 0; i < 6; ++i) v[i] = k == 0 ? 0.5 * (v[i] + after[i]) : after[i];
      const Eigen::VectorXd move = h * Eigen::Map<const Eigen::VectorXd>(v, 6);
      maximal::retract(1, q, move.data(), q);
    }
    return q[4] - 0.5 + 1;  // of 1 at first
  };
  const double exact = std::exp(-0.5) * (std::cos(std::sqrt(3.75)) + 0.5 / std::sqrt(3.75) * std::sin(std::sqrt(3.75)));
  const auto error = [&](double h) { return std::abs(end(1, h, 1) - exact); };
  EXPECT_NEAR(error(0.02) / error(0.01), 4, 0.4);
  EXPECT_NEAR(error(0.01) / error(0.005), 4, 0.4);
  for (const double damping : {10.0, 1e3, 1e5, 1e8}) {
    const double left = end(damping, 0.01, 10);
    EXPECT_GT(left, 0) << damping;
    EXPECT_LE(left, 1) << damping;
    EXPECT_NEAR(left, std::exp(-40 / damping), 0.02) << damping;
  }
}

/// Constraints that hold at the end of a step: energy neither rises nor falls, even with long steps.
TEST(RegularizedStep, ASwingKeepsItsEnergy) {
  const auto mechanism = *Mechanism::make(pendulum(0));
  const auto swing = [&](maximal::Hold hold) {
    RegularizedStep step(mechanism, {.relaxation = 0.02, .hold = hold});
    const double h = 0.01, weight = 9.81;
    const StepInput input(*mechanism, h);
    double q[7] = {1, 0, 0, 0, 0.5, 0, 0}, v[6] = {}, after[6], worst = 0, first = 0;
    Grip grip = Grip::none;
    for (int k = 0; k < 6000; ++k) {
      EXPECT_TRUE(step.advance(q, v, input, &grip, after));
      const double middle = 0.5 * (v[2] + after[2]);
      const double energy = 0.5 * 0.35 * middle * middle + weight * q[5];
      // it is compared where it hangs: elsewhere the energy of a method of second order is off by h², to and fro
      if (std::abs(q[4]) < 0.02) {
        if (first == 0) first = energy;
        worst = std::max(worst, std::abs(energy - first));
      }
      std::copy_n(after, 6, v);
      const Eigen::VectorXd move = h * Eigen::Map<const Eigen::VectorXd>(v, 6);
      maximal::retract(1, q, move.data(), q);
    }
    return worst / (0.5 * weight);
  };
  EXPECT_LT(swing(maximal::Hold::end), 1e-3);
  EXPECT_GT(swing(maximal::Hold::start), 5e-3);
}

TEST(RegularizedStep, ALongChainIsSolvedAsASparseSystem) {
  RandomMachine random(5);
  random.chain(std::vector<JointType>(20, JointType::revolute));
  Trial trial(random, 0.01, 0.3);
  trial.check(random, 2e-6);
}

/// From wherever a search starts, there is one answer; a guess that is far off is not taken.
TEST(RegularizedStep, AGuessChangesNothing) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    RandomMachine random(seed);
    random.dry = seed % 2 == 0 ? 0.05 : 0;
    random.load = seed % 5 == 0 ? 0.1 : 0;
    random.chain({JointType::revolute, JointType::ball, JointType::prismatic, JointType::universal});
    Trial trial(random, 0.01, 2);
    const Eigen::VectorXd zero = Eigen::VectorXd::Zero(trial.mechanism->tangent());
    const Eigen::VectorXd after = trial.after(trial.mechanism->numbers(), zero, zero);
    for (const double off : {0.0, 0.1, 10.0, 25.0, 1e3}) {
      Eigen::VectorXd guess = after, found(after.size());
      for (double& x : guess) x += off * random.number();
      std::vector<Grip> grip(trial.grip.size(), Grip::none);
      ASSERT_TRUE(
          trial.step.advance(trial.q.data(), trial.v.data(), trial.input, grip.data(), found.data(), guess.data()));
      EXPECT_LT((found - after).lpNorm<Eigen::Infinity>(), 1e-8 * (1 + after.lpNorm<Eigen::Infinity>()))
          << seed << ' ' << off;
      EXPECT_EQ(grip, trial.grip) << seed << ' ' << off;
    }
  }
}

}  // namespace
}  // namespace kinegraph::step::regularized_step_test
