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
}

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

void EnergyWatch::start(const double* q, const double* v, const double* lambda, const double* u, double t) {
  kinetic_start_ = kinetic_max_ = system_->kinetic_energy(v);
  start_ = kinetic_start_ + system_->potential_energy(q);
  std::fill(std::begin(energy_), std::end(energy_), start_);
  std::fill(std::begin(power_), std::end(power_), power(q, v, lambda, u, t));
  work_ = error_ = 0;
  samples_ = 1;
}

void EnergyWatch::close(double work, double energy) {
  work_ += work;
  error_ = std::max(error_, std::abs(energy - start_ - work_));
}

// ∫ over one step: the outer ones of the motion from h/12 (5 8 −1), the others from h/24 (−1 13 13 −1).
void EnergyWatch::add(const double* q, const double* v, const double* lambda, const double* u, double t) {
  const double kinetic = system_->kinetic_energy(v);
  kinetic_max_ = std::max(kinetic_max_, kinetic);
  std::rotate(std::begin(power_), std::begin(power_) + 1, std::end(power_));
  std::rotate(std::begin(energy_), std::begin(energy_) + 1, std::end(energy_));
  energy_[3] = kinetic + system_->potential_energy(q);
  ++samples_;
  if (!conservative_) return close(0, energy_[3]);
  power_[3] = power(q, v, lambda, u, t);
  const double* p = power_;
  if (samples_ == 3) close(step_ / 12 * (5 * p[1] + 8 * p[2] - p[3]), energy_[2]);
  if (samples_ > 3) close(step_ / 24 * (-p[0] + 13 * p[1] + 13 * p[2] - p[3]), energy_[2]);
}

void EnergyWatch::finish() {
  if (!conservative_ || samples_ < 2) return;
  const double* p = power_;
  const double last = samples_ > 2 ? step_ / 12 * (-p[1] + 8 * p[2] + 5 * p[3]) : step_ / 2 * (p[2] + p[3]);
  close(last, energy_[3]);
}

}  // namespace kinegraph::task
