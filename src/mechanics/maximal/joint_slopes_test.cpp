#include "kinegraph/mechanics/maximal/joint_slopes.hpp"

#include <gtest/gtest.h>

#include "kinegraph/mechanics/maximal/mechanisms_test.hpp"

namespace kinegraph::maximal::joint_slopes_test {
namespace {

using Vector = Eigen::VectorXd;
using D = Dual<24>;  // poses of both bodies, then their velocities

constexpr Grip kGrips[] = {Grip::forward, Grip::backward, Grip::held};

/// A joint of a machine in the midst of a step that it does not satisfy.
struct Trial {
  Trial(RandomMechanism& random, const Mechanism& mechanism, const Joint& of, const Vector& together, bool at_end)
      : m(mechanism), joint(of) {
    step.at_end = at_end;
    for (const int side : {0, 1}) {
      const bool moves = (side == 0 ? joint.a : joint.b) >= 0;
      turned[side] = moves ? SO3::exp(random.vector()).matrix() : Eigen::Matrix3d::Identity();
    }
    const auto numbers = [&](double by) {
      return Vector(Vector::NullaryExpr(12, [&] { return by * random.number(); }));
    };
    q = moved(m, joint, together, numbers(0.1));
    before = numbers(2), after = numbers(2);
    for (int k = 0; k < 6; ++k) {
      if (joint.a < 0) before[k] = after[k] = 0;
      if (joint.b < 0) before[6 + k] = after[6 + k] = 0;
    }
    if (joint.type == JointType::revolute) joint.ratio = 1.7, joint.offset = 0.2;
    step.h = 0.02, step.gamma = 1.0 / 9, step.correction = 17, step.curved = 0.3, step.after = after.data();
    for (int k = 0; k < 6; ++k) step.softness[k] = 0.1 * k, step.lambda[k] = random.number();
    for (int f = 0; f < 3; ++f) {
      FreedomStep& freedom = step.freedom[f];
      freedom.torque = random.number(), freedom.control = random.number(), freedom.load = 1 + random.number();
      freedom.held = random.number(), freedom.driven = random.number(), freedom.target = random.number();
      freedom.reference = 0.5 * random.number(), freedom.grip = kGrips[(f + joint.freedom) % 3];
    }
  }

  const double* freedom_numbers(int f) const { return m.numbers().data() + m.freedoms()[joint.freedom + f].numbers; }
  const double* com(int body) const {
    static constexpr double kZero[3] = {};
    return body < 0 ? kZero : m.numbers().data() + m.bodies()[body].numbers + BodyNumbers::com;
  }
  JointSlopes slopes() {
    const Pose<double> a = pose<double>(q.data(), joint.a, 0), b = pose<double>(q.data(), joint.b, 0);
    const double* frames = m.numbers().data() + joint.numbers;
    const JointMotion motion{&joint,       a,         b,        com(joint.a), com(joint.b), frames, before.data(),
                             after.data(), turned[0], turned[1]};
    const JointPlace<double> place(a, b, motion.com_a, motion.com_b, frames);
    Row<double> rows[6];
    if (joint.freedoms > 0) freedom_rows(joint, RowMaker<double>(place.F, place.M), rows);
    for (int f = 0; f < joint.freedoms; ++f) {
      freedoms[f] =
          FreedomSlopes(freedom_numbers(f), rows[f].value, rows[f].rate(before.data()), rows[f].rate(after.data()),
                        m.freedoms()[joint.freedom + f].angular, step.freedom[f], step.h);
    }
    return JointSlopes(motion, step, freedoms);
  }

  const Mechanism& m;
  Joint joint;
  Vector q, before, after;
  JointStep step;
  FreedomSlopes freedoms[3];
  Eigen::Matrix3d turned[2];  // of bodies a and b, during the step
};

/// What constraints at the end of the step add: −g⁺/h.
template <class T>
void add_end(const Trial& trial, JointPlace<T> at, T* left) {
  if (!trial.step.at_end) return;
  const auto turn_on = [](Frame<T>& frame, const Eigen::Matrix3d& by) {
    const Matrix3<T> world = frame.body * by.cast<T>() * frame.body.transpose();
    const Vector3<T> arm = world * frame.arm;
    frame.p += arm - frame.arm;
    frame.arm = arm;
    frame.R = (world * frame.R).eval();
    frame.body = (frame.body * by.cast<T>()).eval();
  };
  turn_on(at.F, trial.turned[0]), turn_on(at.M, trial.turned[1]);
  WorldRow<T> rows[6];
  constraint_rows(trial.joint, RowMaker<T>(at.F, at.M), rows);
  for (int i = 0; i < trial.joint.rows; ++i) left[i] -= rows[i].value / trial.step.h;
}

/// joint_balance() with dual numbers.
struct Balance {
  D impulse[12], left[6], held[3], driven[3];

  explicit Balance(const Trial& trial) {
    const JointPlace<D> at = place<D>(trial.m, trial.joint, trial.q.data());
    std::vector<D> numbers, before;
    bool angular[3] = {};
    for (int f = 0; f < trial.joint.freedoms; ++f) {
      angular[f] = trial.m.freedoms()[trial.joint.freedom + f].angular;
      for (int k = 0; k < FreedomNumbers::count; ++k) numbers.emplace_back(trial.freedom_numbers(f)[k]);
    }
    for (int k = 0; k < 12; ++k) before.emplace_back(trial.before[k], 12 + k);
    joint_balance<D, D>(trial.joint, at, numbers.data(), angular, before.data(), trial.step, impulse, left, held,
                        driven);
    add_end(trial, at, left);
  }
};

void check(Trial& trial) {
  const JointSlopes slopes = trial.slopes();
  const Balance balance(trial);
  const Joint& joint = trial.joint;
  const double tolerance = 1e-10;
  for (int side = joint.a < 0 ? 1 : 0; side < (joint.b < 0 ? 1 : 2); ++side) {
    for (int k = 0; k < 6; ++k) {
      SCOPED_TRACE(6 * side + k);
      const auto by = [&](const D& x) { return x.v[6 * side + k]; };
      for (int i = 0; i < 3; ++i) {
        EXPECT_NEAR(by(balance.impulse[i]), k < 3 ? slopes.turn_a[side](i, k) : 0.0, tolerance);
        EXPECT_NEAR(by(balance.impulse[6 + i]), k < 3 ? slopes.turn_b[side](i, k) : 0.0, tolerance);
        EXPECT_NEAR(by(balance.impulse[9 + i]), 0, tolerance);
      }
      for (int i = 0; i < joint.rows; ++i) {
        const double shift = k == 3 + i ? (side == 0 ? -slopes.by_shift : slopes.by_shift) : 0.0;
        EXPECT_NEAR(by(balance.left[i]), k < 3 ? slopes.left[side](i, k) : shift, tolerance);
      }
      for (int f = 0; f < joint.freedoms; ++f) {
        EXPECT_NEAR(by(balance.held[f]), k < 3 ? slopes.held[f][side][k] : 0.0, tolerance);
        EXPECT_NEAR(by(balance.driven[f]), k < 3 ? slopes.driven[f][side][k] : 0.0, tolerance);
      }
    }
  }
}

/// Of velocities: γ G is the rest of it.
void check_bend(Trial trial) {
  const JointSlopes slopes = trial.slopes();
  const Balance whole(trial);
  trial.step.curved = 0;
  const Balance straight(trial);
  for (int side = trial.joint.a < 0 ? 1 : 0; side < (trial.joint.b < 0 ? 1 : 2); ++side) {
    for (int k = 0; k < 6; ++k) {
      for (int i = 0; i < trial.joint.rows; ++i) {
        const double found = whole.left[i].v[12 + 6 * side + k] - straight.left[i].v[12 + 6 * side + k];
        EXPECT_NEAR(found, k < 3 ? slopes.bend[side](i, k) : 0.0, 1e-11) << side << " " << k << " " << i;
      }
    }
  }
}

/// Along a random direction of the machine's numbers.
void check_numbers(RandomMechanism& random, Trial& trial) {
  using T = Dual<1>;
  const Joint& joint = trial.joint;
  const Vector& numbers = trial.m.numbers();
  const Vector by = Vector::NullaryExpr(numbers.size(), [&] { return random.number(); });
  const auto seeded = [&](int first, int count) {
    std::vector<T> out(count, T(0.0));
    for (int k = 0; first >= 0 && k < count; ++k) out[k].a = numbers[first + k], out[k].v[0] = by[first + k];
    return out;
  };
  const auto com = [&](int body) { return body < 0 ? -1 : trial.m.bodies()[body].numbers + BodyNumbers::com; };
  const std::vector<T> com_a = seeded(com(joint.a), 3), com_b = seeded(com(joint.b), 3);
  const std::vector<T> frames = seeded(joint.numbers, JointNumbers::count);
  const JointPlace<T> at(pose<T>(trial.q.data(), -1, 0), pose<T>(trial.q.data(), -1, 0), com_a.data(), com_b.data(),
                         frames.data());
  JointPlace<T> placed = at;
  const auto put = [&](int body, Frame<T>& frame) {
    if (body < 0) return;
    const Pose<double> p = pose<double>(trial.q.data(), body, 0);
    const Eigen::Matrix<T, 3, 3> R = p.R.cast<T>();
    frame.body = R, frame.R = R * frame.R, frame.arm = R * frame.arm, frame.p = p.p.cast<T>() + frame.arm;
  };
  put(joint.a, placed.F), put(joint.b, placed.M);
  std::vector<T> own, before;
  bool angular[3] = {};
  static constexpr double kZero[3] = {};
  JointSlopes::Direction direction{by.data() + joint.numbers,
                                   joint.a < 0 ? kZero : by.data() + com(joint.a),
                                   joint.b < 0 ? kZero : by.data() + com(joint.b),
                                   {}};
  for (int f = 0; f < joint.freedoms; ++f) {
    const Freedom& freedom = trial.m.freedoms()[joint.freedom + f];
    const std::vector<T> its = seeded(freedom.numbers, FreedomNumbers::count);
    own.insert(own.end(), its.begin(), its.end());
    angular[f] = freedom.angular;
    direction.freedoms[f] = by.data() + freedom.numbers;
  }
  for (int k = 0; k < 12; ++k) before.emplace_back(trial.before[k]);
  T impulse[12], left[6], held[3], driven[3];
  joint_balance<T, T>(joint, placed, own.data(), angular, before.data(), trial.step, impulse, left, held, driven);
  add_end(trial, placed, left);
  const JointSlopes::Change found = trial.slopes().along(direction);
  const double tolerance = 1e-11;
  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(impulse[k].v[0], found.turn_a[k], tolerance) << k;
    EXPECT_NEAR(impulse[6 + k].v[0], found.turn_b[k], tolerance) << k;
    EXPECT_NEAR(impulse[9 + k].v[0], 0, tolerance) << k;
  }
  for (int i = 0; i < joint.rows; ++i) EXPECT_NEAR(left[i].v[0], found.left[i], 10 * tolerance) << i;
  for (int f = 0; f < joint.freedoms; ++f) {
    EXPECT_NEAR(held[f].v[0], found.held[f], tolerance);
    EXPECT_NEAR(driven[f].v[0], found.driven[f], 10 * tolerance);
  }
}

TEST(JointSlopes, AreThoseOfTheBalance) {
  int count[16] = {};
  for (const bool turned : {false, true}) {
    RandomMechanism random(turned ? 41 : 42);
    random.chain(turned);
    const auto m = random.make();
    const RandomState state(random, *m);
    std::vector<Joint> joints = m->joints();
    for (const Joint& joint : m->joints()) {  // welds close loops only: here, they take the places of hinges
      if (joint.type != JointType::revolute) continue;
      joints.push_back(joint);
      joints.back().type = JointType::fixed, joints.back().rows = 6, joints.back().freedoms = 0;
    }
    for (const Joint& joint : joints) {
      if (!JointSlopes::known(joint.type)) continue;
      SCOPED_TRACE(to_string(joint.type));
      for (const bool at_end : {false, true}) {
        Trial trial(random, *m, joint, state.q, at_end);
        check(trial);
        check_bend(trial);
        check_numbers(random, trial);
      }
      ++count[static_cast<int>(joint.type)];
    }
  }
  for (const JointType type : {JointType::revolute, JointType::continuous, JointType::ball, JointType::fixed}) {
    EXPECT_EQ(count[static_cast<int>(type)], 2) << to_string(type);
  }
}

/// Position, both rates and all ten numbers.
TEST(FreedomSlopes, AreThoseOfTheImpulse) {
  RandomMechanism random(43);
  for (int trial = 0; trial < 20; ++trial) {
    using T = Dual<13>;
    double x[13];
    T dual[13];
    for (int i = 0; i < 13; ++i) x[i] = i < 10 ? 1.5 + random.number() : 2 * random.number();
    for (int i = 0; i < 13; ++i) dual[i] = T(x[i], i);
    FreedomStep step;
    step.torque = random.number(), step.control = random.number(), step.load = 2, step.held = 0.1, step.driven = 0.2;
    step.reference = 20, step.grip = trial % 4 == 3 ? Grip::none : kGrips[trial % 4];
    step.mobility = trial < 10 ? 1 : 100;
    const T expected = FreedomImpulse<T>(dual, dual[10], dual[11], true, step, 0.02).at(dual[12], step);
    const FreedomSlopes found(x, x[10], x[11], x[12], true, step, 0.02);
    EXPECT_NEAR(found.impulse, expected.a, 1e-13);
    for (int i = 0; i < 10; ++i) EXPECT_NEAR(found.by_number[i], expected.v[i], 1e-13) << i;
    EXPECT_NEAR(found.by_position, expected.v[10], 1e-13);
    EXPECT_NEAR(found.by_rate, expected.v[11], 1e-13);
    EXPECT_NEAR(found.by_rate_after, expected.v[12], 1e-13);
  }
}

}  // namespace
}  // namespace kinegraph::maximal::joint_slopes_test
