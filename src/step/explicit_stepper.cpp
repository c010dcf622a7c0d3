#include "kinegraph/step/explicit_stepper.hpp"

#include <algorithm>

namespace kinegraph::step {

ExplicitStepper::ExplicitStepper(Acceleration& acceleration, const Tableau& tableau, Input input)
    : acceleration_(acceleration), tableau_(tableau), input_(std::move(input)) {
  const int n = acceleration_.system().coordinates();
  for (auto* x : {&q_, &v_, &a_, &stage_q_, &stage_v_}) x->assign(n, 0.0);
  lambda_.assign(acceleration_.system().constraints(), 0.0);
  u_.assign(acceleration_.system().motors(), 0.0);
  rate_q_.assign(tableau_.stages, q_);
  rate_v_.assign(tableau_.stages, q_);
}

bool ExplicitStepper::start(double t, const double* q, const double* v) {
  t_ = start_ = t;
  steps_ = 0;
  std::copy(q, q + q_.size(), q_.begin());
  std::copy(v, v + v_.size(), v_.begin());
  input_(t_, u_.data());
  return acceleration_.solve(q_.data(), v_.data(), t_, u_.data(), a_.data(), lambda_.data());
}

bool ExplicitStepper::resume(double h, long k, const double* q, const double* v) {
  steps_ = k;
  t_ = start_ + steps_ * h;
  std::copy(q, q + q_.size(), q_.begin());
  std::copy(v, v + v_.size(), v_.begin());
  input_(t_, u_.data());
  return acceleration_.solve(q_.data(), v_.data(), t_, u_.data(), a_.data(), lambda_.data());
}

// kᵢ = f(t + cᵢ h, x + h Σⱼ aᵢⱼ kⱼ),   x⁺ = x + h Σᵢ bᵢ kᵢ.   k₁ is the acceleration kept from the step before.
bool ExplicitStepper::advance(double h) {
  const int n = static_cast<int>(q_.size());
  rate_q_[0] = v_;
  rate_v_[0] = a_;
  for (int s = 1; s < tableau_.stages; ++s) {
    for (int i = 0; i < n; ++i) {
      double dq = 0, dv = 0;
      for (int j = 0; j < s; ++j) {
        dq += tableau_.a[s][j] * rate_q_[j][i];
        dv += tableau_.a[s][j] * rate_v_[j][i];
      }
      stage_q_[i] = q_[i] + h * dq;
      stage_v_[i] = v_[i] + h * dv;
    }
    const double t = t_ + tableau_.c[s] * h;
    input_(t, u_.data());
    rate_q_[s] = stage_v_;
    if (!acceleration_.solve(stage_q_.data(), stage_v_.data(), t, u_.data(), rate_v_[s].data(), nullptr)) return false;
  }
  for (int i = 0; i < n; ++i) {
    for (int s = 0; s < tableau_.stages; ++s) {
      q_[i] += h * tableau_.b[s] * rate_q_[s][i];
      v_[i] += h * tableau_.b[s] * rate_v_[s][i];
    }
  }
  t_ = start_ + ++steps_ * h;
  acceleration_.project(q_.data(), v_.data(), t_);
  input_(t_, u_.data());
  return acceleration_.solve(q_.data(), v_.data(), t_, u_.data(), a_.data(), lambda_.data());
}

}  // namespace kinegraph::step
