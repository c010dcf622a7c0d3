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
  if (field_.floating()) momentum_ = screw::momentum(*tree_, field_.poses(), twists_);
  const step::LoopProjection::Opening opening = field_.loops().opening(q);
  closure_m_ = std::max(closure_m_, opening.metres);
  closure_rad_ = std::max(closure_rad_, opening.radians);
  check_limits(q, v);
  ++samples_;
}

double SpatialWatch::propose(const double* q, const double* v, const double* extra) {
  screw::body_twists(*tree_, q, v, twists_);
  energy_ = screw::energy(*tree_, q, v, field_.poses(), twists_);
  work_ = extra[0];
  return energy_.total() - last_energy_.total() - (work_ - last_work_);
}

double SpatialWatch::scale() const {
  const double stored = energy_.potential + energy_.spring, before = last_energy_.potential + last_energy_.spring;
  const double work = work_ - last_work_;
  const double available = std::abs(last_energy_.total()) + weight_ + std::fmax(0, work);
  return balance_.scale_on_the_way(last_energy_.kinetic, std::abs(stored - before) + std::abs(work), available,
                                   weight_);
}

double SpatialWatch::rounding() const { return 1e-12 * (terms_ + std::abs(last_energy_.total())); }

void SpatialWatch::start(const double* q, const double* v) {
  const double nothing = 0;
  propose(q, v, &nothing);
  last_energy_ = energy_;
  balance_.start(energy_.total(), energy_.kinetic);
  measure(q, v);
  start_momentum_ = momentum_;
  double mass = 0, size = 0;
  for (std::size_t i = 0; i < tree_->bodies().size(); ++i) {
    const screw::Body& body = tree_->bodies()[i];
    const Eigen::Vector3d at = field_.poses()[i] * body.com;
    mass += body.mass;
    size = std::max({size, body.com.norm(), (at - field_.poses()[0] * tree_->bodies()[0].com).norm()});
    terms_ += body.mass * tree_->gravity().norm() * at.norm();
  }
  weight_ = mass * tree_->gravity().norm() * size;
}

void SpatialWatch::back(const Mark& mark) {
  balance_ = mark.balance;
  energy_ = mark.energy, last_energy_ = mark.last_energy;
  work_ = mark.work, last_work_ = mark.last_work;
}

void SpatialWatch::take_part(double t) {
  balance_.add(t, energy_.total(), energy_.kinetic, work_);
  last_energy_ = energy_;
  last_work_ = work_;
}

void SpatialWatch::take(double t, const double* q, const double* v, const double* extra) {
  take_part(t);
  measure(q, v);
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
  balance_.tell(s);
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
