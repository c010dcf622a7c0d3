#include "kinegraph/filter/screw_motion.hpp"

#include <algorithm>
#include <cmath>

// With loops closed, J(q) v = 0,
//
//     M(q) a + h(q, v) − J(q)ᵀ λ = τ,      J a + J̇ v = 0
//
// Along a direction (η, ξ) of the state, with r the change of the left sides at fixed a and λ (screw::Differential):
//
//     M α − Jᵀ μ = δτ − r_τ,      J α = −r_φ
//
// so α = α₀ + Z y with J α₀ = −r_φ, Zᵀ M Z y = Zᵀ (δτ − r_τ − M α₀), and μ from the first. Where loops tie more than
// they need to, λ is the least, λ = J w for some w, which its change keeps: U μ = U δJ w, where U J = 0.

namespace kinegraph::filter {

ScrewMotion::ScrewMotion(std::shared_ptr<const screw::Tree> tree, int freedoms, ScrewDrive drive,
                         std::vector<int> forces, const double* friction_speed)
    : tree_(std::move(tree)),
      drive_(std::move(drive)),
      forces_(std::move(forces)),
      dynamics_(tree_, build::given_forward(*tree_)),
      mass_matrix_(tree_),
      tau_(tree_->freedoms(), 0.0),
      tangent_(tree_, freedoms),
      differential_(tree_),
      kinematics_(tree_),
      cholesky_(freedoms) {
  surroundings_.gravity = tree_->gravity();
  surroundings_.friction_speed = friction_speed;
  wrenches_.setZero(6 * loops());
  mass_.resize(tree_->freedoms(), tree_->freedoms());
  reduced_.resize(freedoms, freedoms);
  scaled_.resize(tree_->freedoms(), freedoms);
}

bool ScrewMotion::accelerate(double t, const double* q, const double* v, const double* force, double* a) {
  std::fill(tau_.begin(), tau_.end(), 0.0);
  if (drive_) drive_(t, tau_.data());
  for (std::size_t i = 0; force && i < forces_.size(); ++i) tau_[forces_[i]] += force[i];
  if (!dynamics_.solve(q, v, a, tau_.data(), surroundings_).ok) return false;
  return std::all_of(a, a + tree_->freedoms(), [](double x) { return std::isfinite(x); });
}

bool ScrewMotion::prepare(const double* q) {
  if (!tangent_.set(q)) return false;
  mass_ = mass_matrix_.at(q);
  if (tangent_.rank() == 0) {
    cholesky_.compute(mass_);
  } else {
    scaled_.noalias() = mass_ * tangent_.basis();
    reduced_.noalias() = tangent_.basis().transpose() * scaled_;
    cholesky_.compute(reduced_);
  }
  return cholesky_.info() == Eigen::Success;
}

void ScrewMotion::mobilise(Eigen::MatrixXd& X) {
  if (tangent_.rank() == 0) {
    cholesky_.solveInPlace(X);
    return;
  }
  reduced_right_.noalias() = tangent_.basis().transpose() * X;
  cholesky_.solveInPlace(reduced_right_);
  X.noalias() = tangent_.basis() * reduced_right_;
}

void ScrewMotion::orthonormal(Eigen::MatrixXd& N) const {
  N = tangent_.basis();
  cholesky_.matrixL().transpose().solveInPlace<Eigen::OnTheRight>(N);
}

void ScrewMotion::velocity_changes(const double* q, const double* v, const Eigen::MatrixXd& eta,
                                   Eigen::MatrixXd& change) {
  if (tangent_.rank() == 0) {
    change.setZero(tree_->freedoms(), eta.cols());
    return;
  }
  kinematics_.set(q, v, surroundings_);
  differential_.set(kinematics_, q, v);
  differential_.velocities(kinematics_, eta, closure_);
  closure_ = -closure_;
  tangent_.bridge(closure_, change);
}

void ScrewMotion::read_wrenches() {
  for (int l = 0; l < loops(); ++l) wrenches_.segment<6>(6 * l) = dynamics_.wrench(bodies() + l);
}

void ScrewMotion::accelerate_along(const double* q, const double* v, const double* a, const Eigen::MatrixXd& eta,
                                   const Eigen::MatrixXd& xi, bool forced, Eigen::MatrixXd& alpha) {
  read_wrenches();
  differential_.set(dynamics_.motion(), q, v, a, wrenches_.data());
  differential_.accelerations(dynamics_.motion(), eta, xi, nullptr, nullptr, torque_, closure_);
  right_ = -torque_;
  if (forced) {
    const Eigen::Index first = right_.cols() - static_cast<Eigen::Index>(forces_.size());
    for (std::size_t i = 0; i < forces_.size(); ++i) right_(forces_[i], first + static_cast<Eigen::Index>(i)) += 1;
  }
  alpha = right_;
  if (tangent_.rank() == 0) {
    cholesky_.solveInPlace(alpha);
    return;
  }
  closure_ = -closure_;
  tangent_.bridge(closure_, torque_);  // α₀
  alpha.noalias() -= mass_ * torque_;
  mobilise(alpha);
  alpha += torque_;
}

void ScrewMotion::react_along(const double* q, const double* v, const double* a, const Eigen::MatrixXd& eta,
                              const Eigen::MatrixXd& xi, const Eigen::MatrixXd& alpha, Eigen::MatrixXd& reaction) {
  const int k = static_cast<int>(eta.cols());
  mu_.resize(6 * loops(), k);
  if (tangent_.rank() > 0) {
    torque_ = -right_;
    torque_.noalias() += mass_ * alpha;  // Jᵀ μ
    tangent_.react(torque_, mu_);
    idle_ = wrenches_;
    tangent_.bridge(idle_, spread_);  // w
    kinematics_.set(q, spread_.data(), surroundings_);
    differential_.set(kinematics_, q, spread_.data());
    differential_.velocities(kinematics_, eta, idle_);
    tangent_.idle(idle_);
    mu_ += idle_;
    differential_.set(dynamics_.motion(), q, v, a, wrenches_.data());
  }
  differential_.accelerations(dynamics_.motion(), eta, xi, &alpha, &mu_, torque_, closure_);
  reaction.resize(6 * (bodies() + loops()), k);
  for (int d = 0; d < k; ++d) {
    for (int i = 0; i < bodies(); ++i) reaction.col(d).segment<6>(6 * i) = differential_.wrench_change(i, d);
  }
  reaction.bottomRows(6 * loops()) = mu_;
}

void ScrewMotion::reactions(Eigen::VectorXd& reaction) {
  reaction.resize(6 * (bodies() + loops()));
  for (int i = 0; i < bodies() + loops(); ++i) reaction.segment<6>(6 * i) = dynamics_.wrench(i);
}

}  // namespace kinegraph::filter
