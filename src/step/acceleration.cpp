#include "kinegraph/step/acceleration.hpp"

#include <algorithm>
#include <cmath>

namespace kinegraph::step {

Acceleration::Acceleration(std::shared_ptr<const natural::System> system, const std::vector<int>& redundant)
    : system_(std::move(system)), n_(system_->coordinates()), m_(system_->constraints()), kkt_(0, 0, {}) {
  column_of_multiplier_.assign(m_, 0);
  for (int r : redundant) column_of_multiplier_[r] = -1;
  int columns = n_;
  for (int& c : column_of_multiplier_) c = c < 0 ? -1 : columns++;

  std::vector<Entry> pattern(system_->mass_pattern().begin(), system_->mass_pattern().end());
  values_.assign(system_->mass_values().begin(), system_->mass_values().end());
  jacobian_begin_ = static_cast<int>(pattern.size());
  jacobian_size_ = static_cast<int>(system_->jacobian_pattern().size());
  for (const auto& [r, c] : system_->jacobian_pattern()) pattern.push_back({n_ + r, c});
  for (const auto& [r, c] : system_->jacobian_pattern()) pattern.push_back({c, column_of_multiplier_[r]});
  values_.resize(pattern.size());
  kkt_ = linear::Condensation(n_ + m_, columns, std::move(pattern));
  std::vector<int> excluded;
  for (int r : redundant) excluded.push_back(n_ + r);
  kkt_.exclude_rows(excluded);

  zero_.assign(n_, 0.0);
  rhs_.assign(n_ + m_, 0.0);
  work_.assign(n_ + m_, 0.0);
  bias_.assign(m_, 0.0);
}

void Acceleration::substitute(double* x) {
  const auto rows = kkt_.pivot_rows(), columns = kkt_.pivot_columns();
  for (int i = 0; i < kkt_.rank(); ++i) work_[i] = x[rows[i]];
  kkt_.solve(work_.data(), 1);
  for (int i = 0; i < kkt_.rank(); ++i) x[columns[i]] = work_[i];
}

bool Acceleration::solve(const double* q, const double* v, double t, const double* u, double* a, double* lambda) {
  double* jacobian = values_.data() + jacobian_begin_;
  system_->acceleration(q, v, zero_.data(), t, bias_.data(), nullptr, nullptr, jacobian);
  std::copy(jacobian, jacobian + jacobian_size_, jacobian + jacobian_size_);
  if (!chosen_ || !kkt_.factor(values_.data())) {
    repivots_ += chosen_;
    kkt_.choose(values_.data());
    kkt_.factor(values_.data());
    chosen_ = true;
  }
  system_->force(q, v, t, rhs_.data(), nullptr, nullptr);
  for (int j = 0; j < system_->motors(); ++j) rhs_[system_->motor_coordinate()[j]] += u[j];
  for (int r = 0; r < m_; ++r) rhs_[n_ + r] = -bias_[r];
  substitute(rhs_.data());
  if (a) std::copy(rhs_.begin(), rhs_.begin() + n_, a);
  if (lambda) {
    for (int r = 0; r < m_; ++r) lambda[r] = column_of_multiplier_[r] < 0 ? 0.0 : rhs_[column_of_multiplier_[r]];
  }
  for (int i = 0; i < n_; ++i) {
    if (!std::isfinite(rhs_[i])) return false;
  }
  return true;
}

// min ½ δᵀMδ with Φ_q δ = −Φ: the same matrix, right-hand side (0, −Φ).
void Acceleration::project(double* q, double* v, double t) {
  system_->position(q, t, bias_.data(), nullptr);
  std::fill(rhs_.begin(), rhs_.begin() + n_, 0.0);
  for (int r = 0; r < m_; ++r) rhs_[n_ + r] = -bias_[r];
  substitute(rhs_.data());
  for (int i = 0; i < n_; ++i) q[i] += rhs_[i];

  system_->velocity(q, v, t, bias_.data(), nullptr, nullptr);
  std::fill(rhs_.begin(), rhs_.begin() + n_, 0.0);
  for (int r = 0; r < m_; ++r) rhs_[n_ + r] = -bias_[r];
  substitute(rhs_.data());
  for (int i = 0; i < n_; ++i) v[i] += rhs_[i];
}

}  // namespace kinegraph::step
