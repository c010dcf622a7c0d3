#include "kinegraph/build/plan.hpp"

#include <map>

#include "kinegraph/build/plan_parts.hpp"
#include "kinegraph/factor/common/euler.hpp"
#include "kinegraph/factor/common/hermite_midpoint.hpp"
#include "kinegraph/factor/common/simpson.hpp"
#include "kinegraph/factor/common/trapezoidal.hpp"
#include "kinegraph/factor/screw/pose_link.hpp"
#include "kinegraph/factor/screw/whole_dynamics.hpp"

namespace kinegraph::build {

void PlanKeys::add_position(const screw::StateSlots& state, std::vector<Key>& keys) const {
  if (state.floating) keys.push_back(pose());
  if (state.joints > 0) keys.push_back(position());
}
void PlanKeys::add_rate(const screw::StateSlots& state, std::vector<Key>& keys) const {
  if (state.floating) keys.push_back(twist());
  if (state.joints > 0) keys.push_back(velocity());
}
void PlanKeys::add_acceleration(const screw::StateSlots& state, std::vector<Key>& keys) const {
  if (state.floating) keys.push_back(twist_acceleration());
  if (state.joints > 0) keys.push_back(acceleration());
}

namespace {

void insert_variables(PlanProblem& problem, int knot, bool middle) {
  const PlanSetting& setting = *problem.setting;
  const PlanKeys at{knot, middle};
  const auto zero = [&](const Key& key, int size) { problem.values.insert(key, Eigen::VectorXd::Zero(size)); };
  if (setting.state.floating) {
    problem.values.insert(at.pose(), SE3::load(setting.start_q.data()));
    zero(at.twist(), 6);
    zero(at.twist_acceleration(), 6);
  }
  if (const int n = setting.state.joints; n > 0) {
    problem.values.insert(at.position(), Eigen::VectorXd(setting.start_q.tail(n)));
    zero(at.velocity(), n);
    zero(at.acceleration(), n);
  }
  if (!setting.motors.empty()) zero(at.input(), static_cast<int>(setting.motors.size()));
  for (const int contact : setting.bearing(knot, middle)) zero(at.force(contact), 3);
}

/// Dynamics at every knot and middle. Contacts that bear differ: one factor for each set of them.
void add_dynamics(PlanProblem& problem, const Noise& noise) {
  const PlanSetting& setting = *problem.setting;
  std::map<std::pair<bool, std::vector<int>>, std::shared_ptr<const Factor>> factors;
  each_moment(setting, [&](int knot, bool middle) {
    const bool loaded = &setting.tree_at(knot) != setting.tree.get();
    const std::vector<int> bearing = setting.bearing(knot, middle);
    std::shared_ptr<const Factor>& factor = factors[{loaded, bearing}];
    if (!factor) {
      std::vector<screw::BodyPoint> points;
      for (const int contact : bearing) points.push_back(setting.contacts[contact].point);
      factor = std::make_shared<screw::WholeDynamics>(loaded ? setting.loaded : setting.tree, setting.motors, points);
    }
    const PlanKeys at{knot, middle};
    std::vector<Key> keys;
    at.add_position(setting.state, keys);
    at.add_rate(setting.state, keys);
    at.add_acceleration(setting.state, keys);
    if (!setting.motors.empty()) keys.push_back(at.input());
    for (const int contact : bearing) keys.push_back(at.force(contact));
    problem.graph.add(factor, keys, Role::equality, noise);
  });
}

/// Ties one quantity to its rate over an interval; `on_group`: the rule for poses, which are no vectors.
struct Link {
  std::shared_ptr<const Factor> end, middle;
};

Link vector_link(Collocation rule, int size, double h, const Labels& labels) {
  switch (rule) {
    case Collocation::euler:
      return {std::make_shared<Euler>(size, h, labels), nullptr};
    case Collocation::trapezoidal:
      return {std::make_shared<Trapezoidal>(size, h, labels), nullptr};
    case Collocation::hermite_simpson:
      return {std::make_shared<Simpson>(size, h, labels), std::make_shared<HermiteMidpoint>(size, h, labels)};
    case Collocation::none:
      break;
  }
  return {};
}

Link pose_link(Collocation rule, double h) {
  switch (rule) {
    case Collocation::euler:
      return {std::make_shared<screw::PoseEuler>(h), nullptr};
    case Collocation::trapezoidal:
      return {std::make_shared<screw::PoseTrapezoidal>(h), nullptr};
    case Collocation::hermite_simpson:
      return {std::make_shared<screw::PoseSimpson>(h), std::make_shared<screw::PoseMidpoint>(h)};
    case Collocation::none:
      break;
  }
  return {};
}

void add_link(PlanProblem& problem, const Link& link, Kind value, Kind rate, const Noise& noise) {
  const PlanSetting& setting = *problem.setting;
  if (!link.end) return;
  for (int k = 0; k < setting.task.steps; ++k) {
    const PlanKeys a{k, false}, m{k, true}, b{k + 1, false};
    std::vector<Key> keys;
    if (setting.task.collocation == Collocation::euler) {
      keys = {a.key(value), a.key(rate), b.key(value)};
    } else if (!link.middle) {
      keys = {a.key(value), a.key(rate), b.key(value), b.key(rate)};
    } else {
      keys = {a.key(value), b.key(value), a.key(rate), m.key(rate), b.key(rate)};
      if (value == Kind::pose) keys.insert(keys.begin() + 2, m.key(value));
      problem.graph.add(link.middle, {a.key(value), a.key(rate), b.key(value), b.key(rate), m.key(value)},
                        Role::equality, noise);
    }
    problem.graph.add(link.end, keys, Role::equality, noise);
  }
}

void add_collocation(PlanProblem& problem, const Noise& noise) {
  const PlanSetting& setting = *problem.setting;
  const double h = setting.task.step();
  const Collocation rule = setting.task.collocation;
  if (setting.state.floating) {
    add_link(problem, pose_link(rule, h), Kind::pose, Kind::twist, noise);
    const auto& names = setting.tree->velocity_names();
    add_link(problem, vector_link(rule, 6, h, Labels(names.begin(), names.begin() + 6)), Kind::twist,
             Kind::twist_acceleration, noise);
  }
  if (const int n = setting.state.joints; n > 0) {
    add_link(problem, vector_link(rule, n, h, joint_labels(setting, setting.tree->position_names())), Kind::position,
             Kind::velocity, noise);
    add_link(problem, vector_link(rule, n, h, joint_labels(setting, setting.tree->velocity_names())), Kind::velocity,
             Kind::acceleration, noise);
  }
}

}  // namespace

Labels joint_labels(const PlanSetting& setting, const std::vector<std::string>& names) {
  return {names.end() - setting.state.joints, names.end()};
}

PlanProblem PlanProblem::make(std::shared_ptr<const PlanSetting> setting, double sigma) {
  PlanProblem problem{std::move(setting), {}, {}};
  const PlanSetting& s = *problem.setting;
  each_moment(s, [&](int knot, bool middle) { insert_variables(problem, knot, middle); });
  const PlanKeys first{0, false};
  PlanSample start = problem.sample(0);
  start.q = s.start_q;
  start.v = s.start_v;
  problem.set(0, false, start);
  std::vector<Key> given;
  first.add_position(s.state, given);
  first.add_rate(s.state, given);
  for (const Key& key : given) problem.graph.known().insert(key);

  const Noise noise = Noise::isotropic(sigma);
  add_dynamics(problem, noise);
  add_collocation(problem, noise);
  add_goals(problem, noise);
  add_limits(problem);
  add_objectives(problem);
  add_contacts(problem, noise);
  add_clearances(problem);
  return problem;
}

PlanSample PlanProblem::sample(int knot, bool middle) const {
  const PlanSetting& s = *setting;
  const PlanKeys at{knot, middle};
  PlanSample out{Eigen::VectorXd(s.tree->stored()), Eigen::VectorXd(s.tree->freedoms()),
                 Eigen::VectorXd(s.tree->freedoms()), Eigen::VectorXd(s.motors.size()),
                 std::vector<Eigen::Vector3d>(s.contacts.size(), Eigen::Vector3d::Zero())};
  if (s.state.floating) {
    out.q.head<7>() = values.vector(at.pose());
    out.v.head<6>() = values.vector(at.twist());
    out.a.head<6>() = values.vector(at.twist_acceleration());
  }
  if (const int n = s.state.joints; n > 0) {
    out.q.tail(n) = values.vector(at.position());
    out.v.tail(n) = values.vector(at.velocity());
    out.a.tail(n) = values.vector(at.acceleration());
  }
  if (!s.motors.empty()) out.u = values.vector(at.input());
  for (const int contact : s.bearing(knot, middle)) out.forces[contact] = values.vector(at.force(contact));
  return out;
}

void PlanProblem::set(int knot, bool middle, const PlanSample& sample) {
  const PlanSetting& s = *setting;
  const PlanKeys at{knot, middle};
  const auto write = [&](const Key& key, const auto& numbers) {
    std::copy(numbers.begin(), numbers.end(), values.at(key).begin());
  };
  if (s.state.floating) {
    write(at.pose(), sample.q.head<7>());
    write(at.twist(), sample.v.head<6>());
    write(at.twist_acceleration(), sample.a.head<6>());
  }
  if (const int n = s.state.joints; n > 0) {
    write(at.position(), sample.q.tail(n));
    write(at.velocity(), sample.v.tail(n));
    write(at.acceleration(), sample.a.tail(n));
  }
  if (!s.motors.empty()) write(at.input(), sample.u);
  for (const int contact : s.bearing(knot, middle)) write(at.force(contact), sample.forces[contact]);
}

}  // namespace kinegraph::build
