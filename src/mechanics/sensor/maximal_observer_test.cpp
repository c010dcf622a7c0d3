#include <gtest/gtest.h>

#include "kinegraph/mechanics/maximal/mechanisms_test.hpp"
#include "kinegraph/mechanics/sensor/sensors_test.hpp"

namespace kinegraph::sensor::maximal_observer_test {
namespace {

using maximal::Mechanism;
using maximal::RandomMechanism;
using Vector = Eigen::VectorXd;

Model equipped(RandomMechanism& random, RandomInstant& numbers) {
  random.chain(true);
  random.robot.joints.front().type = JointType::floating;  // so that every link moves
  Model model;
  model.robot = random.robot;
  equip(model, numbers);
  return model;
}

/// The state of a tree by its bodies; accelerations by differences along the motion.
Instant by_bodies(const Mechanism& m, const Instant& tree) {
  const auto at = [&](double t, Vector& q, Vector& v) {
    Vector q_tree(tree.q.size());
    const Vector step = t * tree.v + 0.5 * t * t * tree.a, rates = tree.v + t * tree.a;
    m.tree().retract(tree.q.data(), step.data(), q_tree.data());
    q.resize(m.stored()), v.resize(m.tangent());
    maximal::poses_of(m, m.numbers(), q_tree.data(), q.data());
    maximal::velocities_of(m, m.numbers(), q_tree.data(), rates.data(), v.data());
  };
  Instant x;
  x.t = tree.t, x.tau = tree.tau, x.reaction = tree.reaction;
  Vector q, ahead, behind, unused;
  at(1e-4, unused, ahead);
  at(-1e-4, unused, behind);
  at(0, q, x.v);
  x.a = (ahead - behind) / 2e-4;
  x.q.resize(m.stored() + m.tree().stored());
  x.q << q, tree.q;
  return x;
}

TEST(MaximalObserver, ReadsWhatTheScrewObserverReads) {
  RandomMechanism random(3);
  RandomInstant numbers(4);
  const Model model = equipped(random, numbers);
  const auto mechanism = *Mechanism::make(model.robot);
  const screw::Tree& tree = mechanism->tree();
  const auto screw = make_observer(model, mechanism->shared_tree()), bodies = make_observer(model, mechanism);
  Vector q = random.position(tree);
  for (const screw::Coordinate& c : tree.coordinates()) {
    if (c.type == JointType::revolute) q[c.q] += 12.5;  // two turns on
  }
  const Instant x = numbers.at(q, tree.freedoms(), 6 * static_cast<int>(tree.bodies().size()), tree.freedoms(), 0);
  const Instant y = by_bodies(*mechanism, x);
  for (int i = 0; i < screw->sensors(); ++i) {
    const Vector difference = reading(*screw, x, i) - reading(*bodies, y, i);
    const double tolerance = screw->needs_acceleration(i) ? 1e-5 : 1e-11;
    EXPECT_LT(difference.cwiseAbs().maxCoeff(), tolerance) << screw->sensor(i).name;
  }
}

TEST(MaximalObserver, DerivativesAreThoseOfDifferences) {
  RandomMechanism random(5);
  RandomInstant numbers(6);
  const Model model = equipped(random, numbers);
  const auto mechanism = *Mechanism::make(model.robot);
  const screw::Tree& tree = mechanism->tree();
  const auto observer = make_observer(model, mechanism);
  const maximal::RandomState state(random, *mechanism);
  Vector q(mechanism->stored() + tree.stored());
  q << state.q, state.q_tree;
  const auto retract = [&](const Vector& at, const Vector& delta) {
    Vector out = at;
    maximal::retract(static_cast<int>(mechanism->bodies().size()), at.data(), delta.data(), out.data());
    return out;
  };
  for (const int directions : {2, 11}) {
    const Instant x =
        numbers.at(q, mechanism->tangent(), 6 * static_cast<int>(tree.bodies().size()), tree.freedoms(), directions);
    expect_derivatives(*observer, x, retract);
  }
}

}  // namespace
}  // namespace kinegraph::sensor::maximal_observer_test
