#include "kinegraph/task/spatial_record.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "kinegraph/model/joint_names.hpp"
#include "kinegraph/task/append_names.hpp"

namespace kinegraph::task {
namespace {

using screw::Coordinate;
using screw::Vector6d;
using Excess = SpatialDynamicsSummary::Excess;

void note(Excess& worst, const std::string& name, double factor, double t) {
  if (factor > worst.factor) worst = {name, factor, t};
}

std::vector<Excess> broken(const std::vector<Excess>& all) {
  std::vector<Excess> some;
  std::copy_if(all.begin(), all.end(), std::back_inserter(some), [](const Excess& e) { return e.factor > 0; });
  return some;
}

}  // namespace

SpatialRecord::SpatialRecord(std::shared_ptr<const screw::Tree> tree, bool reactions, int samples)
    : tree_(std::move(tree)),
      peak_(Eigen::VectorXd::Zero(tree_->freedoms())),
      square_(Eigen::VectorXd::Zero(tree_->freedoms())),
      effort_(tree_->freedoms()),
      velocity_(tree_->freedoms()),
      position_(tree_->freedoms()) {
  for (const Coordinate& c : tree_->coordinates()) {
    append(names_, position_names(c.name, c.type));
    append(names_, velocity_names(c.name, c.type));
    append(names_, acceleration_names(c.name, c.type));
    append(names_, torque_names(c.name, c.type));
  }
  if (reactions) append(names_, reactions_.emplace(tree_).names());
  trajectory_ = Trajectory(names_);
  trajectory_.reserve(samples);
}

void SpatialRecord::add(double t, const SpatialMotion& motion, const Eigen::VectorXd& a, const Eigen::VectorXd& tau,
                        const build::Dynamics& dynamics, const build::Dynamics::Outcome& outcome) {
  ++summary_.samples;
  summary_.undetermined_max = std::max(summary_.undetermined_max, outcome.undetermined);
  if (outcome.inconsistency > summary_.inconsistency_max) {
    summary_.inconsistency_max = outcome.inconsistency;
    summary_.inconsistent = outcome.worst;
  }
  peak_ = peak_.cwiseMax(tau.cwiseAbs());
  square_ += tau.cwiseAbs2();
  check_limits(t, motion, tau);
  check_power(motion, a, tau, dynamics);
  write_row(t, motion, a, tau, dynamics);
}

void SpatialRecord::write_row(double t, const SpatialMotion& motion, const Eigen::VectorXd& a,
                              const Eigen::VectorXd& tau, const build::Dynamics& dynamics) {
  double* row = trajectory_.append(t);
  for (const Coordinate& c : tree_->coordinates()) {
    row = std::copy_n(motion.q().data() + c.q, c.stored, row);
    row = std::copy_n(motion.v().data() + c.v, c.freedoms, row);
    row = std::copy_n(a.data() + c.v, c.freedoms, row);
    row = std::copy_n(tau.data() + c.v, c.freedoms, row);
  }
  if (!reactions_) return;
  reactions_->write(dynamics, motion.poses(), row);
  for (std::size_t i = 0; i < reactions_->names().size(); i += 3) {  // from the ground's axes to the world's
    Eigen::Map<Eigen::Vector3d> part(row + i);
    part = (motion.base_rotation() * part).eval();
  }
}

void SpatialRecord::check_limits(double t, const SpatialMotion& motion, const Eigen::VectorXd& tau) {
  constexpr double kRounding = 1e-9;
  for (const Coordinate& c : tree_->coordinates()) {
    for (int k = 0; k < c.freedoms && k < static_cast<int>(c.limits.size()); ++k) {
      const JointLimits& limits = c.limits[k];
      const int i = c.v + k;
      const double effort = std::abs(tau[i]), speed = std::abs(motion.v()[i]);
      // Zero stands in many files where nothing was known.
      if (limits.effort > 0 && effort > limits.effort * (1 + kRounding)) {
        note(effort_[i], tree_->torque_names()[i], effort / limits.effort, t);
      }
      if (limits.velocity > 0 && speed > limits.velocity * (1 + kRounding)) {
        note(velocity_[i], tree_->velocity_names()[i], speed / limits.velocity, t);
      }
      if (c.stored != c.freedoms) continue;
      const double q = motion.q()[c.q + k], beyond = std::max(limits.lower - q, q - limits.upper);
      if (beyond > kRounding) note(position_[i], tree_->position_names()[c.q + k], beyond, t);
    }
  }
}

/// dE/dt, by differences of the energy along (q ⊕ h v, v + h a), against the power of all that acts:
///     Σ τ q̇ + Σ (damping, friction, springs) q̇ + Σ load · V
void SpatialRecord::check_power(const SpatialMotion& motion, const Eigen::VectorXd& a, const Eigen::VectorXd& tau,
                                const build::Dynamics& dynamics) {
  const screw::Surroundings& around = motion.surroundings();
  if (!around.base_twist.isZero() || !around.base_acceleration.isZero() || around.gravity != tree_->gravity()) return;
  const Eigen::VectorXd& v = motion.v();
  const double h = 1e-5 / std::max({1.0, v.lpNorm<Eigen::Infinity>(), std::sqrt(a.lpNorm<Eigen::Infinity>())});
  Eigen::VectorXd before(motion.q().size()), after(motion.q().size());
  tree_->retract(motion.q().data(), (-h * v).eval().data(), before.data());
  tree_->retract(motion.q().data(), (h * v).eval().data(), after.data());
  const screw::Energy late = screw::energy(*tree_, after.data(), (v + h * a).eval().data());
  const screw::Energy early = screw::energy(*tree_, before.data(), (v - h * a).eval().data());
  const double kinetic = (late.kinetic - early.kinetic) / (2 * h);  // springs of joints count as forces
  const double potential = (late.potential - early.potential) / (2 * h);

  double power = 0, largest = 0;
  const auto add = [&](double part) {
    power += part;
    largest += std::abs(part);
  };
  for (int i = 0; i < tree_->freedoms(); ++i) add((tau[i] + dynamics.motion().joint_force()[i]) * v[i]);
  for (std::size_t i = 0; i < motion.loads().size(); ++i) {
    add(motion.loads()[i].dot(dynamics.motion().body(static_cast<int>(i)).V));
  }
  summary_.power_checked = true;
  summary_.power_max = std::max({summary_.power_max, largest, std::abs(kinetic), std::abs(potential)});
  summary_.power_error = std::max(summary_.power_error, std::abs(kinetic + potential - power));
}

SpatialDynamicsSummary SpatialRecord::summary(const SpatialMotion& motion) const {
  SpatialDynamicsSummary s = summary_;
  for (std::size_t c = 0; c < tree_->coordinates().size(); ++c) {
    if (motion.given()[c]) s.prescribed.push_back(tree_->coordinates()[c].name);
  }
  s.torques = tree_->torque_names();
  for (int i = 0; i < tree_->freedoms(); ++i) {
    s.torque_peak.push_back(peak_[i]);
    s.torque_rms.push_back(std::sqrt(square_[i] / static_cast<double>(std::max(1L, s.samples))));
  }
  s.effort = broken(effort_);
  s.velocity = broken(velocity_);
  s.position = broken(position_);
  s.smoothing_max = motion.smoothing_max();
  for (const screw::Loop& loop : tree_->loops()) s.loops.push_back(loop.name);
  s.open_in_table = motion.open_in_table();
  s.closure_max = motion.closure_max();
  s.warnings = motion.warnings();
  return s;
}

}  // namespace kinegraph::task
