#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "kinegraph/build/plan_parts.hpp"
#include "kinegraph/factor/common/gaussian_process.hpp"
#include "kinegraph/factor/goal/bounds.hpp"
#include "kinegraph/factor/goal/target.hpp"
#include "kinegraph/factor/goal/within.hpp"
#include "kinegraph/factor/screw/centre_of_mass_goal.hpp"
#include "kinegraph/factor/screw/frame_goal.hpp"
#include "kinegraph/mechanics/screw/chain_motion.hpp"

namespace kinegraph::build {
namespace {

/// Where a joint stands among all joints.
int joint_index(const PlanSetting& setting, const std::string& name) {
  const screw::Coordinate& c = setting.tree->coordinates()[setting.tree->find_coordinate(name)];
  return c.v - (setting.tree->freedoms() - setting.state.joints);
}

std::shared_ptr<const Factor> joint_goal(const PlanSetting& setting, const TaskGoal& goal) {
  std::vector<int> indices;
  std::vector<double> values;
  for (const auto& [name, value] : goal.joints) {
    indices.push_back(joint_index(setting, name.text));
    values.push_back(value);
  }
  return std::make_shared<Target>(goal.name, setting.state.joints, std::move(indices), std::move(values),
                                  joint_labels(setting, setting.tree->position_names()));
}

/// The centre of mass is that of the robot with what it carries then.
std::shared_ptr<const Factor> frame_goal(const PlanSetting& setting, const TaskGoal& goal, int knot) {
  const Vector3d at = goal.position.value_or(Vector3d::Constant(std::nan("")));
  const std::string name = goal.name + ": " + goal.frame.text;
  if (goal.frame.text == "com") {
    std::vector<int> axes;
    for (int i = 0; i < 3; ++i) {
      if (!std::isnan(at[i])) axes.push_back(i);
    }
    return std::make_shared<screw::CentreOfMassGoal>(name, setting.tree_at(knot), axes, at);
  }
  const screw::LinkPlace& place = setting.tree->links()[setting.tree->robot().find_link(goal.frame.text)];
  screw::GoalPose pose;
  pose.rotation = goal.rotation.has_value();
  if (pose.rotation) pose.X_WG.R = goal.rotation->toRotationMatrix();
  for (int i = 0; i < 3; ++i) {
    pose.axis[i] = !std::isnan(at[i]);
    pose.X_WG.p[i] = pose.axis[i] ? at[i] : 0;
  }
  const screw::Transform<double> X_LT(Matrix3d::Identity(), goal.offset);
  return std::make_shared<screw::FrameGoal>(name, setting.tree, place.body, place.X_BL * X_LT, pose);
}

/// As the goal asks: must be, must be near, or the nearer the better.
void add_goal(PlanProblem& problem, const TaskGoal& goal, const std::shared_ptr<const Factor>& factor,
              const std::vector<Key>& keys, const Noise& noise) {
  if (goal.sigma > 0) {
    problem.graph.add(factor, keys, Role::cost, Noise::isotropic(goal.sigma));
  } else if (goal.tolerance > 0) {
    problem.graph.add(std::make_shared<Within>(factor, goal.tolerance), keys, Role::inequality, noise);
  } else {
    problem.graph.add(factor, keys, Role::equality, noise);
  }
}

/// What must not move for all to be at rest: freedoms of the base, and joints.
struct Resting {
  std::vector<int> base, joints;
};

/// Takes out of a row what others span; false: nothing is left of it. Else it is one of them from then on.
bool add_independent(Eigen::VectorXd row, std::vector<Eigen::VectorXd>& spanned) {
  constexpr double kDependent = 1e-6;
  const double size = row.norm();
  for (int twice = 0; twice < 2; ++twice) {
    for (const Eigen::VectorXd& other : spanned) row -= other.dot(row) * other;
  }
  if (!(row.norm() > kDependent * size)) return false;
  spanned.push_back(row.normalized());
  return true;
}

/// Points that stand do not move: where that stops a freedom, its own rest would be the same row again. Of the others,
/// from the base outward, those that no earlier ones stop. Looked at beside the start: there legs may be stretched.
Resting at_rest(const PlanSetting& setting, int knot) {
  constexpr double kBeside = 0.1;  // rad or m
  const screw::Tree& tree = *setting.tree;
  const int n = tree.freedoms(), first = n - setting.state.joints;
  Eigen::VectorXd q = setting.start_q;
  for (int i = 0; i < setting.state.joints; ++i) q[q.size() - setting.state.joints + i] += kBeside * std::cos(i);
  std::vector<Eigen::VectorXd> spanned;
  for (const PlanContact& contact : setting.contacts) {
    if (!setting.stands(contact, knot, false)) continue;
    screw::ChainMotion chain(setting.tree, contact.point.body);
    chain.set(q.data(), nullptr, nullptr);
    const Vector3d p = chain.pose() * contact.point.at;
    Eigen::MatrixXd rows = Eigen::MatrixXd::Zero(3, n);
    for (const auto& column : chain.columns()) {
      rows.col(column.freedom) = column.J.tail<3>() + column.J.head<3>().cross(p);
    }
    for (int i = 0; i < 3; ++i) add_independent(rows.row(i), spanned);
  }
  Resting rests;
  for (int i = 0; i < n; ++i) {
    if (!add_independent(Eigen::VectorXd::Unit(n, i), spanned)) continue;
    (i < first ? rests.base : rests.joints).push_back(i < first ? i : i - first);
  }
  return rests;
}

void add_rest(PlanProblem& problem, const TaskGoal& goal, int knot, const Resting& rests, const Noise& noise) {
  const PlanSetting& setting = *problem.setting;
  const std::vector<std::string>& rates = setting.tree->velocity_names();
  const PlanKeys at{knot, false};
  TaskGoal as_rest = goal;
  as_rest.tolerance = 0;  // is of positions
  const auto add = [&](const std::vector<int>& which, int of, Labels labels, Key key) {
    if (which.empty()) return;
    const std::vector<double> zeros(which.size(), 0.0);
    add_goal(problem, as_rest, std::make_shared<Target>(goal.name + ": rest", of, which, zeros, std::move(labels)),
             {key}, noise);
  };
  add(rests.joints, setting.state.joints, joint_labels(setting, rates), at.velocity());
  if (setting.state.floating) add(rests.base, 6, Labels(rates.begin(), rates.begin() + 6), at.twist());
}

}  // namespace

void add_goals(PlanProblem& problem, const Noise& noise) {
  const PlanSetting& setting = *problem.setting;
  std::map<std::vector<bool>, Resting> resting;  // by the contacts that stand
  for (const TaskGoal& goal : setting.task.goals) {
    const auto joints = goal.joints.empty() ? nullptr : joint_goal(setting, goal);
    std::map<bool, std::shared_ptr<const Factor>> frames;  // without the payload, and with it
    for (int k = setting.task.knot(goal.time); k <= setting.task.knot(goal.until); ++k) {
      if (k == 0) continue;  // the start is given
      const PlanKeys at{k, false};
      std::vector<Key> position;
      at.add_position(setting.state, position);
      if (joints) add_goal(problem, goal, joints, {at.position()}, noise);
      if (goal.frame.given()) {
        std::shared_ptr<const Factor>& frame = frames[setting.carries(k)];
        if (!frame) frame = frame_goal(setting, goal, k);
        add_goal(problem, goal, frame, position, noise);
      }
      if (!goal.rest) continue;
      std::vector<bool> standing;
      for (const PlanContact& contact : setting.contacts) standing.push_back(setting.stands(contact, k, false));
      auto known = resting.find(standing);
      if (known == resting.end()) known = resting.emplace(standing, at_rest(setting, k)).first;
      add_rest(problem, goal, k, known->second, noise);
    }
  }
}

void add_paths(PlanProblem& problem, const Noise& noise) {
  const PlanSetting& setting = *problem.setting;
  for (const TaskPath& path : setting.task.paths) {
    TaskGoal goal;
    goal.name = path.name;
    goal.frame = path.frame;
    goal.offset = path.offset;
    goal.sigma = path.sigma, goal.tolerance = path.tolerance;
    for (int k = 1; k < setting.knots(); ++k) {
      if (setting.time(k) < path.points.front().first - 1e-9 || setting.time(k) > path.points.back().first + 1e-9)
        continue;
      goal.position = path.at(setting.time(k));
      if (goal.position->array().isNaN().all()) continue;
      std::vector<Key> keys;
      PlanKeys{k, false}.add_position(setting.state, keys);
      add_goal(problem, goal, frame_goal(setting, goal, k), keys, noise);
    }
  }
}

void add_limits(PlanProblem& problem) {
  const PlanSetting& setting = *problem.setting;
  std::vector<double> slowest, weakest;
  for (const double speed : setting.speed) slowest.push_back(-speed);
  for (const double effort : setting.effort) weakest.push_back(-effort);
  std::vector<std::string> motors;
  for (const int motor : setting.motors) motors.push_back(setting.tree->torque_names()[motor]);
  const auto position = std::make_shared<Bounds>("limit", setting.lower, setting.upper,
                                                 joint_labels(setting, setting.tree->position_names()));
  const auto velocity =
      std::make_shared<Bounds>("limit", slowest, setting.speed, joint_labels(setting, setting.tree->velocity_names()));
  const auto torque = std::make_shared<Bounds>("limit", weakest, setting.effort, motors);
  each_moment(setting, [&](int knot, bool middle) {
    const PlanKeys at{knot, middle};
    const bool given = knot == 0 && !middle;
    if (position->any() && !given && !middle) problem.graph.add(position, {at.position()}, Role::inequality);
    if (velocity->any() && !given && !middle) problem.graph.add(velocity, {at.velocity()}, Role::inequality);
    if (torque->any()) problem.graph.add(torque, {at.input()}, Role::inequality);
  });
}

namespace {

/// σ of a moment, so that a sum of squares over all moments is one over knots. Of Hermite-Simpson Simpson's rule,
///
///     Σ w u² ≈ 1/h ∫ u² dt,      w = 1/6, 4/6, 2/6, 4/6, … 4/6, 1/6
///
/// for with equal weights a control in the middle, which moves twice as much as one at a knot, would be twice as large.
Noise share(const PlanSetting& setting, int knot, bool middle, double sigma) {
  const bool end = knot == 0 || knot == setting.task.steps;
  const double weight = !setting.has_middles() ? 1 : middle ? 4.0 / 6 : end ? 1.0 / 6 : 2.0 / 6;
  return Noise::isotropic(sigma / std::sqrt(weight));
}

/// A cost on numbers of one vector, at every knot, and in every middle if that has them.
void add_least(PlanProblem& problem, const std::string& name, Kind kind, int size, std::vector<int> indices,
               double sigma, const Labels& labels) {
  if (indices.empty()) return;
  const std::vector<double> zeros(indices.size(), 0.0);
  const auto factor = std::make_shared<Target>(name, size, std::move(indices), zeros, labels);
  const PlanSetting& setting = *problem.setting;
  each_moment(setting, [&](int knot, bool middle) {
    if (knot == 0 && !middle && kind == Kind::velocity) return;  // given
    if (middle && kind != Kind::input) return;
    problem.graph.add(factor, {PlanKeys{knot, middle}.key(kind)}, Role::cost,
                      kind == Kind::input ? share(setting, knot, middle, sigma) : Noise::isotropic(sigma));
  });
}

void add_smoothness(PlanProblem& problem, const std::vector<int>& joints, double s) {
  const PlanSetting& setting = *problem.setting;
  const double h = setting.task.step();
  if (joints.empty()) return;
  const auto factor = std::make_shared<GaussianProcess>(setting.state.joints, joints, h,
                                                        joint_labels(setting, setting.tree->position_names()));
  const Noise noise = GaussianProcess::noise(static_cast<int>(joints.size()), h, s);
  StepFactors steps(factor, {0, 1, 2, 0, 1, 2});  // smooth in the time of the task
  for (int k = 0; k < setting.task.steps; ++k) {
    const PlanKeys a{k, false}, b{k + 1, false};
    steps.add(problem, k, {a.position(), a.velocity(), a.acceleration(), b.position(), b.velocity(), b.acceleration()},
              Role::cost, noise);
  }
}

void add_least_forces(PlanProblem& problem, double sigma) {
  const PlanSetting& setting = *problem.setting;
  const auto factor = std::make_shared<Target>("force", 3, std::vector<int>{0, 1, 2}, std::vector<double>(3, 0.0));
  each_moment(setting, [&](int knot, bool middle) {
    for (const int contact : setting.bearing(knot, middle)) {
      problem.graph.add(factor, {PlanKeys{knot, middle}.force(contact)}, Role::cost,
                        share(setting, knot, middle, sigma));
    }
  });
}

}  // namespace

void add_objectives(PlanProblem& problem) {
  const PlanSetting& setting = *problem.setting;
  const int n = setting.state.joints, first = setting.tree->freedoms() - n;
  for (const TaskObjective& objective : setting.task.objectives) {
    std::vector<int> chosen;  // joints
    for (int i = 0; i < n; ++i) {
      const auto named = [&](const TaskName& name) { return joint_index(setting, name.text) == i; };
      if (objective.joints.empty() || std::any_of(objective.joints.begin(), objective.joints.end(), named)) {
        chosen.push_back(i);
      }
    }
    std::vector<int> motors;
    std::vector<std::string> names;
    for (std::size_t m = 0; m < setting.motors.size(); ++m) {
      names.push_back(setting.tree->torque_names()[setting.motors[m]]);
      if (std::find(chosen.begin(), chosen.end(), setting.motors[m] - first) != chosen.end()) {
        motors.push_back(static_cast<int>(m));
      }
    }
    switch (objective.type) {
      case TaskObjective::Type::torque:
        add_least(problem, "torque", Kind::input, static_cast<int>(setting.motors.size()), motors, objective.sigma,
                  names);
        break;
      case TaskObjective::Type::velocity:
        add_least(problem, "velocity", Kind::velocity, n, chosen, objective.sigma,
                  joint_labels(setting, setting.tree->velocity_names()));
        break;
      case TaskObjective::Type::acceleration:
        add_least(problem, "acceleration", Kind::acceleration, n, chosen, objective.sigma,
                  joint_labels(setting, setting.tree->acceleration_names()));
        break;
      case TaskObjective::Type::smoothness:
        add_smoothness(problem, chosen, objective.sigma);
        break;
      case TaskObjective::Type::time:  // plan_phases.cpp
        break;
      case TaskObjective::Type::force:
        add_least_forces(problem, objective.sigma);
        break;
    }
  }
}

}  // namespace kinegraph::build
