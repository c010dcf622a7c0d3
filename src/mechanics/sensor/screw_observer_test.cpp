#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kinegraph/mechanics/screw/kinematics.hpp"
#include "kinegraph/mechanics/screw/robots_test.hpp"
#include "kinegraph/mechanics/sensor/sensors_test.hpp"

namespace kinegraph::sensor::screw_observer_test {
namespace {

using screw::RandomRobot;
using screw::Tree;
using screw::Vector6d;

std::shared_ptr<const Tree> tree_of(const Robot& robot) {
  auto tree = Tree::make(robot);
  if (!tree) throw std::invalid_argument(tree.failure().to_string());
  return *tree;
}

Instant instant_of(const Tree& tree, const Eigen::VectorXd& q, int directions, RandomInstant& random) {
  const int wrenches = static_cast<int>(tree.bodies().size() + tree.loops().size());
  return random.at(q, tree.freedoms(), 6 * wrenches, tree.freedoms(), directions);
}

/// A floating robot with joints of every type, one that mimics another, and one that closes a loop.
Robot everything(unsigned seed) {
  RandomRobot random(seed);
  random.grow(screw::all_moving_types());
  random.robot.base = Robot::Base::floating;
  Joint& follower = random.joint(JointType::revolute, 2, random.link("follower"));
  follower.mimic = Mimic{JointIndex(0), -1.7, 0.3};
  Joint& second = random.joint(JointType::prismatic, 1, random.link("second"));
  second.mimic = Mimic{JointIndex(static_cast<int>(random.robot.joints.size()) - 2), 0.5, -0.1};
  // passed from the child to the parent
  const int far = random.link("far");
  random.joint(JointType::universal, far, 3);
  random.joint(JointType::revolute, random.link("farther"), far);
  random.joint(JointType::cylindrical, 4, 6).closes_loop = true;
  return random.robot;
}

TEST(ScrewObserver, DerivativesAreThoseOfDifferences) {
  for (const unsigned seed : {1u, 2u, 3u}) {
    RandomInstant random(seed);
    Model model;
    model.robot = everything(seed);
    equip(model, random);
    const auto tree = tree_of(model.robot);
    ASSERT_TRUE(std::any_of(tree->bodies().begin(), tree->bodies().end(), [](auto& b) { return b.joint.reversed; }));
    const auto observer = make_observer(model, tree);
    RandomRobot numbers(seed + 10);
    const Eigen::VectorXd q = numbers.position(*tree);
    for (const int directions : {2, 11})
      expect_derivatives(*observer, instant_of(*tree, q, directions, random), along(*tree));
  }
}

TEST(ScrewObserver, ReadsPosesAndTwistsOfTheTree) {
  RandomInstant random(7);
  Model model;
  model.robot = everything(7);
  equip(model, random);
  const auto tree = tree_of(model.robot);
  const auto observer = make_observer(model, tree);
  const Instant x = instant_of(*tree, RandomRobot(8).position(*tree), 0, random);
  screw::Poses poses(tree->bodies().size());
  std::vector<Vector6d> twists(tree->bodies().size());
  screw::body_poses(*tree, x.q.data(), poses);
  screw::body_twists(*tree, x.q.data(), x.v.data(), twists);
  const auto place = [&](const Sensor::Mount& mount) -> Eigen::Vector3d {
    return mount.body < 0 ? mount.at : screw::link_pose(*tree, poses, mount.body) * mount.at;
  };
  int seen = 0;
  for (int i = 0; i < observer->sensors(); ++i) {
    const Sensor& s = observer->sensor(i);
    const Eigen::VectorXd y = reading(*observer, x, i);
    if (s.on.body < 0) continue;
    const Eigen::Matrix3d R = screw::link_pose(*tree, poses, s.on.body).R * s.R_BS;
    const int body = tree->links()[s.on.body].body;
    if (s.type == SensorType::gyroscope) {
      EXPECT_NEAR((R * y - poses[body].R * twists[body].head<3>()).norm(), 0, 1e-13) << s.name;
    } else if (s.type == SensorType::position) {
      EXPECT_NEAR((y - place(s.on)).norm(), 0, 1e-13) << s.name;
    } else if (s.type == SensorType::distance) {
      EXPECT_NEAR(y[0], (place(s.on) - place(s.other)).norm(), 1e-13) << s.name;
    } else if (s.type == SensorType::tilt) {
      // roll and pitch leave only a turn about the vertical: R = Rz(yaw) Ry(pitch) Rx(roll)
      const Eigen::Matrix3d leaning =
          (Eigen::AngleAxisd(y[1], Eigen::Vector3d::UnitY()) * Eigen::AngleAxisd(y[0], Eigen::Vector3d::UnitX()))
              .toRotationMatrix();
      EXPECT_NEAR((leaning.row(2) - R.row(2)).norm(), 0, 1e-13) << s.name;
    } else {
      continue;
    }
    ++seen;
  }
  EXPECT_EQ(seen, 4 * static_cast<int>(model.robot.links.size()));
}

TEST(ScrewObserver, AccelerometersAtRestReadWhatHoldsThemUp) {
  RandomInstant random(9);
  Model model;
  model.robot = everything(9);
  model.robot.gravity = {1, -2, 3};
  equip(model, random);
  const auto tree = tree_of(model.robot);
  const auto observer = make_observer(model, tree);
  Instant x = instant_of(*tree, RandomRobot(10).position(*tree), 0, random);
  x.v.setZero();
  x.a.setZero();
  screw::Poses poses(tree->bodies().size());
  screw::body_poses(*tree, x.q.data(), poses);
  for (int i = 0; i < observer->sensors(); ++i) {
    const Sensor& s = observer->sensor(i);
    if (s.type != SensorType::accelerometer) continue;
    const Eigen::Vector3d felt = screw::link_pose(*tree, poses, s.on.body).R * s.R_BS * reading(*observer, x, i);
    EXPECT_NEAR((felt + model.robot.gravity).norm(), 0, 1e-13) << s.name;
  }
}

TEST(ScrewObserver, AccelerationIsThatOfThePointAsItMoves) {
  RandomInstant random(11);
  Model model;
  model.robot = everything(11);
  model.robot.gravity.setZero();
  for (int link = 0; link < static_cast<int>(model.robot.links.size()); ++link) {
    const Sensor::Mount mount{link, 0.5 * random.vector(3)};
    add_sensor(model, SensorType::accelerometer).on = mount;
    add_sensor(model, SensorType::position).on = mount;
  }
  const auto tree = tree_of(model.robot);
  const auto observer = make_observer(model, tree);
  const Instant x = instant_of(*tree, RandomRobot(12).position(*tree), 0, random);
  screw::Poses poses(tree->bodies().size());
  screw::body_poses(*tree, x.q.data(), poses);
  const auto position = [&](int i, double t) {
    Instant then = x;
    then.q = along(*tree)(x.q, t * x.v + t * t / 2 * x.a);
    return reading(*observer, then, i);
  };
  const double h = 2e-3;
  for (int i = 0; i < observer->sensors(); i += 2) {
    const Eigen::Vector3d difference = (16 * (position(i + 1, h) + position(i + 1, -h)) - position(i + 1, 2 * h) -
                                        position(i + 1, -2 * h) - 30 * position(i + 1, 0)) /
                                       (12 * h * h);
    const Eigen::Vector3d felt =
        screw::link_pose(*tree, poses, observer->sensor(i).on.body).R * reading(*observer, x, i);
    EXPECT_NEAR((felt - difference).norm(), 0, 1e-7) << i;
  }
}

TEST(ScrewObserver, EncodersOfFollowersReadTheirOwnNumbers) {
  RandomInstant random(13);
  Model model;
  model.robot = everything(13);
  for (const int joint : {0, 10, 11}) {
    add_sensor(model, SensorType::encoder).coordinate = joint;
    add_sensor(model, SensorType::tachometer).coordinate = joint;
  }
  const auto tree = tree_of(model.robot);
  const auto observer = make_observer(model, tree);
  const Instant x = instant_of(*tree, RandomRobot(14).position(*tree), 0, random);
  const screw::Coordinate& leader = tree->coordinates()[tree->find_coordinate("j1")];
  const double q = x.q[leader.q], v = x.v[leader.v];
  const auto read = [&](int i) { return reading(*observer, x, i)[0]; };
  EXPECT_DOUBLE_EQ(read(0), q);
  EXPECT_DOUBLE_EQ(read(1), v);
  EXPECT_DOUBLE_EQ(read(2), -1.7 * q + 0.3);
  EXPECT_DOUBLE_EQ(read(3), -1.7 * v);
  EXPECT_DOUBLE_EQ(read(4), 0.5 * (-1.7 * q + 0.3) - 0.1);
  EXPECT_DOUBLE_EQ(read(5), 0.5 * -1.7 * v);
}

TEST(ScrewObserver, TiltOfAnUprightSensorHasNoFault) {
  for (const double sign : {1.0, -1.0}) {
    RandomRobot robot(15);
    robot.link("a");
    Model model;
    model.robot = robot.robot;
    model.robot.base = Robot::Base::floating;
    Sensor& s = add_sensor(model, SensorType::tilt);
    s.on.body = 0;
    s.R_BS << 0, 0, -sign, 0, 1, 0, sign, 0, 0;  // x up or down
    const auto tree = tree_of(model.robot);
    const auto observer = make_observer(model, tree);
    RandomInstant random(1);
    Instant x = instant_of(*tree, tree->start_position(), 3, random);
    Eigen::Vector2d y;
    Eigen::MatrixXd H(2, 3);
    observer->read(x, 0, y.data(), H);
    EXPECT_EQ(y[0], 0);
    EXPECT_DOUBLE_EQ(y[1], -sign * std::acos(0.0));
    EXPECT_TRUE(H.allFinite());
  }
}

TEST(ScrewObserver, NamesALoadCellWithoutAJoint) {
  RandomRobot robot(16);
  robot.grow({JointType::fixed, JointType::revolute});
  Model model;
  model.robot = robot.robot;
  add_sensor(model, SensorType::load_cell, "cell").reaction = "j1";
  try {
    make_observer(model, tree_of(model.robot));
    FAIL();
  } catch (const std::invalid_argument& e) {
    EXPECT_STREQ(e.what(), "sensor cell: no joint carries the force j1");
  }
}

}  // namespace
}  // namespace kinegraph::sensor::screw_observer_test
