#pragma once

#include <Eigen/Dense>
#include <random>
#include <vector>

#include "kinegraph/linear/horizon_elimination.hpp"

/// Symmetric systems over time that tests and benchmarks share.
namespace kinegraph::linear::test {

using Eigen::MatrixXd;
using Eigen::VectorXd;

struct HorizonSystem {
  int knots = 0;
  std::vector<HorizonPlace> place;
  std::vector<RowKind> kind;
  std::vector<Entry> entries;
  std::vector<double> values, diagonal;
  VectorXd rhs;

  int add(HorizonPlace::Type type, int knot, RowKind row_kind) {
    place.push_back({type, knot});
    kind.push_back(row_kind);
    diagonal.push_back(0);
    return static_cast<int>(place.size()) - 1;
  }
  int variables(int knot, int count) {
    const int first = static_cast<int>(place.size());
    for (int i = 0; i < count; ++i) add(HorizonPlace::Type::knot, knot, RowKind::variable);
    return first;
  }
  void entry(int i, int j, double value) {
    if (value == 0) return;
    entries.push_back({i, j});
    values.push_back(value);
  }
  void symmetric(int first, const MatrixXd& h) {
    for (int i = 0; i < h.rows(); ++i) {
      for (int j = 0; j <= i; ++j) entry(first + i, first + j, h(i, j));
    }
  }
  void block(int row, int column, const MatrixXd& m) {
    for (int i = 0; i < m.rows(); ++i) {
      for (int j = 0; j < m.cols(); ++j) entry(row + i, column + j, m(i, j));
    }
  }
  HorizonPlan plan(int segments = 0) const { return {knots, place, kind, entries, segments}; }
  MatrixXd dense() const {
    MatrixXd k = MatrixXd::Zero(place.size(), place.size());
    for (std::size_t e = 0; e < entries.size(); ++e) {
      const auto [i, j] = entries[e];
      k(i, j) += values[e];
      if (i != j) k(j, i) += values[e];
    }
    for (std::size_t i = 0; i < diagonal.size(); ++i) k(i, i) += diagonal[i];
    return k;
  }
};

inline MatrixXd random_matrix(std::mt19937& random, int rows, int columns) {
  std::normal_distribution<double> normal;
  return MatrixXd::NullaryExpr(rows, columns, [&] { return normal(random); });
}

/// A linear-quadratic problem: min ½ Σ xᵀQx + uᵀRu with x₀ given and xₖ₊₁ = A xₖ + B uₖ + c.
struct LinearQuadratic {
  MatrixXd A, B, Q, R;
  VectorXd c, start;
  int knots = 0;

  static LinearQuadratic random(unsigned seed, int states, int controls, int knots) {
    std::mt19937 random(seed);
    LinearQuadratic p;
    p.knots = knots;
    p.A = MatrixXd::Identity(states, states) + 0.1 * random_matrix(random, states, states);
    p.A *= 0.98 / p.A.eigenvalues().cwiseAbs().maxCoeff();
    p.B = 0.3 * random_matrix(random, states, controls);
    p.c = 0.1 * random_matrix(random, states, 1);
    p.start = random_matrix(random, states, 1);
    const MatrixXd q = random_matrix(random, states, 1), r = random_matrix(random, controls, controls);
    p.Q = q * q.transpose();  // of rank one: most states have no curvature
    p.R = r * r.transpose() + 0.1 * MatrixXd::Identity(controls, controls);
    return p;
  }
  int states() const { return static_cast<int>(A.rows()); }
  int controls() const { return static_cast<int>(B.cols()); }

  /// Its optimality conditions; x and u of knot k start at k (states + controls). Entries come in the order of time, as
  /// the solver gives them.
  HorizonSystem system() const {
    HorizonSystem s;
    s.knots = knots;
    const int n = states(), m = controls();
    for (int k = 0; k < knots; ++k) s.variables(k, n + m);
    std::vector<double> rhs(s.place.size(), 0.0);
    const auto rows = [&](HorizonPlace::Type type, int k, const VectorXd& right) {
      const int first = static_cast<int>(s.place.size());
      for (int i = 0; i < n; ++i) s.add(type, k, RowKind::hard);
      rhs.insert(rhs.end(), right.begin(), right.end());
      return first;
    };
    s.block(rows(HorizonPlace::Type::knot, 0, start), 0, MatrixXd::Identity(n, n));
    for (int k = 0; k < knots; ++k) {
      const int x = k * (n + m);
      s.symmetric(x, Q);
      s.symmetric(x + n, R);
      if (k + 1 == knots) break;
      const int row = rows(HorizonPlace::Type::link, k, c);
      s.block(row, x, -A);
      s.block(row, x + n, -B);
      s.block(row, x + n + m, MatrixXd::Identity(n, n));
    }
    s.rhs = Eigen::Map<VectorXd>(rhs.data(), static_cast<Eigen::Index>(rhs.size()));
    return s;
  }

  /// The textbook: P, p backward in time, then x and u forward.
  VectorXd riccati() const {
    const int n = states(), m = controls();
    std::vector<MatrixXd> gain(knots);
    std::vector<VectorXd> offset(knots);
    MatrixXd P = Q;
    VectorXd p = VectorXd::Zero(n);
    for (int k = knots - 2; k >= 0; --k) {
      const MatrixXd G = R + B.transpose() * P * B;
      const auto solver = G.ldlt();
      gain[k] = -solver.solve(B.transpose() * P * A);
      offset[k] = -solver.solve(B.transpose() * (P * c + p));
      const MatrixXd closed = A + B * gain[k];
      p = closed.transpose() * (P * (c + B * offset[k]) + p) + gain[k].transpose() * R * offset[k];
      P = (Q + gain[k].transpose() * R * gain[k] + closed.transpose() * P * closed).eval();
    }
    VectorXd all = VectorXd::Zero(knots * (n + m));
    VectorXd x = start;
    for (int k = 0; k < knots; ++k) {
      all.segment(k * (n + m), n) = x;
      if (k + 1 == knots) break;
      const VectorXd u = gain[k] * x + offset[k];
      all.segment(k * (n + m) + n, m) = u;
      x = (A * x + B * u + c).eval();
    }
    return all;
  }
};

}  // namespace kinegraph::linear::test
