#include "kinegraph/task/energy.hpp"

#include <algorithm>
#include <cmath>

namespace kinegraph::task {
namespace {

/// The model without anything that feeds or drains energy; nothing if it has no such thing.
std::shared_ptr<const natural::System> conservative_part(const Model& model) {
  bool damped = false;
  for (const Spring& s : model.springs) damped |= s.damping != 0;
  for (const CoordinateSpring& s : model.coordinate_springs) damped |= s.damping != 0;
  if (!damped && model.motors.empty() && model.loads.empty() && model.torques.empty() && model.drivers.empty()) {
    return nullptr;
  }
  Model stripped = model;
  stripped.motors.clear();
  stripped.loads.clear();
  stripped.torques.clear();
  for (Spring& s : stripped.springs) s.damping = 0;
  for (CoordinateSpring& s : stripped.coordinate_springs) s.damping = 0;
  return std::make_shared<natural::System>(stripped);
}

}  // namespace

EnergyWatch::EnergyWatch(const Model& model, std::shared_ptr<const natural::System> system, double step)
    : system_(std::move(system)), conservative_(conservative_part(model)), step_(step) {
  force_.resize(system_->coordinates());
  conservative_force_.resize(system_->coordinates());
  phi_.resize(system_->constraints());
  phi_q_.resize(system_->jacobian_pattern().size());
  for (const PlanarBody& body : model.bodies) weight_ += body.mass;
  weight_ *= model.gravity.norm() * system_->typical_length();
}

double EnergyWatch::scale() const {
  const Sample& last = past_[3];
  const double work = (proposed_.t - last.t) / 2 * (last.power + proposed_.power);
  const double exchanged = std::abs(proposed_.potential() - last.potential()) + std::abs(work);
  const double available = std::abs(last.energy) + weight_ + std::fmax(0, work);
  return balance_.scale_on_the_way(last.kinetic, exchanged, available, weight_);
}

double EnergyWatch::rounding() const { return 1e-12 * (weight_ + std::abs(past_[3].energy)); }

double EnergyWatch::power(const double* q, const double* v, const double* lambda, const double* u, double t) {
  if (!conservative_) return 0;
  system_->force(q, v, t, force_.data(), nullptr, nullptr);
  conservative_->force(q, v, t, conservative_force_.data(), nullptr, nullptr);
  double p = 0;
  for (std::size_t i = 0; i < force_.size(); ++i) p += v[i] * (force_[i] - conservative_force_[i]);
  for (int j = 0; j < system_->motors(); ++j) p += u[j] * v[system_->motor_coordinate()[j]];
  system_->position(q, t, phi_.data(), phi_q_.data());
  const auto pattern = system_->jacobian_pattern();
  for (std::size_t i = 0; i < pattern.size(); ++i) p -= lambda[pattern[i].row] * phi_q_[i] * v[pattern[i].column];
  return p;
}

EnergyWatch::Sample EnergyWatch::measure(const double* q, const double* v, const double* lambda, const double* u,
                                         double t) {
  const double kinetic = system_->kinetic_energy(v);
  return {t, kinetic + system_->potential_energy(q), kinetic, power(q, v, lambda, u, t)};
}

void EnergyWatch::start(const double* q, const double* v, const double* lambda, const double* u, double t) {
  const Sample first = measure(q, v, lambda, u, t);
  std::fill(std::begin(past_), std::end(past_), first);
  balance_.start(first.energy, first.kinetic);
  work_ = 0;
  samples_ = 1;
}

void EnergyWatch::close(double work, const Sample& at) {
  work_ += work;
  balance_.add(at.t, at.energy, at.kinetic, work_);
}

// ΔE − ∫P: from the last three samples, h/12 (−1 8 5), where they are even; else h/2 (1 1).
double EnergyWatch::propose(const double* q, const double* v, const double* lambda, const double* u, double t) {
  proposed_ = measure(q, v, lambda, u, t);
  const Sample &last = past_[3], &before = past_[2];
  const double h = t - last.t;
  const bool even = samples_ > 1 && std::abs(h - step_) < 1e-6 * step_;
  const double work =
      even ? h / 12 * (-before.power + 8 * last.power + 5 * proposed_.power) : h / 2 * (last.power + proposed_.power);
  return proposed_.energy - last.energy - work;
}

// ∫ over one step: the outer ones of the motion from h/12 (5 8 −1), the others from h/24 (−1 13 13 −1).
void EnergyWatch::take() {
  balance_.see_kinetic(proposed_.kinetic);
  std::rotate(std::begin(past_), std::begin(past_) + 1, std::end(past_));
  past_[3] = proposed_;
  ++samples_;
  if (!conservative_) return close(0, past_[3]);
  const Sample* s = past_;
  if (samples_ == 3) close(step_ / 12 * (5 * s[1].power + 8 * s[2].power - s[3].power), s[2]);
  if (samples_ > 3) close(step_ / 24 * (-s[0].power + 13 * s[1].power + 13 * s[2].power - s[3].power), s[2]);
}

void EnergyWatch::take_part() {
  finish();
  close((proposed_.t - past_[3].t) / 2 * (past_[3].power + proposed_.power), proposed_);
  std::fill(std::begin(past_), std::end(past_), proposed_);
  samples_ = 1;
}

void EnergyWatch::finish() {
  if (!conservative_ || samples_ < 2) return;
  const Sample* s = past_;
  const double last = samples_ > 2 ? step_ / 12 * (-s[1].power + 8 * s[2].power + 5 * s[3].power)
                                   : step_ / 2 * (s[2].power + s[3].power);
  close(last, s[3]);
  samples_ = 1;
}

}  // namespace kinegraph::task
