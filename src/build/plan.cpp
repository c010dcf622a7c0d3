#include "kinegraph/build/plan.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "kinegraph/build/plan_parts.hpp"
#include "kinegraph/factor/common/euler.hpp"
#include "kinegraph/factor/common/hermite_simpson.hpp"
#include "kinegraph/factor/common/trapezoidal.hpp"
#include "kinegraph/factor/screw/at_middle.hpp"
#include "kinegraph/factor/screw/middle_state.hpp"
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

void PlanKeys::add_state(const PlanSetting& setting, std::vector<Key>& keys) const {
  for (int end = 0; end <= (middle ? 1 : 0); ++end) {
    const PlanKeys at{knot + end, false};
    at.add_position(setting.state, keys);
    at.add_rate(setting.state, keys);
    at.add_acceleration(setting.state, keys);
  }
}

std::shared_ptr<const Factor> at_moment(const PlanSetting& setting, int knot, bool middle,
                                        std::shared_ptr<const Factor> factor) {
  if (!middle) return factor;
  const PlanPhase* phase = setting.phase_of(knot);
  return std::make_shared<screw::AtMiddle>(std::move(factor), setting.state, 3, setting.task.step(),
                                           phase ? phase->nominal : 0);
}

namespace {

void insert_variables(PlanProblem& problem, int knot, bool middle) {
  const PlanSetting& setting = *problem.setting;
  const PlanKeys at{knot, middle};
  const auto zero = [&](const Key& key, int size) { problem.values.insert(key, Eigen::VectorXd::Zero(size)); };
  // a middle's state follows from the knots
  if (setting.state.floating && !middle) {
    problem.values.insert(at.pose(), SE3::load(setting.start_q.data()));
    zero(at.twist(), 6);
    zero(at.twist_acceleration(), 6);
  }
  if (const int n = setting.state.joints; n > 0 && !middle) {
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
  std::map<std::tuple<bool, bool, const PlanPhase*, std::vector<int>>, std::shared_ptr<const Factor>> factors;
  each_moment(setting, [&](int knot, bool middle) {
    const bool loaded = setting.carries(knot);
    const std::vector<int> bearing = setting.bearing(knot, middle);
    std::shared_ptr<const Factor>& factor =
        factors[{loaded, middle, middle ? setting.phase_of(knot) : nullptr, bearing}];
    if (!factor) {
      std::vector<screw::BodyPoint> points;
      for (const int contact : bearing) points.push_back(setting.contacts[contact].point);
      factor = at_moment(setting, knot, middle,
                         std::make_shared<screw::WholeDynamics>(setting.tree_at(knot), setting.motors, points,
                                                                setting.task.friction_speed));
    }
    const PlanKeys at{knot, middle};
    std::vector<Key> keys;
    at.add_state(setting, keys);
    if (!setting.motors.empty()) keys.push_back(at.input());
    for (const int contact : bearing) keys.push_back(at.force(contact));
    add_duration(setting, knot, middle, keys);
    problem.graph.add(factor, keys, Role::equality, noise);
  });
}

/// Ties a quantity to its rate over an interval; of a pose, which is no vector, and of a vector.
std::shared_ptr<const Factor> vector_link(Collocation rule, int size, double h, const Labels& labels) {
  switch (rule) {
    case Collocation::euler:
      return std::make_shared<Euler>(size, h, labels);
    case Collocation::trapezoidal:
      return std::make_shared<Trapezoidal>(size, h, labels);
    case Collocation::hermite_simpson:
      return std::make_shared<HermiteSimpson>(size, h, labels);
    case Collocation::none:
      break;
  }
  return nullptr;
}

std::shared_ptr<const Factor> pose_link(Collocation rule, double h) {
  switch (rule) {
    case Collocation::euler:
      return std::make_shared<screw::PoseEuler>(h);
    case Collocation::trapezoidal:
      return std::make_shared<screw::PoseTrapezoidal>(h);
    case Collocation::hermite_simpson:
      return std::make_shared<screw::PoseHermiteSimpson>(h);
    case Collocation::none:
      break;
  }
  return nullptr;
}

void add_link(PlanProblem& problem, const std::shared_ptr<const Factor>& link, Kind value, Kind rate, Kind second,
              const Noise& noise) {
  const Collocation rule = problem.setting->task.collocation;
  if (!link) return;
  std::vector<int> powers = {0, 1, 0, 1};
  if (rule == Collocation::euler) powers.pop_back();
  if (rule == Collocation::hermite_simpson) powers = {0, 1, 2, 0, 1, 2};
  StepFactors steps(link, powers);
  for (int k = 0; k < problem.setting->task.steps; ++k) {
    const PlanKeys a{k, false}, b{k + 1, false};
    std::vector<Key> keys = {a.key(value), a.key(rate), b.key(value), b.key(rate)};
    if (rule == Collocation::euler) keys.pop_back();
    if (rule == Collocation::hermite_simpson) {
      keys = {a.key(value), a.key(rate), a.key(second), b.key(value), b.key(rate), b.key(second)};
    }
    steps.add(problem, k, std::move(keys), Role::equality, noise);
  }
}

/// Of Hermite-Simpson, that of the rates gives the accelerations in the middles (MiddleState).
void add_collocation(PlanProblem& problem, const Noise& noise) {
  const PlanSetting& setting = *problem.setting;
  const double h = setting.task.step();
  const Collocation rule = setting.task.collocation;
  const bool rates = rule != Collocation::hermite_simpson;
  if (setting.state.floating) {
    add_link(problem, pose_link(rule, h), Kind::pose, Kind::twist, Kind::twist_acceleration, noise);
    const auto& names = setting.tree->velocity_names();
    if (rates) {
      add_link(problem, vector_link(rule, 6, h, Labels(names.begin(), names.begin() + 6)), Kind::twist,
               Kind::twist_acceleration, Kind::twist_acceleration, noise);
    }
  }
  if (const int n = setting.state.joints; n > 0) {
    add_link(problem, vector_link(rule, n, h, joint_labels(setting, setting.tree->position_names())), Kind::position,
             Kind::velocity, Kind::acceleration, noise);
    if (rates) {
      add_link(problem, vector_link(rule, n, h, joint_labels(setting, setting.tree->velocity_names())), Kind::velocity,
               Kind::acceleration, Kind::acceleration, noise);
    }
  }
}

}  // namespace

Labels joint_labels(const PlanSetting& setting, const std::vector<std::string>& names) {
  return {names.end() - setting.state.joints, names.end()};
}

PlanProblem PlanProblem::make(std::shared_ptr<const PlanSetting> setting, double sigma) {
  PlanProblem problem{std::move(setting), {}, {}};
  const PlanSetting& s = *problem.setting;
  for (const PlanPhase& phase : s.phases) {
    problem.values.insert(phase.duration(),
                          Eigen::VectorXd::Constant(1, std::clamp(phase.nominal, phase.least, phase.most)));
  }
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
  add_paths(problem, noise);
  add_limits(problem);
  add_objectives(problem);
  add_durations(problem);
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
  if (middle) {
    std::vector<Key> keys;
    std::vector<const double*> x;
    at.add_state(s, keys);
    for (const Key& key : keys) x.push_back(values.data(values.find(key)));
    screw::MiddleState state(s.state, step(knot));
    state.set(x, 3, false);
    std::copy(state.q.begin(), state.q.end(), out.q.begin());
    std::copy(state.v.begin(), state.v.end(), out.v.begin());
    std::copy(state.a.begin(), state.a.end(), out.a.begin());
  } else if (s.state.floating) {
    out.q.head<7>() = values.vector(at.pose());
    out.v.head<6>() = values.vector(at.twist());
    out.a.head<6>() = values.vector(at.twist_acceleration());
  }
  if (const int n = s.state.joints; n > 0 && !middle) {
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
  if (s.state.floating && !middle) {
    write(at.pose(), sample.q.head<7>());
    write(at.twist(), sample.v.head<6>());
    write(at.twist_acceleration(), sample.a.head<6>());
  }
  if (const int n = s.state.joints; n > 0 && !middle) {
    write(at.position(), sample.q.tail(n));
    write(at.velocity(), sample.v.tail(n));
    write(at.acceleration(), sample.a.tail(n));
  }
  if (!s.motors.empty()) write(at.input(), sample.u);
  for (const int contact : s.bearing(knot, middle)) write(at.force(contact), sample.forces[contact]);
}

}  // namespace kinegraph::build
