#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <random>
#include <vector>

#include "kinegraph/linear/symmetric.hpp"

/// Symmetric systems that tests of this folder share.
namespace kinegraph::linear::test {

using Eigen::MatrixXd;
using Eigen::VectorXd;

struct System {
  SymmetricPattern pattern;
  std::vector<double> values;

  static System from_dense(const MatrixXd& k, std::vector<RowKind> kind, bool keep_zeros = false) {
    System s;
    s.pattern.kind = std::move(kind);
    for (int j = 0; j < k.cols(); ++j) {
      for (int i = j; i < k.rows(); ++i) {
        if (k(i, j) == 0 && !keep_zeros) continue;
        s.pattern.row.push_back(i);
        s.values.push_back(k(i, j));
      }
      s.pattern.start.push_back(s.pattern.entries());
    }
    return s;
  }

  MatrixXd dense() const {
    MatrixXd k = MatrixXd::Zero(pattern.size(), pattern.size());
    for (int j = 0; j < pattern.size(); ++j) {
      for (int e = pattern.start[j]; e < pattern.start[j + 1]; ++e) {
        k(pattern.row[e], j) += values[e];
        if (pattern.row[e] != j) k(j, pattern.row[e]) += values[e];
      }
    }
    return k;
  }

  double norm() const {  // largest row sum
    VectorXd sum = VectorXd::Zero(pattern.size());
    for (int j = 0; j < pattern.size(); ++j) {
      for (int e = pattern.start[j]; e < pattern.start[j + 1]; ++e) {
        sum[pattern.row[e]] += std::abs(values[e]);
        if (pattern.row[e] != j) sum[j] += std::abs(values[e]);
      }
    }
    return sum.maxCoeff();
  }
};

inline VectorXd random_vector(int n, std::mt19937& rng) {
  std::normal_distribution<double> normal;
  return VectorXd::NullaryExpr(n, [&] { return normal(rng); });
}

inline MatrixXd random_sparse(int rows, int columns, double density, std::mt19937& rng) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  return MatrixXd::NullaryExpr(rows, columns, [&] { return uniform(rng) < density ? normal(rng) : 0.0; });
}

inline System random_definite(int n, std::mt19937& rng) {
  MatrixXd a = random_sparse(2 * n, n, n > 10 ? 0.05 : 1.0, rng);
  return System::from_dense(MatrixXd(a.transpose() * a + 0.1 * MatrixXd::Identity(n, n)),
                            std::vector<RowKind>(n, RowKind::variable));
}

inline System random_indefinite(int n, std::mt19937& rng) {
  const MatrixXd a = random_sparse(n, n, 0.1, rng);
  return System::from_dense(MatrixXd(a + a.transpose()) + MatrixXd(random_vector(n, rng).asDiagonal()),
                            std::vector<RowKind>(n, RowKind::variable), false);
}

/// [H Jᵀ; J 0], where `flat` variables have no curvature and J has full rank (but for a repeated last row, if wanted).
inline System random_kkt(int variables, int hard, int flat, std::mt19937& rng, bool repeat_last_row = false) {
  const int rows = hard + repeat_last_row, n = variables + rows;
  MatrixXd k = MatrixXd::Zero(n, n);
  const int curved = variables - flat;
  const MatrixXd a = random_sparse(2 * curved, curved, 0.1, rng);
  k.block(flat, flat, curved, curved) = a.transpose() * a + MatrixXd::Identity(curved, curved);
  MatrixXd j = random_sparse(rows, variables, 0.1, rng);
  for (int i = 0; i < hard; ++i) j(i, i) += i % 2 == 0 ? 1 : -1;  // full rank, and the flat variables are determined
  if (repeat_last_row) j.row(hard) = j.row(hard - 1) * 2;
  k.bottomLeftCorner(rows, variables) = j;
  k.topRightCorner(variables, rows) = j.transpose();
  std::vector<RowKind> kind(variables, RowKind::variable);
  kind.resize(n, RowKind::hard);
  return System::from_dense(k, kind);
}

/// Points of a hanging chain of unit links, all at random angles: M on every second point, Φ = |pᵢ − pᵢ₋₁|² − 1, and
/// for every massless point its x is tied to its neighbours' by a linear row.
inline System pendulum_chain(int links, std::mt19937& rng) {
  std::uniform_real_distribution<double> angle(-3, 3);
  std::vector<Eigen::Vector2d> p{Eigen::Vector2d::Zero()};
  for (int i = 0; i < links; ++i) {
    const double t = angle(rng);
    p.push_back(p.back() + Eigen::Vector2d(std::cos(t), std::sin(t)));
  }
  std::vector<RowKind> kind(2 * links, RowKind::variable);
  std::vector<Entry> entries;
  std::vector<double> values;
  const auto put = [&](int i, int j, double v) {
    entries.push_back({i, j});
    values.push_back(v);
  };
  for (int i = 1; i < links; i += 2) {
    put(2 * i, 2 * i, 2.0);
    put(2 * i + 1, 2 * i + 1, 2.0);
  }
  const auto new_row = [&] {
    kind.push_back(RowKind::hard);
    return static_cast<int>(kind.size()) - 1;
  };
  for (int i = 0; i < links; ++i) {
    const Eigen::Vector2d d = 2 * (p[i + 1] - p[i]);
    const int row = new_row();
    for (int c = 0; c < 2; ++c) {
      put(row, 2 * i + c, d[c]);
      if (i > 0) put(row, 2 * (i - 1) + c, -d[c]);
    }
    if (i % 2 == 0 && i > 0 && i + 1 < links) {
      const int tie = new_row();
      put(tie, 2 * i, 1);
      put(tie, 2 * (i - 1), -0.4);
      put(tie, 2 * (i + 1), -0.6);
    }
  }
  // The first point has no mass and only its length row: tie it as well.
  const int tie = new_row();
  put(tie, 0, 1);
  put(tie, 1, 0.3);
  System s;
  std::vector<int> slot;
  s.pattern = SymmetricPattern::from_entries(kind, entries, slot);
  s.values.assign(s.pattern.entries(), 0.0);
  for (std::size_t e = 0; e < entries.size(); ++e) s.values[slot[e]] += values[e];
  return s;
}

/// A trajectory: per step 4 variables (two with curvature), 3 hard rows in the step, 2 costs to the next step. Rows of
/// a step stand together.
inline System time_chain(int steps, std::mt19937& rng) {
  std::normal_distribution<double> normal;
  std::vector<RowKind> kind;
  std::vector<Entry> entries;
  std::vector<double> values;
  const auto put = [&](int i, int j, double v) {
    entries.push_back({i, j});
    values.push_back(v);
  };
  const int per_step = 7;
  for (int k = 0; k < steps; ++k) {
    const int at = k * per_step;
    kind.insert(kind.end(), 4, RowKind::variable);
    kind.insert(kind.end(), 3, RowKind::hard);
    put(at, at, 1 + normal(rng) * normal(rng));
    put(at + 1, at + 1, 1 + normal(rng) * normal(rng));
    for (int r = 0; r < 3; ++r) {
      for (int c = 0; c < 4; ++c) put(at + 4 + r, at + c, normal(rng) + (c == r + 1 ? 2 : 0));
    }
    if (k + 1 == steps) break;
    for (int cost = 0; cost < 2; ++cost) {  // ½ (a·x)² adds a aᵀ
      const int index[4] = {at, at + 1 + cost, at + per_step, at + per_step + 1 + cost};
      const double a[4] = {normal(rng), normal(rng), normal(rng), normal(rng)};
      for (int i = 0; i < 4; ++i) {
        for (int j = 0; j <= i; ++j) put(index[i], index[j], a[i] * a[j]);
      }
    }
  }
  System s;
  std::vector<int> slot;
  s.pattern = SymmetricPattern::from_entries(kind, entries, slot);
  s.values.assign(s.pattern.entries(), 0.0);
  for (std::size_t e = 0; e < entries.size(); ++e) s.values[slot[e]] += values[e];
  return s;
}

}  // namespace kinegraph::linear::test
