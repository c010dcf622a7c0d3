#include "kinegraph/task/plan_roller.hpp"

#include <algorithm>
#include <cmath>

namespace kinegraph::task {

using build::PlanProblem;
using build::PlanSample;
using build::PlanSetting;

PlannedField::PlannedField(const PlanSetting& setting, const std::shared_ptr<const screw::Tree>& tree,
                           PlanFriction friction)
    : setting_(setting),
      tree_(tree),
      dynamics_(tree, build::given_forward(*tree)),
      tau_(tree->freedoms(), 0.0),
      loads_(tree->bodies().size(), screw::Vector6d::Zero()),
      friction_speed_(tree->freedoms(),
                      friction == PlanFriction::own ? screw::kFrictionSpeed : setting.task.friction_speed),
      response_(tree, tree->freedoms(), friction_speed_.data()),
      poses_(tree->bodies().size()) {
  surroundings_.gravity = tree->gravity();
  surroundings_.friction_speed = friction_speed_.data();
  if (!setting.contacts.empty()) surroundings_.loads = loads_.data();
}

bool PlannedField::rates(double t, const double* q, const double* v, double* a, double*) {
  const auto [w0, wm, w1] = weights(t);
  std::fill(tau_.begin(), tau_.end(), 0.0);
  for (std::size_t i = 0; i < setting_.motors.size(); ++i) {
    tau_[setting_.motors[i]] = w0 * from_->u[i] + (middle_ ? wm * middle_->u[i] : 0) + w1 * to_->u[i];
  }
  if (!setting_.contacts.empty()) {
    screw::body_poses(*tree_, q, poses_);
    std::fill(loads_.begin(), loads_.end(), screw::Vector6d::Zero());
    for (std::size_t c = 0; c < setting_.contacts.size(); ++c) {
      const Eigen::Vector3d f = force(c, t);
      const screw::BodyPoint& point = setting_.contacts[c].point;
      const Eigen::Vector3d f_B = poses_[point.body].R.transpose() * f;
      loads_[point.body].head<3>() += point.at.cross(f_B);
      loads_[point.body].tail<3>() += f_B;
    }
  }
  return dynamics_.solve(q, v, a, tau_.data(), surroundings_).ok;
}

double PlannedField::stiffness(const double* q) {
  const int n = tree_->freedoms();
  const std::vector<double> rest(n, 0.0);
  std::vector<double> idle(n), pushed(n);
  screw::Surroundings alone;
  alone.joint_forces = false;
  std::fill(tau_.begin(), tau_.end(), 0.0);
  if (!dynamics_.solve(q, rest.data(), idle.data(), tau_.data(), alone).ok) return 0;
  double sum = 0;
  for (const screw::Coordinate& c : tree_->coordinates()) {
    for (int i = 0; i < c.freedoms; ++i) {
      const double slope = c.dynamics[i].damping + c.dynamics[i].friction / friction_speed_[c.v + i];
      if (slope == 0) continue;
      tau_[c.v + i] = 1;
      if (dynamics_.solve(q, rest.data(), pushed.data(), tau_.data(), alone).ok) {
        sum += slope * std::abs(pushed[c.v + i] - idle[c.v + i]);
      }
      tau_[c.v + i] = 0;
    }
  }
  return sum;
}

Eigen::Vector3d PlannedField::force(std::size_t contact, double t) const {
  const auto [w0, wm, w1] = weights(t);
  const Eigen::Vector3d ends = w0 * from_->forces[contact] + w1 * to_->forces[contact];
  return middle_ ? Eigen::Vector3d(ends + wm * middle_->forces[contact]) : ends;
}

std::array<double, 3> PlannedField::weights(double t) const {
  const double s = std::clamp((t - start_) / length_, 0.0, 1.0);
  if (middle_) return {(1 - s) * (1 - 2 * s), 4 * s * (1 - s), s * (2 * s - 1)};
  if (setting_.task.collocation == Collocation::euler) return {1, 0, 0};
  return {1 - s, 0, s};
}

namespace {

/// The torques that would give the sample's accelerations with another load: where a payload is taken or left between
/// two intervals, each sees its own.
PlanSample with_load(const PlanSetting& setting, const std::shared_ptr<const screw::Tree>& tree, PlanSample sample) {
  std::vector<screw::BodyPoint> points;
  std::vector<const double*> forces;
  for (std::size_t c = 0; c < setting.contacts.size(); ++c) {
    points.push_back(setting.contacts[c].point);
    forces.push_back(sample.forces[c].data());
  }
  screw::InverseDynamics dynamics(tree, points, setting.task.friction_speed);
  Eigen::VectorXd tau(tree->freedoms());
  dynamics.evaluate(sample.q.data(), sample.v.data(), sample.a.data(), forces.data(), {.tau = tau.data()});
  for (std::size_t i = 0; i < setting.motors.size(); ++i) sample.u[i] = tau[setting.motors[i]];
  return sample;
}

/// A step of RK4 is stable for decays of up to 2.78 per step; it is accurate below one. The model's own dry friction
/// turns round within far less: there the midpoint rule steps, which is implicit and of second order.
constexpr double kDecayPerStep = 1;
constexpr int kMostParts = 1000, kMidpointParts = 8;

bool has_dry_friction(const screw::Tree& tree) {
  const auto& all = tree.coordinates();
  return std::any_of(all.begin(), all.end(), [](const screw::Coordinate& c) {
    return std::any_of(c.dynamics.begin(), c.dynamics.end(), [](const JointDynamics& d) { return d.friction != 0; });
  });
}

}  // namespace

StepRoller::StepRoller(const PlanProblem& problem, int divisions, PlanFriction friction)
    : problem_(problem),
      setting_(*problem.setting),
      divisions_(divisions),
      sticks_(friction == PlanFriction::own && has_dry_friction(*setting_.tree)),
      scheme_(*step::find_scheme(sticks_ ? "implicit-midpoint" : "rk4")),
      bare_(setting_, setting_.tree, friction) {
  if (setting_.loaded) loaded_ = std::make_unique<PlannedField>(setting_, setting_.loaded, friction);
}

StepInputs StepRoller::inputs(int k, PlanSample end) const {
  StepInputs out{problem_.sample(k), {}, std::move(end), setting_.carries(k) != setting_.carries(k + 1)};
  if (setting_.has_middles()) out.middle = problem_.sample(k, true);
  if (out.end_is_other) {
    out.to = with_load(setting_, setting_.tree_at(k), std::move(out.to));
  }
  return out;
}

bool StepRoller::set_acceleration(int k, PlanSample& sample) {
  PlannedField& field = this->field(k);
  field.set_interval(problem_.time(k), 1, &sample, nullptr, &sample);
  return field.rates(problem_.time(k), sample.q.data(), sample.v.data(), sample.a.data(), nullptr);
}

int StepRoller::parts(int k, const double* q) {
  if (sticks_) return kMidpointParts;
  const double decay = problem_.step(k) / divisions_ * field(k).stiffness(q) / kDecayPerStep;
  return decay > 1 ? static_cast<int>(std::min(std::ceil(decay), static_cast<double>(kMostParts))) : 1;
}

bool StepRoller::finite(const step::LieStepper& stepper) const {
  const auto all = [](const std::vector<double>& x) {
    return std::all_of(x.begin(), x.end(), [](double y) { return std::isfinite(y); });
  };
  return all(stepper.q()) && all(stepper.v()) && all(stepper.a());
}

}  // namespace kinegraph::task
