#include <Eigen/QR>
#include <cmath>
#include <map>

#include "kinegraph/build/plan_parts.hpp"

namespace kinegraph::build {
namespace {

/// Two feet do not turn the robot about the line between them; rounding may seem to, by enormous forces.
constexpr double kRankless = 1e-9;

Eigen::VectorXd local(const screw::Tree& tree, const Eigen::VectorXd& from, const Eigen::VectorXd& to) {
  Eigen::VectorXd delta(tree.freedoms());
  tree.local(from.data(), to.data(), delta.data());
  return delta;
}

Eigen::VectorXd moved(const screw::Tree& tree, const Eigen::VectorXd& q, const Eigen::VectorXd& delta) {
  Eigen::VectorXd to(q.size());
  tree.retract(q.data(), delta.data(), to.data());
  return to;
}

/// Torques, and forces of least norm that together balance the rows without a motor, as far as contacts can.
void balance(const PlanSetting& setting, const std::vector<int>& bearing, screw::InverseDynamics& dynamics,
             PlanSample& sample) {
  const int n = setting.tree->freedoms(), m = static_cast<int>(bearing.size());
  Eigen::VectorXd tau(n);
  Eigen::MatrixXd scratch(n, 3 * n), by_force(n, 3 * std::max(1, m));
  const std::vector<Eigen::Vector3d> none(m, Eigen::Vector3d::Zero());
  std::vector<const double*> forces;
  for (const Eigen::Vector3d& f : none) forces.push_back(f.data());
  dynamics.evaluate(sample.q.data(), sample.v.data(), sample.a.data(), forces.data(),
                    {tau.data(), scratch.data(), scratch.data() + n * n, scratch.data() + 2 * n * n,
                     m > 0 ? by_force.data() : nullptr});
  if (m > 0 && setting.state.floating) {
    Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> forces_on_base;
    forces_on_base.setThreshold(kRankless);
    forces_on_base.compute(by_force.topLeftCorner(6, 3 * m));
    Eigen::VectorXd f = forces_on_base.solve(-tau.head<6>());
    for (int i = 0; i < m; ++i) {
      if (f[3 * i + 2] < 0) f.segment<3>(3 * i).setZero();  // contacts do not pull
    }
    tau += by_force.leftCols(3 * m) * f;
    for (int i = 0; i < m; ++i) sample.forces[bearing[i]] = f.segment<3>(3 * i);
  }
  for (std::size_t i = 0; i < setting.motors.size(); ++i) sample.u[i] = tau[setting.motors[i]];
}

}  // namespace

std::vector<Eigen::VectorXd> interpolated(const PlanSetting& setting,
                                          const std::vector<std::pair<int, Eigen::VectorXd>>& via) {
  std::map<int, Eigen::VectorXd> known{{0, setting.start_q}};
  for (const auto& [knot, q] : via) known[knot] = q;
  for (const TaskGoal& goal : setting.task.goals) {
    if (goal.joints.empty()) continue;
    for (const double time : {goal.time, goal.until}) {
      const int knot = setting.task.knot(time);
      if (knot == 0) continue;
      auto place = known.find(knot);
      if (place == known.end()) place = known.emplace(knot, std::prev(known.upper_bound(knot))->second).first;
      for (const auto& [name, value] : goal.joints) {
        place->second[setting.tree->coordinates()[setting.tree->find_coordinate(name.text)].q] = value;
      }
    }
  }
  std::vector<Eigen::VectorXd> all;
  for (int k = 0; k < setting.knots(); ++k) {
    const auto after = known.lower_bound(k);
    if (after == known.end()) {
      all.push_back(known.rbegin()->second);
    } else if (after->first == k) {
      all.push_back(after->second);
    } else {
      const auto before = std::prev(after);
      const double s = static_cast<double>(k - before->first) / (after->first - before->first);
      const double smooth = s * s * (3 - 2 * s);
      all.push_back(moved(*setting.tree, before->second, smooth * local(*setting.tree, before->second, after->second)));
    }
  }
  if (setting.state.floating && !setting.contacts.empty()) follow_steps(setting, all);
  return all;
}

void guess(PlanProblem& problem, const std::vector<Eigen::VectorXd>& q) {
  const PlanSetting& setting = *problem.setting;
  const screw::Tree& tree = *setting.tree;
  const int last = setting.task.steps;
  const double h = setting.task.step();
  std::vector<Eigen::VectorXd> v(q.size()), a(q.size());
  for (int k = 0; k <= last; ++k) {
    const int from = std::max(0, k - 1), to = std::min(last, k + 1);
    v[k] = k == 0 ? setting.start_v : Eigen::VectorXd(local(tree, q[from], q[to]) / (h * (to - from)));
  }
  for (int k = 0; k <= last; ++k) {
    const int from = std::max(0, k - 1), to = std::min(last, k + 1);
    a[k] = (v[to] - v[from]) / (h * (to - from));
  }
  std::map<std::vector<int>, screw::InverseDynamics> dynamics;
  each_moment(setting, [&](int k, bool middle) {
    const std::vector<int> bearing = setting.bearing(k, middle);
    auto found = dynamics.find(bearing);
    if (found == dynamics.end()) {
      std::vector<screw::BodyPoint> points;
      for (const int contact : bearing) points.push_back(setting.contacts[contact].point);
      found =
          dynamics.emplace(bearing, screw::InverseDynamics(setting.tree, points, setting.task.friction_speed)).first;
    }
    PlanSample sample = problem.sample(k, middle);
    const int next = middle ? k + 1 : k;
    sample.q = k == 0 && !middle ? setting.start_q : moved(tree, q[k], 0.5 * local(tree, q[k], q[next]));
    sample.v = 0.5 * (v[k] + v[next]);
    sample.a = 0.5 * (a[k] + a[next]);
    balance(setting, bearing, found->second, sample);
    problem.set(k, middle, sample);
  });
}

}  // namespace kinegraph::build
