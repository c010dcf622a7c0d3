#include "kinegraph/build/plan_moment.hpp"

#include <algorithm>

#include "kinegraph/build/plan_parts.hpp"
#include "kinegraph/factor/goal/bounds.hpp"
#include "kinegraph/factor/goal/target.hpp"
#include "kinegraph/factor/screw/contact_point.hpp"
#include "kinegraph/factor/screw/frame_goal.hpp"
#include "kinegraph/factor/screw/whole_dynamics.hpp"
#include "kinegraph/mechanics/screw/kinematics.hpp"

namespace kinegraph::build {
namespace {

constexpr double kIdle = 1e3;  // σ that keeps what nothing asks for where it is, rad or m

/// Whether all variables of a factor are of this knot and of these kinds.
bool is_of(const BoundFactor& bound, int knot, std::initializer_list<Kind> kinds) {
  return std::all_of(bound.keys.begin(), bound.keys.end(), [&](const Key& key) {
    return key.step == knot && !key.half && std::find(kinds.begin(), kinds.end(), key.kind) != kinds.end();
  });
}

void add(PlanMoment& moment, std::shared_ptr<const Factor> factor, std::vector<Key> keys, Role role, bool yields) {
  for (Key& key : keys) key.step = 0;
  moment.graph.add(std::move(factor), std::move(keys), role, Noise::isotropic(yields ? 1 : 1 / PlanMoment::kFirm));
  moment.yields.push_back(yields);
}

std::shared_ptr<const Factor> place(const PlanSetting& setting, const std::string& name, const screw::BodyPoint& point,
                                    const Eigen::Vector3d& at) {
  screw::GoalPose there;
  there.X_WG.p = at;
  return std::make_shared<screw::FrameGoal>(name, setting.tree, point.body,
                                            screw::Transform<double>(Matrix3d::Identity(), point.at), there);
}

/// Points that stand at a knot: since the start, or on their ground.
void add_standing(const PlanSetting& setting, int knot, const std::vector<Key>& position, PlanMoment& moment) {
  screw::Poses poses(setting.tree->bodies().size());
  screw::body_poses(*setting.tree, setting.start_q.data(), poses);
  for (const PlanContact& contact : setting.contacts) {
    for (const auto& [first, last] : contact.closed) {
      if (knot < first || knot > last) continue;
      const screw::BodyPoint& point = contact.point;
      std::shared_ptr<const Factor> stands =
          std::make_shared<screw::PointHeight>(contact.name, setting.tree, point, contact.ground);
      if (first == 0) stands = place(setting, contact.name, point, poses[point.body] * point.at);
      add(moment, std::move(stands), position, Role::equality, false);
    }
  }
}

/// What nothing asks for stays about where it is.
void add_idle(const PlanSetting& setting, const std::vector<Key>& position, PlanMoment& moment) {
  const Noise idle = Noise::isotropic(kIdle);
  if (setting.state.floating) {
    screw::GoalPose pose;
    pose.X_WG = screw::Transform<double>(SE3::load(setting.start_q.data()));
    pose.rotation = true;
    moment.graph.add(std::make_shared<screw::FrameGoal>("idle", setting.tree, 0, screw::Transform<double>(), pose),
                     position, Role::cost, idle);
    moment.yields.push_back(true);
  }
  if (const int n = setting.state.joints; n > 0) {
    std::vector<int> all(n);
    for (int i = 0; i < n; ++i) all[i] = i;
    const Eigen::VectorXd q = setting.start_q.tail(n);
    moment.graph.add(std::make_shared<Target>("idle", n, all, std::vector<double>(q.begin(), q.end())),
                     {PlanKeys{}.position()}, Role::cost, idle);
    moment.yields.push_back(true);
  }
}

}  // namespace

PlanMoment posture(const PlanProblem& problem, int knot) {
  const PlanSetting& setting = *problem.setting;
  PlanMoment moment;
  bool asks = false;
  for (const BoundFactor& bound : problem.graph.factors()) {
    if (bound.role == Role::cost || !is_of(bound, knot, {Kind::pose, Kind::position})) continue;
    const Factor* const factor = bound.factor.get();
    if (dynamic_cast<const screw::Clearance*>(factor)) continue;  // has minima of its own
    const bool firm = dynamic_cast<const Bounds*>(factor) || dynamic_cast<const screw::PointHeight*>(factor);
    asks |= !firm;
    add(moment, bound.factor, bound.keys, bound.role, !firm);
  }
  if (!asks) return {};
  std::vector<Key> position;
  PlanKeys{}.add_position(setting.state, position);
  add_standing(setting, knot, position, moment);
  add_idle(setting, position, moment);
  if (setting.state.floating) moment.values.insert(PlanKeys{}.pose(), SE3::load(setting.start_q.data()));
  if (const int n = setting.state.joints; n > 0) {
    moment.values.insert(PlanKeys{}.position(), Eigen::VectorXd(setting.start_q.tail(n)));
  }
  return moment;
}

void set_posture(const PlanSetting& setting, const Eigen::VectorXd& q, PlanMoment& moment) {
  const auto write = [&](const Key& key, const auto& numbers) {
    std::copy(numbers.begin(), numbers.end(), moment.values.at(key).begin());
  };
  if (setting.state.floating) write(PlanKeys{}.pose(), q.head<7>());
  if (const int n = setting.state.joints; n > 0) write(PlanKeys{}.position(), q.tail(n));
}

PlanMoment stillness(const PlanProblem& problem, int knot) {
  const PlanSetting& setting = *problem.setting;
  const std::vector<int> bearing = setting.bearing(knot, false);
  PlanMoment moment;
  if (bearing.empty() || setting.motors.empty()) return moment;
  for (const BoundFactor& bound : problem.graph.factors()) {
    if (bound.role == Role::cost) continue;
    const bool moves = bound.factor->name() == "dynamics" && bound.keys.front().step == knot && !bound.keys.back().half;
    if (moves) add(moment, bound.factor, bound.keys, bound.role, false);
    if (is_of(bound, knot, {Kind::input})) add(moment, bound.factor, bound.keys, bound.role, true);
    if (is_of(bound, knot, {Kind::wrench})) add(moment, bound.factor, bound.keys, bound.role, false);
  }
  const PlanSample sample = problem.sample(knot);
  const PlanKeys now{};
  const auto hold = [&](const Key& key, int size) {
    moment.values.insert(key, Eigen::VectorXd::Zero(size));
    moment.graph.known().insert(key);
  };
  if (setting.state.floating) {
    moment.values.insert(now.pose(), SE3::load(sample.q.data()));
    hold(now.twist(), 6);
    hold(now.twist_acceleration(), 6);
    moment.graph.known().insert(now.pose());
  }
  const int n = setting.state.joints;
  moment.values.insert(now.position(), Eigen::VectorXd(sample.q.tail(n)));
  moment.graph.known().insert(now.position());
  hold(now.velocity(), n);
  hold(now.acceleration(), n);
  moment.values.insert(now.input(), sample.u);
  for (const int contact : bearing) moment.values.insert(now.force(contact), Eigen::VectorXd(sample.forces[contact]));
  return moment;
}

}  // namespace kinegraph::build
