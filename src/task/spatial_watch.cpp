#include "kinegraph/task/spatial_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kinegraph::task {

SpatialWatch::SpatialWatch(std::shared_ptr<const screw::Tree> tree, SpatialField& field)
    : tree_(std::move(tree)),
      field_(field),
      twists_(tree_->bodies().size()),
      position_(tree_->freedoms()),
      velocity_(tree_->freedoms()) {}

void SpatialWatch::measure(const double* q, const double* v) {
  screw::body_twists(*tree_, q, v, twists_);
  energy_ = screw::energy(*tree_, q, v, field_.poses(), twists_);
  kinetic_max_ = std::max(kinetic_max_, energy_.kinetic);
  if (field_.floating()) momentum_ = screw::momentum(*tree_, field_.poses(), twists_);
  const step::LoopProjection::Opening opening = field_.loops().opening(q);
  closure_m_ = std::max(closure_m_, opening.metres);
  closure_rad_ = std::max(closure_rad_, opening.radians);
  check_limits(q, v);
  ++samples_;
}

void SpatialWatch::start(const double* q, const double* v) {
  measure(q, v);
  start_energy_ = energy_;
  start_momentum_ = momentum_;
}

void SpatialWatch::add(const double* q, const double* v, const double* extra) {
  measure(q, v);
  work_ = extra[0];
  work_max_ = std::max(work_max_, std::abs(work_));
  energy_error_ = std::max(energy_error_, std::abs(energy_.total() - start_energy_.total() - work_));
  if (!field_.floating()) return;
  const screw::Vector6d left = momentum_ - start_momentum_ - Eigen::Map<const screw::Vector6d>(extra + 1);
  angular_error_ = std::max(angular_error_, left.head<3>().norm());
  momentum_error_ = std::max(momentum_error_, left.tail<3>().norm());
}

void SpatialWatch::check_limits(const double* q, const double* v) {
  constexpr double kRounding = 1e-9;
  for (const screw::Coordinate& c : tree_->coordinates()) {
    for (int k = 0; k < c.freedoms; ++k) {
      const JointLimits& limits = c.limits[k];
      const auto note = [](Excess& excess, double beyond) {
        if (!(beyond > kRounding)) return;
        ++excess.samples;
        excess.most = std::max(excess.most, beyond);
      };
      if (c.stored == c.freedoms) {
        const double at = q[c.q + k];
        note(position_[c.v + k], std::max(limits.lower - at, at - limits.upper));
      }
      // Zero stands in many files where nothing was known.
      if (limits.velocity > 0) note(velocity_[c.v + k], std::abs(v[c.v + k]) - limits.velocity);
    }
  }
}

void SpatialWatch::tell(SimulateSummary& s) const {
  s.energy_start = start_energy_.total();
  s.energy_end = energy_.total();
  s.kinetic_start = start_energy_.kinetic;
  s.kinetic_max = kinetic_max_;
  s.work = work_;
  s.energy_error = energy_error_;
  const double scale = std::max({kinetic_max_, work_max_, 1e-9 * std::abs(s.energy_start)});
  s.energy_drift = scale > 0 ? energy_error_ / scale : energy_error_;
  s.closure_m = closure_m_;
  s.closure_rad = closure_rad_;
  s.floating = field_.floating();
  s.momentum_error = momentum_error_;
  s.angular_momentum_error = angular_error_;
  for (const screw::Coordinate& c : tree_->coordinates()) {
    for (int k = 0; k < c.freedoms; ++k) {
      const auto tell = [&](const std::string& name, const Excess& e) {
        if (e.samples == 0) return;
        s.limits_exceeded.push_back(
            fmt::format("{}: in {} of {} samples, by {:.3g} at most", name, e.samples, samples_, e.most));
      };
      if (c.stored == c.freedoms) tell(tree_->position_names()[c.q + k], position_[c.v + k]);
      tell(tree_->velocity_names()[c.v + k], velocity_[c.v + k]);
    }
  }
}

}  // namespace kinegraph::task
