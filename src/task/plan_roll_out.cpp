#include "kinegraph/task/plan_roll_out.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>

#include "kinegraph/build/dynamics.hpp"
#include "kinegraph/mechanics/screw/centre_of_mass.hpp"
#include "kinegraph/mechanics/screw/kinematics.hpp"
#include "kinegraph/step/lie_stepper.hpp"

namespace kinegraph::task {
namespace {

using build::PlanProblem;
using build::PlanSample;
using build::PlanSetting;

/// Forward dynamics under the torques and forces of one interval of a plan.
class PlannedField final : public step::Field {
 public:
  PlannedField(const PlanSetting& setting, const std::shared_ptr<const screw::Tree>& tree)
      : setting_(setting),
        tree_(tree),
        dynamics_(tree, build::given_forward(*tree)),
        tau_(tree->freedoms(), 0.0),
        loads_(tree->bodies().size(), screw::Vector6d::Zero()),
        friction_speed_(tree->freedoms(), setting.task.friction_speed),
        poses_(tree->bodies().size()) {
    surroundings_.gravity = tree->gravity();
    surroundings_.friction_speed = friction_speed_.data();
    if (!setting.contacts.empty()) surroundings_.loads = loads_.data();
  }

  void set_interval(double start, double length, const PlanSample* from, const PlanSample* middle,
                    const PlanSample* to) {
    start_ = start, length_ = length;
    from_ = from, middle_ = middle, to_ = to;
  }

  bool rates(double t, const double* q, const double* v, double* a, double*) override {
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
  const std::vector<double>& tau() const { return tau_; }

  /// A bound of the rates at which damping and dry friction bring joints to rest, 1/s:
  ///
  ///     ρ(M⁻¹ D) ≤ tr(M⁻¹ D) = Σ dᵢ (M⁻¹)ᵢᵢ,      dᵢ: damping + friction / v₀
  double stiffness(const double* q) {
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
        const double slope = c.dynamics[i].damping + c.dynamics[i].friction / setting_.task.friction_speed;
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

  Eigen::Vector3d force(std::size_t contact, double t) const {
    const auto [w0, wm, w1] = weights(t);
    const Eigen::Vector3d ends = w0 * from_->forces[contact] + w1 * to_->forces[contact];
    return middle_ ? Eigen::Vector3d(ends + wm * middle_->forces[contact]) : ends;
  }

 private:
  /// Of the start, the middle and the end of the interval: held, linear or quadratic between.
  std::array<double, 3> weights(double t) const {
    const double s = std::clamp((t - start_) / length_, 0.0, 1.0);
    if (middle_) return {(1 - s) * (1 - 2 * s), 4 * s * (1 - s), s * (2 * s - 1)};
    if (setting_.task.collocation == Collocation::euler) return {1, 0, 0};
    return {1 - s, 0, s};
  }

  const PlanSetting& setting_;
  std::shared_ptr<const screw::Tree> tree_;
  build::Dynamics dynamics_;
  screw::Surroundings surroundings_;
  std::vector<double> tau_;
  std::vector<screw::Vector6d> loads_;
  std::vector<double> friction_speed_;
  screw::Poses poses_;
  double start_ = 0, length_ = 1;
  const PlanSample *from_ = nullptr, *middle_ = nullptr, *to_ = nullptr;
};

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

/// A step of RK4 is stable for decays of up to 2.78 per step; it is accurate below one.
constexpr double kDecayPerStep = 1;
constexpr int kMostParts = 1000;

bool finite(const std::vector<double>& x) {
  return std::all_of(x.begin(), x.end(), [](double y) { return std::isfinite(y); });
}

}  // namespace

std::vector<std::string> plan_columns(const PlanSetting& setting) {
  std::vector<std::string> names = setting.tree->position_names();
  for (const auto* more :
       {&setting.tree->velocity_names(), &setting.tree->acceleration_names(), &setting.tree->torque_names()}) {
    names.insert(names.end(), more->begin(), more->end());
  }
  for (const build::PlanContact& contact : setting.contacts) {
    for (const char* axis : {".fx", ".fy", ".fz"}) names.push_back(contact.name + axis);
  }
  return names;
}

namespace {

/// One step of a plan after the other, as its torques make it.
class StepRoller {
 public:
  StepRoller(const PlanProblem& problem, int divisions)
      : problem_(problem), setting_(*problem.setting), divisions_(divisions), bare_(setting_, setting_.tree) {
    if (setting_.loaded) loaded_ = std::make_unique<PlannedField>(setting_, setting_.loaded);
  }

  /// Moves q and v from knot k to the next; `write` sees the state before every part, and the last one. False where it
  /// cannot go on.
  template <class Write>
  bool run(int k, std::vector<double>& q, std::vector<double>& v, const Write& write) {
    const double h = problem_.step(k) / divisions_;
    const bool carries = &setting_.tree_at(k) != setting_.tree.get();
    const bool will_carry = &setting_.tree_at(k + 1) != setting_.tree.get();
    PlannedField& field = carries ? *loaded_ : bare_;
    PlanSample from = problem_.sample(k), to = problem_.sample(k + 1), middle;
    if (setting_.has_middles()) middle = problem_.sample(k, true);
    if (carries != will_carry) to = with_load(setting_, carries ? setting_.loaded : setting_.tree, to);
    const double start = problem_.time(k);
    field.set_interval(start, problem_.step(k), &from, setting_.has_middles() ? &middle : nullptr, &to);
    step::LieStepper stepper(setting_.tree, field, *step::find_scheme("rk4"));
    const double decay = h * field.stiffness(q.data()) / kDecayPerStep;
    const int parts = decay > 1 ? static_cast<int>(std::min(std::ceil(decay), static_cast<double>(kMostParts))) : 1;
    if (!stepper.start(start, q.data(), v.data())) return false;
    write(stepper, field);
    for (int i = 0; i < divisions_; ++i) {
      for (int part = 0; part < parts; ++part) {
        if (!stepper.advance(h / parts)) return false;
      }
      if (!finite(stepper.q()) || !finite(stepper.v()) || !finite(stepper.a())) return false;
      if (i + 1 < divisions_ || k + 1 == setting_.task.steps) write(stepper, field);
    }
    q = stepper.q();
    v = stepper.v();
    return true;
  }

 private:
  const PlanProblem& problem_;
  const PlanSetting& setting_;
  int divisions_;
  PlannedField bare_;
  std::unique_ptr<PlannedField> loaded_;
};

}  // namespace

Trajectory roll_out(const PlanProblem& problem, int divisions) {
  const PlanSetting& setting = *problem.setting;
  const int n = setting.tree->freedoms();
  Trajectory motion(plan_columns(setting));
  StepRoller roller(problem, divisions);
  std::vector<double> q(setting.start_q.begin(), setting.start_q.end()),
      v(setting.start_v.begin(), setting.start_v.end());
  const auto write = [&](const step::LieStepper& stepper, const PlannedField& field) {
    double* row = motion.append(stepper.t());
    row = std::copy(stepper.q().begin(), stepper.q().end(), row);
    row = std::copy(stepper.v().begin(), stepper.v().end(), row);
    row = std::copy(stepper.a().begin(), stepper.a().end(), row);
    row = std::copy_n(field.tau().begin(), n, row);
    for (std::size_t c = 0; c < setting.contacts.size(); ++c) {
      const Eigen::Vector3d f = field.force(c, stepper.t());
      row = std::copy_n(f.data(), 3, row);
    }
  };
  for (int k = 0; k < setting.task.steps; ++k) {
    if (!roller.run(k, q, v, write)) break;
  }
  return motion;
}

double step_miss(const PlanProblem& problem, int divisions) {
  const PlanSetting& setting = *problem.setting;
  StepRoller roller(problem, divisions);
  double worst = 0;
  Eigen::VectorXd off(setting.tree->freedoms());
  for (int k = 0; k < setting.task.steps; ++k) {
    const PlanSample from = problem.sample(k), to = problem.sample(k + 1);
    std::vector<double> q(from.q.begin(), from.q.end()), v(from.v.begin(), from.v.end());
    if (!roller.run(k, q, v, [](const auto&, const auto&) {})) return std::numeric_limits<double>::infinity();
    setting.tree->local(q.data(), to.q.data(), off.data());
    worst = std::max(worst, off.lpNorm<Eigen::Infinity>());
  }
  return worst;
}

namespace {

/// y(s) and ẏ(s) of the cubic with y(0) = 0, y(1) = d and rates v0, v1 (per unit of time, over a step h).
Eigen::VectorXd cubic(double s, double h, const Eigen::VectorXd& d, const Eigen::VectorXd& v0,
                      const Eigen::VectorXd& v1) {
  return s * s * (3 - 2 * s) * d + h * s * (1 - s) * ((1 - s) * v0 - s * v1);
}

}  // namespace

Trajectory between_knots(const PlanProblem& problem, int divisions) {
  const PlanSetting& setting = *problem.setting;
  const screw::Tree& tree = *setting.tree;
  Trajectory motion(plan_columns(setting));
  for (int k = 0; k < setting.task.steps; ++k) {
    const double h = problem.step(k), start = problem.time(k);
    const PlanSample from = problem.sample(k), to = problem.sample(k + 1);
    const PlanSample middle = setting.has_middles() ? problem.sample(k, true) : from;
    Eigen::VectorXd whole(tree.freedoms());
    tree.local(from.q.data(), to.q.data(), whole.data());
    const int last = k + 1 == setting.task.steps ? divisions : divisions - 1;
    for (int i = 0; i <= last; ++i) {
      const double s = static_cast<double>(i) / divisions;
      double* row = motion.append(start + s * h);
      const Eigen::VectorXd moved = cubic(s, h, whole, from.v, to.v);
      tree.retract(from.q.data(), moved.data(), row);
      row += tree.stored();
      const Eigen::VectorXd v = from.v + cubic(s, h, to.v - from.v, from.a, to.a), a = (1 - s) * from.a + s * to.a;
      row = std::copy(v.begin(), v.end(), row);
      row = std::copy(a.begin(), a.end(), row);
      std::fill_n(row, tree.freedoms(), 0.0);
      const double w0 = setting.has_middles() ? (1 - s) * (1 - 2 * s) : 1 - s;
      const double wm = setting.has_middles() ? 4 * s * (1 - s) : 0, w1 = 1 - w0 - wm;
      for (std::size_t m = 0; m < setting.motors.size(); ++m) {
        row[setting.motors[m]] = w0 * from.u[m] + wm * middle.u[m] + w1 * to.u[m];
      }
      row += tree.freedoms();
      for (std::size_t c = 0; c < setting.contacts.size(); ++c) {
        const Eigen::Vector3d f = w0 * from.forces[c] + wm * middle.forces[c] + w1 * to.forces[c];
        row = std::copy_n(f.data(), 3, row);
      }
    }
  }
  return motion;
}

std::vector<LimitCheck> exceeded_limits(const PlanSetting& setting, const Trajectory& motion, double first_step) {
  const int n = setting.tree->freedoms(), stored = setting.tree->stored(), joints = setting.state.joints;
  std::vector<LimitCheck> worst;
  const double first = first_step * (1 - 1e-9);
  const auto check = [&](int series, double lower, double upper, bool given) {
    LimitCheck found{motion.names()[series], 0, 0};
    const double start = motion.samples() > 0 ? motion.at(0, series) : 0;
    const bool outside = given && (start > upper || start < lower);  // then it counts from the first knot on
    for (int i = 0; i < motion.samples(); ++i) {
      if (outside && motion.times()[i] < first) continue;
      const double x = motion.at(i, series), excess = std::max(x - upper, lower - x);
      if (excess > found.excess) found.excess = excess, found.time = motion.times()[i];
    }
    if (found.excess > 0) worst.push_back(found);
  };
  for (int j = 0; j < joints; ++j) {
    check(stored - joints + j, setting.lower[j], setting.upper[j], true);
    check(stored + n - joints + j, -setting.speed[j], setting.speed[j], true);
  }
  for (std::size_t m = 0; m < setting.motors.size(); ++m) {
    check(stored + 2 * n + setting.motors[m], -setting.effort[m], setting.effort[m], false);
  }
  std::sort(worst.begin(), worst.end(), [](const auto& a, const auto& b) { return a.excess > b.excess; });
  return worst;
}

namespace {

/// One goal at one state.
class GoalMeter {
 public:
  GoalMeter(const PlanSetting& setting, const TaskGoal& goal) : setting_(setting), goal_(goal) {}

  void measure(const Eigen::VectorXd& q, const Eigen::VectorXd& v, std::vector<GoalMiss>& out) const {
    for (const auto& [name, value] : goal_.joints) {
      const screw::Coordinate& c = setting_.tree->coordinates()[setting_.tree->find_coordinate(name.text)];
      const char* unit = c.type == JointType::prismatic ? "m" : "rad";
      out.push_back({goal_.name, name.text + ".q", unit, 0, std::abs(q[c.q] - value), 0});
    }
    if (goal_.frame.given()) frame(q, out);
    if (goal_.rest) out.push_back({goal_.name, "rest", "rad/s or m/s", 0, v.cwiseAbs().maxCoeff(), 0});
  }

 private:
  void frame(const Eigen::VectorXd& q, std::vector<GoalMiss>& out) const {
    screw::Transform<double> X;
    if (goal_.frame.text == "com") {
      X.p = screw::CentreOfMass(setting_.tree).at(q.data(), nullptr);
    } else {
      screw::Poses poses(setting_.tree->bodies().size());
      screw::body_poses(*setting_.tree, q.data(), poses);
      X = screw::link_pose(*setting_.tree, poses, setting_.tree->robot().find_link(goal_.frame.text));
      X.p = X * goal_.offset;
    }
    if (goal_.position) {
      double square = 0;
      for (int i = 0; i < 3; ++i) {
        const double d = X.p[i] - (*goal_.position)[i];
        if (!std::isnan(d)) square += d * d;
      }
      out.push_back({goal_.name, goal_.frame.text, "m", 0, std::sqrt(square), 0});
    }
    if (goal_.rotation) {
      const Matrix3d off = goal_.rotation->toRotationMatrix().transpose() * X.R;
      out.push_back({goal_.name, goal_.frame.text + " rotation", "rad", 0, SO3(off).log().norm(), 0});
    }
  }

  const PlanSetting& setting_;
  const TaskGoal& goal_;
};

}  // namespace

std::vector<GoalMiss> goal_misses(const PlanProblem& problem, const Trajectory& motion) {
  const PlanSetting& setting = *problem.setting;
  std::vector<GoalMiss> all;
  for (const TaskGoal& goal : setting.task.goals) {
    const GoalMeter meter(setting, goal);
    const int knot = setting.task.knot(goal.until);
    const PlanSample planned = problem.sample(knot);
    std::vector<GoalMiss> misses, real;
    meter.measure(planned.q, planned.v, misses);
    const auto& times = motion.times();
    const auto at = std::lower_bound(times.begin(), times.end(), problem.time(knot) - 1e-9);
    if (at != times.end()) {
      const double* row = motion.row(static_cast<int>(at - times.begin()));
      const int stored = setting.tree->stored();
      meter.measure(Eigen::Map<const Eigen::VectorXd>(row, stored),
                    Eigen::Map<const Eigen::VectorXd>(row + stored, setting.tree->freedoms()), real);
    }
    for (std::size_t i = 0; i < misses.size(); ++i) {
      misses[i].time = problem.time(knot);
      misses[i].roll_out = real.empty() ? std::nan("") : real[i].plan;
      all.push_back(misses[i]);
    }
  }
  return all;
}

}  // namespace kinegraph::task
