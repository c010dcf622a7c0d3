#include "kinegraph/filter/screw_stepper.hpp"

#include <algorithm>
#include <cmath>

// A step works in the increment δ of q = q₀ ⊕ δ, a plain vector (Munthe-Kaas, as step::LieStepper):
//
//     δ̇ = Jᵣ⁻¹(δ) v,      v̇ = a(t, q₀ ⊕ δ, v)
//
// Loops leave f freedoms: the method integrates the f numbers I of δ and v that tell the motion best at q₀, the others
// follow from closed loops at every stage. This is an ordinary differential equation in 2 f numbers, so the method
// keeps its order; its state lies on the constraints, exactly; and it has a derivative that is exact as well, since I
// does not change with the state. With η₀, ξ₀ the changes at the start, dδ and dw those of what the method sums up:
//
//     η = Jᵣ(δ) (dδ + Jₗ⁻¹(δ) η₀)  on I, J η = 0 beyond,      ξ = dw on I, J ξ = −δJ[η] v beyond
//     d(δ̇) = ∂(Jᵣ⁻¹(δ) v)/∂δ dδ + Jᵣ⁻¹(δ) ξ,                  d(v̇) = α(η, ξ)

// The implicit midpoint rule solves for the f numbers w of v in the middle,
//
//     w = v₀ + h/2 a(t + h/2, q₀ ⊕ h/2 w, w),      δ = h w,      v⁺ = 2 w − v₀     on I
//
// by iteration as step::LieStepper does, what is stiff by step::JointResponse; its derivative solves
// (1 − h/2 A) dw = ξ₀ + h/2 b, with A and b the changes of a with dw and with the start alone.

namespace kinegraph::filter {
namespace {

constexpr int kStepIterations = 50;
constexpr double kStepSettled = 1e-14, kStepAccepted = 1e-10;
constexpr double kAtRest = 1e-13;  // m/s, rad/s: below it there is only rounding

/// R(z) = 1 + z Σ bᵢ kᵢ with kᵢ = 1 + z Σ aᵢⱼ kⱼ: what a step does to ẋ = λ x, z = λ h.
double growth(const step::Tableau& t, double z) {
  double k[step::Tableau::kMostStages], sum = 1;
  for (int i = 0; i < t.stages; ++i) {
    k[i] = 1;
    for (int j = 0; j < i; ++j) k[i] += z * t.a[i][j] * k[j];
    sum += z * t.b[i] * k[i];
  }
  return sum;
}

double stability_limit(const step::Tableau& t) {
  double z = 0;
  while (z < 20 && std::abs(growth(t, -(z + 0.01))) <= 1 + 1e-12) z += 0.01;
  return z;
}

}  // namespace

ScrewStepper::ScrewStepper(std::shared_ptr<const screw::Tree> tree, int freedoms, ScrewMotion& motion,
                           const step::Tableau& tableau, const double* friction_speed)
    : tree_(std::move(tree)),
      motion_(motion),
      closure_(tree_, freedoms),
      curved_(*tree_),
      response_(tree_, freedoms, friction_speed),
      tableau_(tableau),
      stable_(stability_limit(tableau)),
      q_(tree_->stored(), 0.0),
      lu_(freedoms) {
  for (auto* x : {&v_, &v0_, &delta_, &wanted_, &off_, &correction_, &middle_}) x->setZero(tree_->freedoms());
  rate_q_.assign(tableau_.stages, v_);
  rate_v_.assign(tableau_.stages, v_);
  rate_q_along_.resize(tableau_.stages);
  rate_v_along_.resize(tableau_.stages);
}

/// δ and v of stage s, or after the last one of the step's end.
void ScrewStepper::combine(double h, int s) {
  const double* weights = s < tableau_.stages ? tableau_.a[s] : tableau_.b;
  delta_.setZero();
  wanted_ = v0_;
  for (int j = 0; j < s; ++j) {
    if (weights[j] == 0) continue;
    delta_ += (h * weights[j]) * rate_q_[j];
    wanted_ += (h * weights[j]) * rate_v_[j];
  }
}

bool ScrewStepper::place(bool with_mass) {
  if (!closure_.close(delta_, q_.data())) return false;
  if (motion_.tangent().rank() == 0) {
    v_ = wanted_;
    return v_.allFinite() && (!with_mass || motion_.prepare(q_.data()));
  }
  if (!(with_mass ? motion_.prepare(q_.data()) : motion_.tangent().set(q_.data()))) return false;
  if (!motion_.tangent().span(closure_.chart(), span_)) return false;
  const std::vector<int>& columns = closure_.chart().columns;
  v_.setZero();
  for (std::size_t i = 0; i < columns.size(); ++i) v_ += span_.col(static_cast<Eigen::Index>(i)) * wanted_[columns[i]];
  return v_.allFinite();
}

void ScrewStepper::combine_along(double h, int s) {
  const double* weights = s < tableau_.stages ? tableau_.a[s] : tableau_.b;
  delta_along_.setZero(eta0_.rows(), eta0_.cols());
  wanted_along_ = xi0_;
  for (int j = 0; j < s; ++j) {
    if (weights[j] == 0) continue;
    delta_along_ += (h * weights[j]) * rate_q_along_[j];
    wanted_along_ += (h * weights[j]) * rate_v_along_[j];
  }
}

bool ScrewStepper::place_along() {
  start_ = eta0_;
  curved_.by_left_inverse(delta_.data(), start_);
  delta_along_ += start_;
  if (motion_.tangent().rank() == 0) {
    eta_ = delta_along_;
    curved_.by_right(delta_.data(), eta_);
    xi_ = wanted_along_;
    return true;
  }
  const Chart& chart = closure_.chart();
  count_in(chart, delta_along_, counted_);
  if (curved_.any()) {
    spread_ = motion_.tangent().basis();
    curved_.by_right_inverse(delta_.data(), spread_);
    count_in(chart, spread_, small_);
    lu_.compute(small_);
    solved_ = lu_.solve(counted_);
    eta_.noalias() = motion_.tangent().basis() * solved_;
  } else {
    eta_.noalias() = span_ * counted_;
  }
  motion_.velocity_changes(q_.data(), v_.data(), eta_, xi_);
  count_in(chart, xi_, counted_);
  count_in(chart, wanted_along_, solved_);
  solved_ -= counted_;
  xi_.noalias() += span_ * solved_;
  return eta_.allFinite() && xi_.allFinite();
}

/// With room for `extra` directions before those given.
bool ScrewStepper::begin(const double* q, const double* v, int extra, const Eigen::MatrixXd* eta,
                         const Eigen::MatrixXd* xi) {
  if (!closure_.begin(q)) return false;
  std::copy(q, q + q_.size(), q_.begin());
  v_ = v0_ = Eigen::Map<const Eigen::VectorXd>(v, tree_->freedoms());
  delta_.setZero();
  if (!eta) return true;
  eta0_.setZero(eta->rows(), extra + eta->cols());
  eta0_.rightCols(eta->cols()) = *eta;
  xi0_.setZero(xi->rows(), extra + xi->cols());
  xi0_.rightCols(xi->cols()) = *xi;
  eta_ = eta0_;
  xi_ = xi0_;
  return true;
}

void ScrewStepper::finish(double* q, double* v, Eigen::MatrixXd* eta, Eigen::MatrixXd* xi) const {
  std::copy(q_.begin(), q_.end(), q);
  Eigen::Map<Eigen::VectorXd>(v, tree_->freedoms()) = v_;
  if (!eta) return;
  *eta = eta_.rightCols(eta->cols());
  *xi = xi_.rightCols(xi->cols());
}

bool ScrewStepper::step(double t, double h, const double* force, double* q, double* v, Eigen::MatrixXd* eta,
                        Eigen::MatrixXd* xi) {
  const bool along = eta != nullptr;
  if (!begin(q, v, 0, eta, xi) || (along && !motion_.prepare(q))) return false;
  for (int s = 0;; ++s) {
    if (s > 0) {
      combine(h, s);
      if (!place(along && s < tableau_.stages)) return false;
      if (along) combine_along(h, s);
      if (along && !place_along()) return false;
    }
    if (s == tableau_.stages) break;
    if (!motion_.accelerate(t + tableau_.c[s] * h, q_.data(), v_.data(), force, rate_v_[s].data())) return false;
    rate_q_[s] = v_;
    if (s > 0) curved_.rates(delta_.data(), v_.data(), rate_q_[s].data());
    if (!along) continue;
    motion_.accelerate_along(q_.data(), v_.data(), rate_v_[s].data(), eta_, xi_, true, rate_v_along_[s]);
    rate_q_along_[s] = xi_;
    if (s == 0 || !curved_.any()) continue;
    curved_.by_right_inverse(delta_.data(), rate_q_along_[s]);
    spread_ = eta_;
    curved_.by_right_inverse(delta_.data(), spread_);
    spread_ -= start_;  // dδ
    curved_.add_rate_changes(delta_.data(), v_.data(), spread_, rate_q_along_[s]);
  }
  finish(q, v, eta, xi);
  return true;
}

/// v_ and q_ in the middle, and a there in rate_v_[0].
bool ScrewStepper::settle_middle(double t, double h, const double* force) {
  const std::vector<int>& columns = closure_.chart().columns;
  Eigen::VectorXd& a = rate_v_[0];
  if (!motion_.accelerate(t, q_.data(), v_.data(), force, a.data())) return false;
  response_.prepare(q_.data());
  off_ = (-0.5 * h) * a;
  response_.correct(0.5 * h, q_.data(), v_.data(), off_.data(), correction_.data());
  wanted_ = v0_ + correction_;
  double before = 0, share = 1;
  for (int i = 1; i <= kStepIterations; ++i) {
    delta_ = (0.5 * h) * wanted_;
    if (!place(false)) return false;
    if (!motion_.accelerate(t + 0.5 * h, q_.data(), v_.data(), force, a.data())) return false;
    off_ = v_ - v0_ - (0.5 * h) * a;
    if (motion_.tangent().rank() > 0) {  // the other numbers follow
      middle_.setZero();
      for (std::size_t c = 0; c < columns.size(); ++c) {
        middle_ += span_.col(static_cast<Eigen::Index>(c)) * off_[columns[c]];
      }
      off_ = middle_;
    }
    response_.correct(0.5 * h, q_.data(), v_.data(), off_.data(), correction_.data());
    const double change = correction_.lpNorm<Eigen::Infinity>();
    const double scale = v_.lpNorm<Eigen::Infinity>() + h * a.lpNorm<Eigen::Infinity>();
    if (!std::isfinite(change)) return false;
    if (change <= kStepSettled * scale) return true;
    if (i > 3 && change >= before && change <= kStepAccepted * scale + kAtRest) return true;
    if (i > 3 && change > before) share = std::max(0.25, 0.5 * share);
    before = change;
    wanted_ = v_ + share * correction_;
  }
  return false;
}

/// dw of the directions in eta0_ and xi0_, in wanted_along_. Before them there is room for one along each number of w.
bool ScrewStepper::solve_middle_along(double h, const Eigen::VectorXd& a) {
  const std::vector<int>& columns = closure_.chart().columns;
  const Eigen::Index f = static_cast<Eigen::Index>(columns.size()), k = eta0_.cols() - f;
  if (!motion_.prepare(q_.data())) return false;
  // along each number of w alone, then along the start alone
  wanted_along_.setZero(eta0_.rows(), eta0_.cols());
  for (Eigen::Index i = 0; i < f; ++i) wanted_along_(columns[i], i) = 1;
  delta_along_ = (0.5 * h) * wanted_along_;
  if (!place_along()) return false;
  motion_.accelerate_along(q_.data(), v_.data(), a.data(), eta_, xi_, true, alpha_);

  jacobian_.setIdentity(f, f);
  right_.resize(f, k);
  for (Eigen::Index i = 0; i < f; ++i) {
    jacobian_.row(i) -= (0.5 * h) * alpha_.row(columns[i]).head(f);
    right_.row(i) = xi0_.row(columns[i]).tail(k) + (0.5 * h) * alpha_.row(columns[i]).tail(k);
  }
  lu_.compute(jacobian_);
  dw_ = lu_.solve(right_);
  wanted_along_.setZero();
  for (Eigen::Index i = 0; i < f; ++i) wanted_along_.row(columns[i]).tail(k) = dw_.row(i);
  return dw_.allFinite();
}

bool ScrewStepper::step_implicitly(double t, double h, const double* force, double* q, double* v, Eigen::MatrixXd* eta,
                                   Eigen::MatrixXd* xi) {
  const int room = static_cast<int>(motion_.tangent().basis().cols());
  if (!begin(q, v, room, eta, xi) || !settle_middle(t, h, force)) return false;
  const bool along = eta != nullptr;
  if (along && !solve_middle_along(h, rate_v_[0])) return false;
  delta_ = h * v_;
  wanted_ = 2 * v_ - v0_;
  if (!place(false)) return false;
  if (along) {
    delta_along_ = h * wanted_along_;
    wanted_along_ = 2 * wanted_along_ - xi0_;
    if (!place_along()) return false;
  }
  finish(q, v, eta, xi);
  return true;
}

}  // namespace kinegraph::filter
