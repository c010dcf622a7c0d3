#include "kinegraph/step/lie_stepper.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace kinegraph::step::lie_stepper_test {
namespace {

std::shared_ptr<const screw::Tree> one_body(JointType type) {
  Robot robot;
  robot.links.resize(1);
  robot.links[0].name = "body";
  Joint joint;
  joint.name = "j";
  joint.type = type;
  joint.child = LinkIndex(0);
  robot.joints = {joint};
  return *screw::Tree::make(robot);
}

/// ẍ = −ω² x − 2 ζ ω ẋ, and its dissipated energy per mass as an extra.
struct Oscillator final : Field {
  static constexpr double kOmega = 3, kZeta = 0.1;
  int extras() const override { return 1; }
  bool rates(double, const double* q, const double* v, double* a, double* extra) override {
    a[0] = -kOmega * kOmega * q[0] - 2 * kZeta * kOmega * v[0];
    extra[0] = 2 * kZeta * kOmega * v[0] * v[0];
    return true;
  }
  static double exact(double t) {  // from x = 1 at rest
    const double wd = kOmega * std::sqrt(1 - kZeta * kZeta);
    return std::exp(-kZeta * kOmega * t) * (std::cos(wd * t) + kZeta * kOmega / wd * std::sin(wd * t));
  }
};

/// A body that turns freely, with unequal moments of inertia.   I ω̇ = −ω × I ω
struct Gyroscope final : Field {
  Eigen::Vector3d inertia{1, 2, 3.5};
  bool rates(double, const double*, const double* v, double* a, double*) override {
    const Eigen::Map<const Eigen::Vector3d> omega(v);
    const Eigen::Vector3d moment = -omega.cross(inertia.cwiseProduct(omega));
    for (int i = 0; i < 3; ++i) a[i] = moment[i] / inertia[i];
    return true;
  }
};

/// A twist that changes direction all the time: q of a floating joint must follow it.
struct Wandering final : Field {
  bool rates(double t, const double*, const double*, double* a, double*) override {
    for (int i = 0; i < 6; ++i) a[i] = std::cos((1 + 0.3 * i) * t + i);
    return true;
  }
};

std::vector<double> run(const std::shared_ptr<const screw::Tree>& tree, Field& field, const std::string& scheme,
                        const std::vector<double>& q, const std::vector<double>& v, int steps, double time) {
  LieStepper stepper(tree, field, *find_scheme(scheme));
  EXPECT_TRUE(stepper.start(0, q.data(), v.data()));
  for (int k = 0; k < steps; ++k) EXPECT_TRUE(stepper.advance(time / steps));
  EXPECT_DOUBLE_EQ(stepper.t(), time);
  return stepper.q();
}

/// Halving the step divides the error by 2^order: `error` is of a number of steps.
template <class Error>
void expect_order(const std::string& scheme, int steps, Error error) {
  const double ratio = error(steps) / error(2 * steps), wanted = std::pow(2, find_scheme(scheme)->order);
  EXPECT_GT(ratio, 0.85 * wanted) << scheme;
  EXPECT_LT(ratio, 1.25 * wanted) << scheme;
}

TEST(LieStepper, EverySchemeHasItsOrderOnADampedOscillator) {
  const auto tree = one_body(JointType::prismatic);
  for (const std::string& scheme : scheme_names()) {
    expect_order(scheme, scheme.ends_with("euler") ? 3000 : 60, [&](int steps) {
      Oscillator field;
      return std::abs(run(tree, field, scheme, {1}, {0}, steps, 1.3)[0] - Oscillator::exact(1.3));
    });
  }
}

TEST(LieStepper, ExtrasAreIntegratedWithTheMotion) {
  const auto tree = one_body(JointType::prismatic);
  Oscillator field;
  LieStepper stepper(tree, field, *find_scheme("dopri5"));
  const double q = 1, v = 0;
  ASSERT_TRUE(stepper.start(0, &q, &v));
  for (int k = 0; k < 500; ++k) ASSERT_TRUE(stepper.advance(0.002));
  const double w2 = Oscillator::kOmega * Oscillator::kOmega;
  const double energy = 0.5 * stepper.v()[0] * stepper.v()[0] + 0.5 * w2 * stepper.q()[0] * stepper.q()[0];
  EXPECT_NEAR(energy + stepper.extra()[0], 0.5 * w2, 1e-11);
}

double angle_between(const std::vector<double>& a, const std::vector<double>& b) {
  return (SO3::load(a.data()).inverse() * SO3::load(b.data())).log().norm();
}

TEST(LieStepper, EverySchemeHasItsOrderOnRotations) {
  const auto tree = one_body(JointType::ball);
  Gyroscope field;
  const std::vector<double> q = {1, 0, 0, 0}, v = {0.3, 2, -1};
  const std::vector<double> exact = run(tree, field, "dopri5", q, v, 4000, 2);
  for (const std::string& scheme : scheme_names()) {
    expect_order(scheme, scheme.ends_with("euler") ? 6000 : 100,
                 [&](int steps) { return angle_between(exact, run(tree, field, scheme, q, v, steps, 2)); });
  }
}

TEST(LieStepper, AFreeRotationKeepsItsAngularMomentum) {
  const auto tree = one_body(JointType::ball);
  Gyroscope field;
  const std::vector<double> q = {1, 0, 0, 0}, v = {0.01, 5, 0.01};  // about the middle axis: it tumbles
  LieStepper stepper(tree, field, *find_scheme("rk4"));
  ASSERT_TRUE(stepper.start(0, q.data(), v.data()));
  const auto momentum = [&] {
    const Eigen::Map<const Eigen::Vector3d> omega(stepper.v().data());
    return Eigen::Vector3d(SO3::load(stepper.q().data()) * Eigen::Vector3d(field.inertia.cwiseProduct(omega)));
  };
  const Eigen::Vector3d before = momentum();
  double turned = 0;
  for (int k = 0; k < 5000; ++k) {
    ASSERT_TRUE(stepper.advance(1e-3));
    turned = std::max(turned, -stepper.v()[1]);
  }
  EXPECT_GT(turned, 4.9);  // it did turn over
  EXPECT_LT((momentum() - before).norm(), 1e-9 * before.norm());
}

TEST(LieStepper, PosesFollowATwistToOrder) {
  const auto tree = one_body(JointType::floating);
  Wandering field;
  const std::vector<double> q = {1, 0, 0, 0, 0, 0, 0}, v = {1, -2, 0.5, 0.3, 1, -1};
  const std::vector<double> exact = run(tree, field, "dopri5", q, v, 4000, 2);
  for (const std::string scheme : {"midpoint", "rk4", "dopri5"}) {
    expect_order(scheme, 40, [&](int steps) {
      const std::vector<double> found = run(tree, field, scheme, q, v, steps, 2);
      return (SE3::load(exact.data()).inverse() * SE3::load(found.data())).log().norm();
    });
  }
}

TEST(LieStepper, StopsAtWhatIsNotFinite) {
  struct Burst final : Field {
    bool rates(double, const double*, const double* v, double* a, double*) override {
      a[0] = v[0] * v[0] * v[0];
      return true;
    }
  } field;
  const auto tree = one_body(JointType::prismatic);
  LieStepper stepper(tree, field, *find_scheme("rk4"));
  const double q = 0, v = 10;
  ASSERT_TRUE(stepper.start(0, &q, &v));
  int steps = 0;
  while (steps < 100 && stepper.advance(1e-2)) ++steps;
  EXPECT_LT(steps, 100);
}

TEST(Scheme, UnknownNamesHaveNone) {
  EXPECT_FALSE(find_scheme("rk5"));
  for (const std::string& name : scheme_names()) EXPECT_EQ(find_scheme(name)->name, name);
}

}  // namespace
}  // namespace kinegraph::step::lie_stepper_test
