#include "kinegraph/step/lie_stepper.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

// Positions of ball and floating joints are elements of SO(3) and SE(3), and v is not the rate of their numbers. A step
// from q₀ therefore works in the increment δ of q = q₀ ⊕ δ, a plain vector, for which
//
//     δ̇ = Jᵣ⁻¹(δ) v,      v̇ = a(t, q₀ ⊕ δ, v)          Jᵣ⁻¹ = 1 for joints of plain coordinates
//
// is an ordinary differential equation: any Runge-Kutta method keeps its order (Munthe-Kaas). Jᵣ⁻¹ is taken in closed
// form, not cut off.
//
// Loops: a stage is projected before its acceleration is asked for. With P the projection, the method sees the field
// F(P(x)), which is smooth and equals F on the closed loops, so its order stays; and overconstrained loops (Bennett)
// are never looked at in a position where they could not be assembled, where their rank is another.

namespace kinegraph::step {

const std::vector<std::string>& scheme_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const Tableau& t : tableaus()) list.emplace_back(t.name);
    list.emplace_back("symplectic-euler");
    list.emplace_back("implicit-midpoint");
    return list;
  }();
  return names;
}

std::optional<Scheme> find_scheme(const std::string& name) {
  for (const Tableau& t : tableaus()) {
    if (name == t.name) return Scheme{name, t.order, Scheme::Kind::explicit_stages, t};
  }
  if (name == "symplectic-euler") return Scheme{name, 1, Scheme::Kind::symplectic_euler, tableaus().front()};
  if (name == "implicit-midpoint") return Scheme{name, 2, Scheme::Kind::implicit_midpoint, tableaus().front()};
  return std::nullopt;
}

LieStepper::LieStepper(std::shared_ptr<const screw::Tree> tree, Field& field, const Scheme& scheme)
    : tree_(std::move(tree)), field_(field), scheme_(scheme) {
  for (auto* x : {&q_, &stage_q_}) x->assign(tree_->stored(), 0.0);
  for (auto* x : {&v_, &a_, &stage_v_, &delta_, &middle_, &residual_}) x->assign(tree_->freedoms(), 0.0);
  for (auto* x : {&extra_, &extra_rate_}) x->assign(field_.extras(), 0.0);
  rate_q_.assign(scheme_.tableau.stages, v_);
  rate_v_.assign(scheme_.tableau.stages, v_);
  rate_x_.assign(scheme_.tableau.stages, extra_);
}

bool LieStepper::start(double t, const double* q, const double* v) {
  t_ = start_ = t;
  steps_ = 0;
  h_ = 0;
  unsettled_ = -1;
  std::copy(q, q + q_.size(), q_.begin());
  std::copy(v, v + v_.size(), v_.begin());
  stage_v_ = v_;
  std::fill(extra_.begin(), extra_.end(), 0.0);
  return field_.rates(t_, q_.data(), v_.data(), a_.data(), extra_rate_.data()) && finite(a_);
}

void LieStepper::save(State& state) const {
  state.t = t_, state.start = start_, state.h = h_, state.steps = steps_;
  state.q = q_, state.v = v_, state.a = a_, state.extra = extra_, state.extra_rate = extra_rate_;
}

void LieStepper::restore(const State& state) {
  t_ = state.t, start_ = state.start, h_ = state.h, steps_ = state.steps;
  q_ = state.q, v_ = state.v, a_ = state.a, extra_ = state.extra, extra_rate_ = state.extra_rate;
}

void LieStepper::join(const State& before, double h) {
  t_ = before.t, start_ = before.start, h_ = before.h, steps_ = before.steps;
  count(h);
  t_ = start_ + ++steps_ * h;
}

void LieStepper::count(double h) {
  if (h == h_) return;
  start_ = t_;
  steps_ = 0;
  h_ = h;
}

bool LieStepper::advance(double h) {
  field_.begin_step(q_.data());
  iterations_ = 0;
  unsettled_ = -1;
  count(h);
  const bool taken = scheme_.kind == Scheme::Kind::symplectic_euler    ? take_symplectic_euler(h)
                     : scheme_.kind == Scheme::Kind::implicit_midpoint ? take_implicit_midpoint(h)
                                                                       : take_stages(h);
  if (!taken) return false;
  stage_v_ = v_;
  t_ = start_ + ++steps_ * h;
  return finite(q_) && finite(v_) && field_.project(q_.data(), v_.data()) &&
         field_.rates(t_, q_.data(), v_.data(), a_.data(), extra_rate_.data()) && finite(a_);
}

// kᵢ = f(t + cᵢ h, x + h Σⱼ aᵢⱼ kⱼ),   x⁺ = x + h Σᵢ bᵢ kᵢ.   k₁ is the acceleration kept from the step before.
bool LieStepper::take_stages(double h) {
  const Tableau& tableau = scheme_.tableau;
  const auto add = [h](const double* weights, int count, const std::vector<std::vector<double>>& rates,
                       std::vector<double>& sum) {
    for (int j = 0; j < count; ++j) {
      if (weights[j] == 0) continue;
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += h * weights[j] * rates[j][i];
    }
  };
  rate_q_[0] = v_;
  rate_v_[0] = a_;
  rate_x_[0] = extra_rate_;
  for (int s = 1; s < tableau.stages; ++s) {
    std::fill(delta_.begin(), delta_.end(), 0.0);
    stage_v_ = v_;
    add(tableau.a[s], s, rate_q_, delta_);
    add(tableau.a[s], s, rate_v_, stage_v_);
    if (!finite(delta_) || !finite(stage_v_)) return false;
    tree_->retract(q_.data(), delta_.data(), stage_q_.data());
    if (!field_.project(stage_q_.data(), stage_v_.data())) return false;
    if (!field_.rates(t_ + tableau.c[s] * h, stage_q_.data(), stage_v_.data(), rate_v_[s].data(), rate_x_[s].data())) {
      return false;
    }
    rate_q_[s] = stage_v_;
    to_increment_rates(delta_.data(), rate_q_[s].data());
  }
  std::fill(delta_.begin(), delta_.end(), 0.0);
  add(tableau.b, tableau.stages, rate_q_, delta_);
  add(tableau.b, tableau.stages, rate_v_, v_);
  add(tableau.b, tableau.stages, rate_x_, extra_);
  tree_->retract(q_.data(), delta_.data(), q_.data());
  return true;
}

// v⁺ = v + h a(q, v),   q⁺ = q ⊕ h v⁺
bool LieStepper::take_symplectic_euler(double h) {
  for (std::size_t i = 0; i < v_.size(); ++i) v_[i] += h * a_[i];
  for (std::size_t i = 0; i < v_.size(); ++i) delta_[i] = h * v_[i];
  for (std::size_t i = 0; i < extra_.size(); ++i) extra_[i] += h * extra_rate_[i];
  if (!finite(delta_)) return false;
  tree_->retract(q_.data(), delta_.data(), q_.data());
  return true;
}

// v_m = v + h/2 a(q ⊕ h/2 v_m, v_m),   q⁺ = q ⊕ h v_m,   v⁺ = 2 v_m − v.   The path δ(t) is along v_m, so that
// Jᵣ⁻¹(δ/2) v_m = v_m. The iteration for v_m starts from the acceleration before; what the field knows to be stiff it
// corrects itself, the rest is settled by substitution.
bool LieStepper::take_implicit_midpoint(double h) {
  constexpr int kMost = 50;
  constexpr double kSettled = 1e-14, kAccepted = 1e-10;
  constexpr double kAtRest = 1e-13;  // m/s, rad/s: below it there is only rounding
  for (std::size_t i = 0; i < v_.size(); ++i) residual_[i] = -0.5 * h * a_[i];
  if (!field_.correct(0.5 * h, q_.data(), v_.data(), residual_.data(), delta_.data())) {
    for (std::size_t i = 0; i < v_.size(); ++i) delta_[i] = -residual_[i];
  }
  for (std::size_t i = 0; i < v_.size(); ++i) middle_[i] = v_[i] + delta_[i];

  double before = 0, share = 1, change = 0, scale = 0;
  for (iterations_ = 1; iterations_ <= kMost; ++iterations_) {
    if (!iterate_midpoint(h, share, change, scale)) return false;
    if (change <= kSettled * scale || (iterations_ > 3 && change >= before && change <= kAccepted * scale + kAtRest)) {
      break;
    }
    if (iterations_ > 3 && change > before) share = std::max(0.25, 0.5 * share);
    before = change;
  }
  if (iterations_ > kMost && change > kAccepted * scale + kAtRest) {
    unsettled_ = 0;
    for (std::size_t i = 0; i < v_.size(); ++i) {
      if (std::abs(delta_[i]) > std::abs(delta_[unsettled_])) unsettled_ = static_cast<int>(i);
    }
    return false;
  }
  for (std::size_t i = 0; i < v_.size(); ++i) {
    delta_[i] = h * middle_[i];
    v_[i] = 2 * middle_[i] - v_[i];
  }
  for (std::size_t i = 0; i < extra_.size(); ++i) extra_[i] += h * extra_rate_[i];
  tree_->retract(q_.data(), delta_.data(), q_.data());
  return true;
}

// One correction of v_m, and its size over `scale`.
bool LieStepper::iterate_midpoint(double h, double share, double& change, double& scale) {
  for (std::size_t i = 0; i < v_.size(); ++i) delta_[i] = 0.5 * h * middle_[i];
  if (!finite(delta_)) return false;
  tree_->retract(q_.data(), delta_.data(), stage_q_.data());
  stage_v_ = middle_;
  if (!field_.project(stage_q_.data(), stage_v_.data())) return false;
  if (!field_.rates(t_ + 0.5 * h, stage_q_.data(), stage_v_.data(), a_.data(), extra_rate_.data())) return false;
  for (std::size_t i = 0; i < v_.size(); ++i) residual_[i] = middle_[i] - v_[i] - 0.5 * h * a_[i];
  if (!field_.correct(0.5 * h, stage_q_.data(), stage_v_.data(), residual_.data(), delta_.data())) {
    for (std::size_t i = 0; i < v_.size(); ++i) delta_[i] = -residual_[i];
  }
  change = scale = 0;
  for (std::size_t i = 0; i < v_.size(); ++i) {
    scale = std::max(scale, std::abs(middle_[i]) + std::abs(h * a_[i]));
    change = std::max(change, std::abs(delta_[i]));
    middle_[i] += share * delta_[i];
  }
  return std::isfinite(change);
}

// δ̇ = Jᵣ⁻¹(δ) v, in place.
void LieStepper::to_increment_rates(const double* delta, double* rate) const {
  for (const screw::Coordinate& c : tree_->coordinates()) {
    if (c.type == JointType::ball) {
      Eigen::Map<Eigen::Vector3d> v(rate + c.v);
      v = (SO3::right_jacobian_inverse(Eigen::Map<const Eigen::Vector3d>(delta + c.v)) * v).eval();
    } else if (c.type == JointType::floating) {
      Eigen::Map<screw::Vector6d> v(rate + c.v);
      v = (SE3::right_jacobian_inverse(Eigen::Map<const screw::Vector6d>(delta + c.v)) * v).eval();
    }
  }
}

bool LieStepper::finite(const std::vector<double>& x) const {
  return std::all_of(x.begin(), x.end(), [](double e) { return std::isfinite(e); });
}

}  // namespace kinegraph::step
