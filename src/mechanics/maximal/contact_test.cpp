#include "kinegraph/mechanics/maximal/contact.hpp"

#include <gtest/gtest.h>

#include "kinegraph/base/random.hpp"

namespace kinegraph::maximal::contact_test {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

/// A ground with a plane and bodies of one shape each, all free.
struct Scene {
  Robot robot;
  std::shared_ptr<const Mechanism> mechanism;
  std::vector<Contact> contacts;
  Eigen::VectorXd q;

  Scene() {
    robot.base = Robot::Base::floating;
    robot.links.emplace_back().name = "ground";
    kinegraph::Joint& weld = robot.joints.emplace_back();
    weld.name = "weld";
    weld.child = LinkIndex{0};
  }
  static Shape shape(Shape::Type type, const Vector3d& size) {
    Shape made;
    made.type = type;
    made.size = size;
    return made;
  }
  void plane() { robot.links[0].collisions.push_back(shape(Shape::Type::plane, {0, 0, 2})); }
  void body(Shape::Type type, const Vector3d& size) {
    Link& link = robot.links.emplace_back();
    link.name = "b" + std::to_string(robot.links.size());
    link.collisions.push_back(shape(type, size));
    link.collisions[0].X_LG = SE3(SO3::exp({0.1, -0.2, 0.3}), {0.01, 0.02, -0.03});
    link.inertia = {1, {0.02, 0.03, 0.01}, Matrix3d::Identity()};
    link.has_inertia = true;
  }
  void start() {
    mechanism = *Mechanism::make(robot);
    q.setZero(mechanism->stored());
    for (std::size_t i = 0; i < mechanism->bodies().size(); ++i) q[7 * i] = 1;
  }
  /// Puts the shape of a body there.
  void put(int body, const SE3& X) {
    const SE3 link = X * robot.links[body + 1].collisions[0].X_LG.inverse();
    link.rotation().store(q.data() + 7 * body);
    Eigen::Map<Vector3d>{q.data() + 7 * body + 4} = link * robot.links[body + 1].inertia.com;
  }
  const std::vector<Contact>& find(double reach) {
    ContactFinder(*mechanism).find(mechanism->numbers(), q.data(), reach, contacts);
    return contacts;
  }
  double lowest() {
    find(10);
    double least = INFINITY;
    for (const Contact& c : contacts) least = std::min(least, c.touch.gap);
    return least;
  }
};

/// The lowest z of a shape's surface, by sampling.
double lowest_sample(Shape::Type type, const Vector3d& size, const SE3& X) {
  double least = INFINITY;
  const int n = 400;
  for (int i = 0; i <= n; ++i) {
    for (int j = 0; j <= n; ++j) {
      const double u = M_PI * i / n, v = 2 * M_PI * j / n;
      const Vector3d s(std::sin(u) * std::cos(v), std::sin(u) * std::sin(v), std::cos(u));
      Vector3d x;
      switch (type) {
        case Shape::Type::sphere:
          x = size[0] * s;
          break;
        case Shape::Type::ellipsoid:
          x = size.cwiseProduct(s);
          break;
        case Shape::Type::capsule:
          x = size[0] * s + Vector3d(0, 0, (s[2] > 0 ? 0.5 : -0.5) * size[1]);
          break;
        case Shape::Type::cylinder:
          x = {size[0] * std::cos(v), size[0] * std::sin(v), (i % 2 ? 0.5 : -0.5) * size[1]};
          break;
        default:
          x = 0.5 * size.cwiseProduct(Vector3d(i % 2 ? 1 : -1, j % 2 ? 1 : -1, j % 4 < 2 ? 1 : -1));
          break;
      }
      least = std::min(least, (X * x)[2]);
    }
  }
  return least;
}

TEST(ContactFinder, gaps_to_a_plane_are_those_of_the_lowest_points) {
  const Vector3d size(0.1, 0.25, 0.2);
  for (const Shape::Type type :
       {Shape::Type::box, Shape::Type::sphere, Shape::Type::cylinder, Shape::Type::capsule, Shape::Type::ellipsoid}) {
    for (int k = 0; k < 5; ++k) {
      Random random(3, k);
      Scene scene;
      scene.plane();
      scene.body(type, size);
      scene.start();
      const Vector3d turn(random.normal(), random.normal(), random.normal());
      const SE3 X(SO3::exp(turn), Vector3d(random.normal(), random.normal(), 0.4));
      scene.put(0, X);
      EXPECT_NEAR(scene.lowest(), lowest_sample(type, size, X), 1e-4) << static_cast<int>(type) << " " << k;
    }
  }
}

/// d gap/dt is the row of the normal times the velocity, to second order in dt.
void expect_rates(Scene& scene, double reach, int expected) {
  const int n = scene.mechanism->tangent();
  ASSERT_GE(static_cast<int>(scene.find(reach).size()), expected);
  const std::vector<Contact> contacts = scene.contacts;
  static constexpr double kZero[3] = {};
  const auto pose = [&](const Eigen::VectorXd& q, int body) {
    Pose<double> out;
    if (body < 0) return out;
    out.R = SO3::load(q.data() + 7 * body).matrix();
    out.p = q.segment<3>(7 * body + 4);
    return out;
  };
  const auto com = [&](int body) {
    const Eigen::VectorXd& numbers = scene.mechanism->numbers();
    return body < 0 ? kZero : numbers.data() + scene.mechanism->bodies()[body].numbers + BodyNumbers::com;
  };
  Random random(5);
  Eigen::VectorXd v(n);
  random.normal(v.data(), n);
  for (const Contact& c : contacts) {
    double G[12], rate = 0;
    direction_row<double>(pose(scene.q, c.a()), pose(scene.q, c.b()), c.touch.point, c.touch.normal, G);
    for (int k = 0; k < 6; ++k) {
      if (c.a() >= 0) rate += G[k] * v[6 * c.a() + k];
      if (c.b() >= 0) rate += G[6 + k] * v[6 * c.b() + k];
    }
    const auto gap = [&](double t) {
      Eigen::VectorXd q = scene.q;
      const Eigen::VectorXd delta = t * v;
      retract(n / 6, scene.q.data(), delta.data(), q.data());
      return touch_of<double>(c.feature, pose(q, c.a()), pose(q, c.b()), com(c.a()), com(c.b())).gap;
    };
    EXPECT_NEAR(gap(0), c.touch.gap, 1e-14);
    EXPECT_NEAR((gap(1e-6) - gap(-1e-6)) / 2e-6, rate, 1e-7 * (1 + std::abs(rate)));
    EXPECT_NEAR(c.touch.normal.norm(), 1, 1e-12);
  }
}

TEST(ContactFinder, rows_are_the_rates_of_gaps) {
  for (const Shape::Type type :
       {Shape::Type::box, Shape::Type::sphere, Shape::Type::cylinder, Shape::Type::capsule, Shape::Type::ellipsoid}) {
    Scene scene;
    scene.plane();
    scene.body(type, {0.1, 0.25, 0.2});
    scene.start();
    scene.put(0, SE3(SO3::exp({0.5, 0.4, 0.3}), {0.1, 0.2, 0.2}));
    SCOPED_TRACE(static_cast<int>(type));
    expect_rates(scene, 1, 1);
  }
}

TEST(ContactFinder, balls_capsules_and_boxes_among_each_other) {
  Scene scene;
  scene.body(Shape::Type::sphere, {0.1, 0, 0});
  scene.body(Shape::Type::sphere, {0.2, 0, 0});
  scene.body(Shape::Type::capsule, {0.05, 0.4, 0});
  scene.body(Shape::Type::box, {0.4, 0.4, 0.4});
  scene.start();
  scene.put(0, SE3(SO3(), {0.33, 0, 0}));
  scene.put(1, SE3(SO3::exp({0.4, 0, 0}), {0, 0, 0}));
  scene.put(2, SE3(SO3(), {-0.3, 0, 0.2}));      // lower end at the height of the ball's centre
  scene.put(3, SE3(SO3(), {0.33, 0.45, 0.35}));  // an edge towards ball 0
  expect_rates(scene, 0.5, 4);
  double ball = 1, capsule = 1, edge = 1;
  for (const Contact& c : scene.contacts) {
    const auto between = [&](int a, int b) { return (c.a() == a && c.b() == b) || (c.a() == b && c.b() == a); };
    if (between(0, 1)) ball = std::min(ball, c.touch.gap);
    if (between(1, 2)) capsule = std::min(capsule, c.touch.gap);
    if (between(0, 3)) edge = std::min(edge, c.touch.gap);
  }
  EXPECT_NEAR(ball, 0.03, 1e-12);
  EXPECT_NEAR(capsule, 0.05, 1e-12);
  EXPECT_NEAR(edge, std::hypot(0.25, 0.15) - 0.1, 1e-12);
}

TEST(ContactFinder, boxes_touch_by_corners_or_crossing_edges) {
  const auto stack = [](double yaw, double shift) {
    Scene scene;
    scene.body(Shape::Type::box, {0.2, 0.2, 0.1});
    scene.body(Shape::Type::box, {0.2, 0.2, 0.1});
    scene.start();
    scene.put(0, SE3());
    scene.put(1, SE3(SO3::exp({0, 0, yaw}), {shift, 0, 0.1005}));
    scene.find(0);
    return scene;
  };
  for (const auto& [yaw, shift, count] : {std::tuple(0.0, 0.0, 4u), {0.0, 0.05, 4u}, {M_PI / 4, 0.0, 8u}}) {
    Scene scene = stack(yaw, shift);
    EXPECT_EQ(scene.contacts.size(), count) << yaw << " " << shift;
    for (const Contact& c : scene.contacts) {
      EXPECT_NEAR(c.touch.gap, 0.0005, 1e-12);
      EXPECT_NEAR(std::abs(c.touch.normal[2]), 1, 1e-12);
      EXPECT_EQ(c.touch.normal[2] > 0, c.b() == 1);
    }
  }
  Scene scene = stack(0.3, 0.1);
  expect_rates(scene, 0, 3);
  // Two edges that cross in the air
  scene.put(0, SE3(SO3::exp({M_PI / 4, 0, 0}), {0, 0, 0}));
  scene.put(1, SE3(SO3::exp({0, 0, M_PI / 2}) * SO3::exp({M_PI / 4, 0, 0}), {0, 0, 0.2140}));
  expect_rates(scene, 0.01, 1);
  EXPECT_NEAR(scene.contacts[0].touch.gap, 0.2140 - std::sqrt(0.5) * 0.3, 1e-12);
}

TEST(ContactFinder, surfaces_share_friction_and_restitution) {
  Scene scene;
  scene.plane();
  scene.robot.links[0].collisions[0].friction = 0.2;
  scene.robot.links[0].collisions[0].restitution = 0.1;
  scene.body(Shape::Type::sphere, {0.1, 0, 0});
  scene.robot.links[1].collisions[0].friction = 0.8;
  scene.robot.links[1].collisions[0].restitution = 0.6;
  scene.start();
  scene.put(0, SE3(SO3(), {0, 0, 0.1}));
  ASSERT_EQ(scene.find(0).size(), 1u);
  EXPECT_NEAR(scene.contacts[0].friction, 0.4, 1e-15);
  EXPECT_EQ(scene.contacts[0].restitution, 0.6);
  EXPECT_EQ(scene.contacts[0].a(), -1);
  scene.put(0, SE3(SO3(), {0, 0, 0.2}));
  EXPECT_TRUE(scene.find(0.05).empty());
}

TEST(ContactFinder, tied_bodies_do_not_touch_and_unknown_pairs_are_named) {
  Scene scene;
  scene.body(Shape::Type::box, {0.1, 0.1, 0.1});
  scene.body(Shape::Type::box, {0.1, 0.1, 0.1});
  scene.body(Shape::Type::cylinder, {0.1, 0.1, 0});
  kinegraph::Joint& joint = scene.robot.joints.emplace_back();
  joint.name = "hinge";
  joint.type = JointType::revolute;
  joint.parent = LinkIndex{1};
  joint.child = LinkIndex{2};
  scene.start();
  EXPECT_TRUE(ContactFinder(*scene.mechanism).empty());
  EXPECT_EQ(ContactFinder(*scene.mechanism).ignored(), (std::vector<std::string>{"'b2' and 'b4'", "'b3' and 'b4'"}));
}

}  // namespace
}  // namespace kinegraph::maximal::contact_test
