#include <algorithm>

#include "kinegraph/step/regularized_implementation.hpp"

namespace kinegraph::step {

using maximal::FreedomNumbers;
using maximal::Grip;

/// The force through each joint as it is without dry friction in this step: what load_friction counts.
void RegularizedStep::find_loads() {
  for (int f = 0; f < freedoms(); ++f) {
    const double share = numbers_[mechanism_->freedoms()[f].numbers + FreedomNumbers::load_friction];
    if (share == 0) continue;
    steps_[f].load = joint_force(mechanism_->freedoms()[f].joint).norm() / h_;
    dry_[f] += h_ * share * steps_[f].load;
  }
}

/// Whether friction depends on the force through a joint.
bool RegularizedStep::is_loaded() const {
  for (const maximal::Freedom& freedom : mechanism_->freedoms()) {
    if (numbers_[freedom.numbers + FreedomNumbers::load_friction] != 0) return true;
  }
  return false;
}

/// Impulse on body b: Σ λ times the rows' parts for its centre of mass.
Eigen::Vector3d RegularizedStep::joint_force(int index) const {
  const maximal::Joint& joint = mechanism_->joints()[index];
  Eigen::Vector3d sum = Eigen::Vector3d::Zero();
  for (int i = joint.row; i < joint.row + joint.rows; ++i) {
    sum += free_lambda_[i] * Eigen::Map<const Eigen::Vector3d>(rows_[i].G + 9);
  }
  return sum;
}

/// Dry friction of all freedoms at once:   ω⁺ = ω_free + D μ,   |μᵢ| ≤ h τ_dry,i,   ω⁺ᵢ = 0 unless μᵢ is at its limit,
/// which then acts against the motion. Of a step whose constraints hold at its
/// start D is symmetric and positive definite: there is one answer; at its end nearly so.
bool RegularizedStep::settle(const Eigen::VectorXd& free, const Eigen::VectorXd& free_lambda, Grip* grip) {
  const int count = static_cast<int>(dry_freedoms_.size());
  after_ = free;
  lambda_ = free_lambda;
  friction_.setZero();
  if (count == 0) return true;
  for (int i = 0; i < count; ++i) slack_[i] = rate_after(dry_freedoms_[i], free.data(), 1);
  if (!try_grips(grip) && !pivot_grips(grip)) return false;
  apply_friction(grip);
  return true;
}

/// What rubs in this step.
void RegularizedStep::choose_dry(Grip* grip) {
  dry_freedoms_.clear();
  for (int f = 0; f < freedoms(); ++f) {
    if (dry_[f] > 0) {
      dry_freedoms_.push_back(f);
      if (grip[f] == Grip::none) grip[f] = Grip::held;
    } else {
      grip[f] = Grip::none;
    }
  }
}

/// What rubs in this step, and how rates answer to friction.
void RegularizedStep::prepare_friction(Grip* grip) {
  choose_dry(grip);
  find_friction_answer();
}

/// A unit impulse along a row, in a column.
void RegularizedStep::push_along(const SystemRow& row, const double* G, Matrix& velocity, int column) const {
  for (int k = 0; k < 6 && row.a >= 0; ++k) velocity(6 * row.a + k, column) = G[k];
  for (int k = 0; k < 6 && row.b >= 0; ++k) velocity(6 * row.b + k, column) = G[6 + k];
}

/// Unit impulses along dry freedoms, in columns from the first on.
void RegularizedStep::push_along_freedoms(Matrix& velocity, int first) const {
  for (int i = 0; i < static_cast<int>(dry_freedoms_.size()); ++i) {
    const int f = dry_freedoms_[i];
    push_along(rows_[freedom_at(f)], freedom_rows_[f].G, velocity, first + i);
  }
}

/// Velocities by impulses along dry freedoms; rates by the same.
void RegularizedStep::find_friction_answer() {
  const int count = static_cast<int>(dry_freedoms_.size());
  if (count == 0) return;
  answer_.setZero(n_, count);
  answer_multipliers_.setZero(m_, count);
  push_along_freedoms(answer_, 0);
  solve(answer_.data(), answer_multipliers_.data(), count);
  find_mobility();
}

/// The same of the system at the end of the step, together with again_ and again_lambda_.
void RegularizedStep::solve_with_friction() {
  const int count = static_cast<int>(dry_freedoms_.size()), columns = sparse_ ? 1 + count : padded(1 + count);
  padded_velocity_.setZero(sparse_ ? n_ : padded_n_, columns);
  padded_multiplier_.setZero(sparse_ ? m_ : padded_m_, columns);
  padded_velocity_.col(0).head(n_) = again_;
  padded_multiplier_.col(0).head(m_) = again_lambda_;
  push_along_freedoms(padded_velocity_, 1);
  solve_at_end_padded(padded_velocity_.data(), padded_multiplier_.data(), columns);
  again_ = padded_velocity_.col(0).head(n_);
  again_lambda_ = padded_multiplier_.col(0).head(m_);
  answer_ = padded_velocity_.block(0, 1, n_, count);
  answer_multipliers_ = padded_multiplier_.block(0, 1, m_, count);
  find_mobility();
}

void RegularizedStep::find_mobility() {
  const int count = static_cast<int>(dry_freedoms_.size());
  mobility_.resize(count, count);
  slack_.resize(count);
  for (int i = 0; i < count; ++i) {
    for (int j = 0; j < count; ++j) mobility_(i, j) = rate_after(dry_freedoms_[i], answer_.data() + j, count);
    mobility_(i, i) += weights_[dry_freedoms_[i]].hold;
  }
}

double RegularizedStep::rate_after(int f, const double* v, int stride) const {
  return rate_along(rows_[freedom_at(f)], freedom_rows_[f].G, v, stride);
}

double RegularizedStep::rate_along(const SystemRow& row, const double* G, const double* v, int stride) {
  double sum = 0;
  for (int k = 0; k < 6 && row.a >= 0; ++k) sum += G[k] * v[(6 * row.a + k) * stride];
  for (int k = 0; k < 6 && row.b >= 0; ++k) sum += G[6 + k] * v[(6 * row.b + k) * stride];
  return sum;
}

/// Starts from the guess and mends what is wrong in it, all at once. Mostly the guess is right.
bool RegularizedStep::try_grips(Grip* grip) {
  const int count = static_cast<int>(dry_freedoms_.size());
  held_impulse_.resize(count);
  for (int round = 0; round < 4 + 2 * count; ++round) {
    held_.clear();
    for (int i = 0; i < count; ++i) {
      const Grip g = grip[dry_freedoms_[i]];
      if (g == Grip::held) held_.push_back(i);
      held_impulse_[i] = g == Grip::held ? 0 : (g == Grip::forward ? -1 : 1) * dry_[dry_freedoms_[i]];
    }
    const int h = static_cast<int>(held_.size());
    if (h > 0) {
      held_matrix_.resize(h, h);
      held_right_.resize(h);
      for (int a = 0; a < h; ++a) {
        held_right_[a] = -slack_[held_[a]] - mobility_.row(held_[a]).dot(held_impulse_);
        for (int b = 0; b < h; ++b) held_matrix_(a, b) = mobility_(held_[a], held_[b]);
      }
      if (h == 1) {
        held_right_[0] /= held_matrix_(0, 0);
      } else {
        held_right_ = held_matrix_.partialPivLu().solve(held_right_).eval();
      }
      for (int a = 0; a < h; ++a) held_impulse_[held_[a]] = held_right_[a];
    }
    bool right = true;
    for (int i = 0; i < count; ++i) {
      Grip& g = grip[dry_freedoms_[i]];
      const double most = dry_[dry_freedoms_[i]];
      const double rate = slack_[i] + mobility_.row(i).dot(held_impulse_);
      const Grip was = g;
      if (g == Grip::held && held_impulse_[i] > most) g = Grip::backward;
      if (g == Grip::held && held_impulse_[i] < -most) g = Grip::forward;
      if ((was == Grip::forward && rate < 0) || (was == Grip::backward && rate > 0)) g = Grip::held;
      right = right && g == was;
    }
    if (right) return true;
  }
  return false;
}

/// As a linear complementarity problem in z = (μ⁺, μ⁻, σ), μ = μ⁺ − μ⁻ (002, eq. 2.24):
///
///     w⁺ = ω⁺ + σ,   w⁻ = −ω⁺ + σ,   w_σ = h τ_dry − μ⁺ − μ⁻
bool RegularizedStep::pivot_grips(Grip* grip) {
  const int count = static_cast<int>(dry_freedoms_.size());
  Eigen::MatrixXd M = Eigen::MatrixXd::Zero(3 * count, 3 * count);
  Eigen::VectorXd q(3 * count), z;
  const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(count, count);
  M << mobility_, -mobility_, one, -mobility_, mobility_, one, -one, -one, Eigen::MatrixXd::Zero(count, count);
  q.head(count) = slack_;
  q.segment(count, count) = -slack_;
  for (int i = 0; i < count; ++i) q[2 * count + i] = dry_[dry_freedoms_[i]];
  if (!lemke_.solve(M, q, z)) return false;
  for (int i = 0; i < count; ++i) {
    held_impulse_[i] = z[i] - z[count + i];
    const double most = dry_[dry_freedoms_[i]];
    grip[dry_freedoms_[i]] = std::abs(held_impulse_[i]) < most * (1 - 1e-9) ? Grip::held
                             : held_impulse_[i] > 0                         ? Grip::backward
                                                                            : Grip::forward;
  }
  return true;
}

void RegularizedStep::apply_friction(const Grip* grip) {
  for (std::size_t i = 0; i < dry_freedoms_.size(); ++i) {
    const int f = dry_freedoms_[i];
    friction_[f] = held_impulse_[i];
    steps_[f].grip = grip[f];
    after_ += held_impulse_[i] * answer_.col(i);
    lambda_ += held_impulse_[i] * answer_multipliers_.col(i);
  }
}

}  // namespace kinegraph::step
