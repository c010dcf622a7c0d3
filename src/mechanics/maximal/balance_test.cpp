#include "kinegraph/mechanics/maximal/balance.hpp"

#include <gtest/gtest.h>

#include "kinegraph/mechanics/maximal/mechanisms_test.hpp"

namespace kinegraph::maximal::balance_test {
namespace {

using Vector = Eigen::VectorXd;

/// A body that nothing touches keeps |Jω| and its energy, however large the step.
TEST(Balance, AFreeBodyKeepsItsEnergyAndMomentum) {
  Eigen::Matrix3d J;
  J << 0.3, 0.02, -0.05, 0.02, 0.5, 0.04, -0.05, 0.04, 0.9;
  for (const double h : {1e-3, 1e-2, 0.1}) {
    Eigen::Vector3d omega(1, 8, -0.5);
    const double energy = omega.dot(J * omega), momentum = (J * omega).norm();
    for (int i = 0; i < 2000; ++i) omega = free_spin<double>(J, omega, h);
    EXPECT_NEAR(omega.dot(J * omega), energy, 1e-10 * energy) << h;
    EXPECT_NEAR((J * omega).norm(), momentum, 1e-10 * momentum) << h;
  }
}

TEST(Balance, AFreeBodyTurnsAsEulerSays) {
  const Eigen::Matrix3d J = Eigen::Vector3d(0.3, 0.5, 0.9).asDiagonal();
  const Eigen::Vector3d omega(1, 2, -3), rate = J.inverse() * (J * omega).cross(omega);
  const double h = 1e-6;
  EXPECT_LT(((free_spin<double>(J, omega, h) - omega) / h - rate).norm(), 1e-4);
}

TEST(Balance, OfABodyByItsNumbersAndVelocity) {
  RandomMechanism r(31);
  r.grow({JointType::revolute}, true);
  const auto mechanism = r.make();
  const int numbers = BodyNumbers::count;
  Vector x(numbers + 3 + 6);
  x << mechanism->numbers().segment(mechanism->bodies()[0].numbers, numbers), 1, -2, -9, 1, 2, -1.5, 0.3, 0.2, 0.1;
  const Vector after = Vector::NullaryExpr(6, [&] { return r.number(); });
  const auto left = [&](const auto* at, auto* out) {
    body_balance(at, at + numbers, at + numbers + 3, after.data(), 0.02, out);
  };
  using D = Dual<19>;
  std::vector<D> dual;
  for (int i = 0; i < 19; ++i) dual.emplace_back(x[i], i);
  D found[6];
  left(dual.data(), found);
  for (int i = 0; i < 19; ++i) {
    double ahead[6], behind[6];
    left(Vector(x + 1e-6 * Vector::Unit(19, i)).data(), ahead);
    left(Vector(x - 1e-6 * Vector::Unit(19, i)).data(), behind);
    for (int k = 0; k < 6; ++k) EXPECT_NEAR(found[k].v[i], (ahead[k] - behind[k]) / 2e-6, 1e-8) << i << " " << k;
  }
}

/// What a joint does to its bodies and what is left of its equations, by poses (12) and velocities (12).
template <class T>
struct JointLeft {
  T impulse[12], left[6], held[3], driven[3];

  JointLeft(const Mechanism& m, const Joint& joint, const Vector& q, const Vector& v, const JointStep& step) {
    const JointPlace<T> at = place<T>(m, joint, q.data());
    std::vector<T> numbers(FreedomNumbers::count * joint.freedoms, T(0.0)), before(12);
    bool angular[3] = {};
    for (int f = 0; f < joint.freedoms; ++f) {
      const Freedom& freedom = m.freedoms()[joint.freedom + f];
      angular[f] = freedom.angular;
      for (int k = 0; k < FreedomNumbers::count; ++k)
        numbers[f * FreedomNumbers::count + k] = T(m.numbers()[freedom.numbers + k]);
    }
    for (int k = 0; k < 12; ++k) {
      before[k] = T(v[k]);
      if constexpr (kDirections < T >> 0) before[k].v[12 + k] = 1;
    }
    for (int k = 0; k < 12; ++k) impulse[k] = T(0.0);
    for (int k = 0; k < 6; ++k) left[k] = T(0.0);
    for (int k = 0; k < 3; ++k) held[k] = driven[k] = T(0.0);
    joint_balance<T, T>(joint, at, numbers.data(), angular, before.data(), step, impulse, left, held, driven);
  }
  /// All 24 numbers.
  std::vector<T> all() const {
    std::vector<T> list(impulse, impulse + 12);
    list.insert(list.end(), left, left + 6);
    list.insert(list.end(), held, held + 3);
    list.insert(list.end(), driven, driven + 3);
    return list;
  }
};

JointStep random_step(RandomMechanism& r, const Vector& after) {
  JointStep step;
  step.h = 0.02, step.gamma = 1.0 / 9, step.after = after.data();
  const Grip grips[] = {Grip::forward, Grip::backward, Grip::held};
  for (int k = 0; k < 6; ++k) step.softness[k] = 0.1 * k, step.lambda[k] = r.number();
  for (int f = 0; f < 3; ++f) {
    FreedomStep& freedom = step.freedom[f];
    freedom.torque = r.number(), freedom.control = r.number(), freedom.load = 1 + r.number();
    freedom.held = r.number(), freedom.driven = r.number(), freedom.target = r.number();
    freedom.reference = 0.5 * r.number(), freedom.grip = grips[f], freedom.mobility = 50;
  }
  return step;
}

TEST(Balance, OfAJointByPosesAndVelocities) {
  RandomMechanism r(32);
  r.chain();
  const auto m = r.make();
  const RandomState s(r, *m);
  for (const Joint& joint : m->joints()) {
    SCOPED_TRACE(to_string(joint.type));
    const auto random = [&](double by) { return Vector(Vector::NullaryExpr(12, [&] { return by * r.number(); })); };
    const Vector q = moved(*m, joint, s.q, random(0.05)), v = random(1), after = random(1);
    const JointStep step = random_step(r, after);
    const auto found = JointLeft<Dual<24>>(*m, joint, q, v, step).all();
    for (int i = joint.a < 0 ? 6 : 0; i < 24; ++i) {
      const double h = 1e-5;
      const Vector delta = h * Vector::Unit(24, i), turn = delta.head<12>(), faster = delta.tail<12>();
      const auto ahead = JointLeft<double>(*m, joint, moved(*m, joint, q, turn), v + faster, step).all();
      const auto behind = JointLeft<double>(*m, joint, moved(*m, joint, q, -turn), v - faster, step).all();
      for (std::size_t k = 0; k < found.size(); ++k)
        EXPECT_NEAR(found[k].v[i], (ahead[k] - behind[k]) / (2 * h), 1e-6) << i << " " << k;
    }
  }
}

/// The power of a joint's drag and spring: −(d + c |ω|) ω² and the change of the spring's energy.
TEST(Balance, WhatAJointDoesIsItsPower) {
  RandomMechanism r(33);
  r.grow({JointType::revolute, JointType::prismatic}, true);
  for (kinegraph::Joint& joint : r.robot.joints) {
    joint.dynamics.resize(1);
    joint.dynamics[0].damping = 0.7, joint.dynamics[0].quadratic = 0.4;
    joint.dynamics[0].stiffness = 5, joint.dynamics[0].rest = 0.2, joint.dynamics[0].gain = 3;
  }
  const auto m = r.make();
  const RandomState s(r, *m);
  const Joint& joint = m->joints()[1];
  JointStep step;
  step.h = 0.01;
  step.freedom[0].control = 2, step.freedom[0].torque = -1;
  const Vector v = s.v.head<12>();
  step.after = v.data();
  const JointLeft<double> left(*m, joint, s.q, v, step);
  const double rate = s.v_tree[1], at = s.q_tree[1];
  const double force = 3 * 2 - 1 - (0.7 + 0.4 * std::abs(rate)) * rate - 5 * (at - 0.2);
  EXPECT_NEAR(Eigen::Map<const Vector>(left.impulse, 12).dot(v), 0.01 * force * rate, 1e-12);
}

TEST(Balance, OfASpringByPosesVelocitiesAndNumbers) {
  RandomMechanism r(34);
  r.grow({JointType::floating, JointType::floating}, true);
  const auto m = r.make();
  const RandomState s(r, *m);
  Joint pair;
  pair.a = 0, pair.b = 1;
  Vector numbers(9);
  numbers << r.vector(), r.vector(), 40, 0.3, 2;
  const Vector before = s.v.head<12>(), after = Vector(Vector::NullaryExpr(12, [&] { return r.number(); }));
  using D = Dual<33>;
  const auto impulse = [&]<class T>(T, const Vector& q, const Vector& v, const Vector& n) {
    std::vector<T> speed(12), own(9), com_a(3), com_b(3), out(12, T(0.0));
    for (int k = 0; k < 12; ++k) speed[k] = T(v[k]);
    for (int k = 0; k < 9; ++k) own[k] = T(n[k]);
    for (int k = 0; k < 3; ++k) {
      com_a[k] = T(m->numbers()[m->bodies()[0].numbers + BodyNumbers::com + k]);
      com_b[k] = T(m->numbers()[m->bodies()[1].numbers + BodyNumbers::com + k]);
    }
    if constexpr (kDirections < T >> 0) {
      for (int k = 0; k < 12; ++k) speed[k].v[12 + k] = 1;
      for (int k = 0; k < 9; ++k) own[k].v[24 + k] = 1;
    }
    spring_balance<T>(pose<T>(q.data(), 0, 0), pose<T>(q.data(), 1, 6), com_a.data(), com_b.data(), own.data(),
                      speed.data(), after.data(), 100, 0.01, out.data());
    return out;
  };
  const auto found = impulse(D(0.0), s.q, before, numbers);
  for (int i = 0; i < 33; ++i) {
    const double h = 1e-6;
    const Vector delta = h * Vector::Unit(33, i), turn = delta.head<12>();
    const auto ahead =
        impulse(0.0, moved(*m, pair, s.q, turn), before + delta.segment<12>(12), numbers + delta.tail<9>());
    const auto behind =
        impulse(0.0, moved(*m, pair, s.q, -turn), before - delta.segment<12>(12), numbers - delta.tail<9>());
    for (int k = 0; k < 12; ++k) EXPECT_NEAR(found[k].v[i], (ahead[k] - behind[k]) / (2 * h), 1e-8) << i << " " << k;
  }
}

}  // namespace
}  // namespace kinegraph::maximal::balance_test
