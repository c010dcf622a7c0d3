#include "kinegraph/identify/problem_start.hpp"

#include <Eigen/Cholesky>

#include "kinegraph/identify/problem_joint.hpp"

namespace kinegraph::identify {
namespace {

using maximal::Joint;

constexpr double kRedundant = 1e-10;  // of the trace of G Gᵀ: rows that say the same (planar loops) share the load
constexpr double kFar = 10;           // rad and lengths: how far the start may be from where it was first

}  // namespace

StartRows::StartRows(std::shared_ptr<const maximal::Mechanism> mechanism, const ImpulseWeight& weight)
    : mechanism_(std::move(mechanism)),
      weight_(weight),
      n_(mechanism_->tangent()),
      m_(mechanism_->rows()),
      G_(m_, n_),
      speed_by_q_(m_, n_),
      g_(m_),
      speed_(m_) {}

void StartRows::see_joint(int index, const double* q, const double* v, bool slopes) {
  const Joint& joint = mechanism_->joints()[index];
  const int bodies[2] = {joint.a, joint.b};
  const double* at[2] = {nullptr, nullptr};
  double both[12] = {};
  for (int e = 0; e < 2; ++e) {
    if (bodies[e] < 0) continue;
    at[e] = q + 7 * bodies[e];
    std::copy_n(v + 6 * bodies[e], 6, both + 6 * e);
  }
  const auto rows = [&]<class T>(T, const auto& put) {
    const JointSight<T> sight(*mechanism_, joint, machine_->numbers, at[0], at[1]);
    maximal::Row<T> made[6];
    const int count = maximal::constraint_rows(joint, sight.make(), made);
    for (int i = 0; i < count; ++i) {
      T speed = T(0.0);
      for (int k = 0; k < 12; ++k) speed += made[i].G[k] * both[k];
      put(joint.row + i, made[i], speed);
    }
  };
  rows(ByPose(), [&](int r, const maximal::Row<ByPose>& row, const ByPose& speed) {
    g_[r] = row.value.a;
    speed_[r] = speed.a;
    for (int e = 0; e < 2; ++e) {
      for (int k = 0; bodies[e] >= 0 && k < 6; ++k) {
        G_(r, 6 * bodies[e] + k) = row.G[6 * e + k].a;
        speed_by_q_(r, 6 * bodies[e] + k) = speed.v[6 * e + k];
      }
    }
  });
  if (!slopes || machine_->directions.cols() == 0) return;
  rows(ByNumbers(), [&](int r, const maximal::Row<ByNumbers>& row, const ByNumbers& speed) {
    for (int i = 0; i < 30; ++i) {
      const int number = joint_number(*mechanism_, joint, i);
      if (number < 0) continue;
      g_by_x_.row(r) += row.value.v[i] * machine_->directions.row(number);
      speed_by_x_.row(r) += speed.v[i] * machine_->directions.row(number);
    }
  });
}

/// √κ share M x, whose derivatives without √κ share M are in by_first_, by_second_ and by_x_.
void StartRows::add_block(const Eigen::VectorXd& value, double share, RowBlock* rows) {
  Eigen::VectorXd out(n_);
  const auto weigh = [&](const double* x) {
    weight_.apply(x, out.data());
    out *= share;
  };
  const int first = rows->count(), p = rows->parameters();
  weigh(value.data());
  for (int i = 0; i < n_; ++i) rows->add(out[i]);
  Eigen::VectorXd column(n_);
  for (int c = 0; c < 2 * n_ + p; ++c) {
    column = c < n_ ? by_first_.col(c) : c < 2 * n_ ? by_second_.col(c - n_) : by_x_.col(c - 2 * n_);
    weigh(column.data());
    for (int i = 0; i < n_; ++i)
      (c < 2 * n_ ? rows->states(first + i)[c] : rows->border(first + i)[c - 2 * n_]) = out[i];
  }
}

double StartRows::add(const double* poses, const KnotPair& first, RowBlock* rows) {
  const int p = static_cast<int>(machine_->directions.cols());
  double cost = pull(poses, rows);
  if (m_ == 0) return cost;
  G_.setZero(), speed_by_q_.setZero();
  g_by_x_.setZero(m_, p), speed_by_x_.setZero(m_, p);
  const double* q = poses + mechanism_->stored();
  for (std::size_t j = 0; j < mechanism_->joints().size(); ++j) {
    see_joint(static_cast<int>(j), q, first.v(), rows != nullptr);
  }
  Eigen::MatrixXd square = G_ * G_.transpose();
  square.diagonal().array() += kRedundant * square.trace();
  const Eigen::LDLT<Eigen::MatrixXd> factor(square);
  const auto back = [&](const auto& x) { return (G_.transpose() * factor.solve(x)).eval(); };
  const Eigen::VectorXd place = back(g_), speed = back(speed_);
  Eigen::VectorXd impulse(n_);
  const double share[2] = {1 / first.h(), 1};
  for (int k = 0; k < 2; ++k) {
    weight_.apply(k == 0 ? place.data() : speed.data(), impulse.data());
    cost += share[k] * share[k] * impulse.squaredNorm();
  }
  if (!rows) return cost;

  // g and G v are small here: what (G Gᵀ)⁻¹ itself changes does not count
  by_first_ = Eigen::MatrixXd::Zero(n_, n_);
  by_second_ = back(G_);
  by_x_ = back(g_by_x_);
  add_block(place, share[0], rows);
  Eigen::MatrixXd by_turn = Eigen::MatrixXd::Zero(n_, n_), by_next = by_turn;
  for (int b = 0; b < n_ / 6; ++b) {
    by_turn.block<3, 3>(6 * b, 6 * b) = -first.turn(b).transpose();
    by_next.block<3, 3>(6 * b, 6 * b) = first.turn(b);
    by_turn.block<3, 3>(6 * b + 3, 6 * b + 3).diagonal().setConstant(-1 / first.h());
    by_next.block<3, 3>(6 * b + 3, 6 * b + 3).diagonal().setConstant(1 / first.h());
  }
  by_first_ = back(G_ * by_turn);
  by_second_ = back(G_ * by_next + speed_by_q_);
  by_x_ = back(speed_by_x_);
  add_block(speed, share[1], rows);
  return cost;
}

/// It tells next to nothing, whatever κ is: with √κ in its weight it would hold the start where the model is trusted.
double StartRows::pull(const double* poses, RowBlock* rows) {
  const int stored = mechanism_->stored();
  if (reference_.empty()) reference_.assign(poses, poses + 2 * stored);
  const double turning = 1 / kFar, moving = turning / weight_.length();
  std::vector<double> away(n_);
  double cost = 0;
  for (int knot = 0; knot < 2; ++knot) {
    maximal::local(n_ / 6, reference_.data() + knot * stored, poses + knot * stored, away.data());
    for (int i = 0; i < n_; ++i) cost += std::pow((i % 6 < 3 ? turning : moving) * away[i], 2);
    for (int b = 0; rows && b < n_ / 6; ++b) {
      const Eigen::Matrix3d turn = SO3::right_jacobian_inverse({away[6 * b], away[6 * b + 1], away[6 * b + 2]});
      for (int k = 0; k < 6; ++k) {
        rows->add((k < 3 ? turning : moving) * away[6 * b + k]);
        double* out = rows->states(rows->count() - 1) + knot * n_ + 6 * b;
        if (k >= 3) out[k] = moving;
        for (int c = 0; k < 3 && c < 3; ++c) out[c] = turning * turn(k, c);
      }
    }
  }
  return cost;
}

}  // namespace kinegraph::identify
