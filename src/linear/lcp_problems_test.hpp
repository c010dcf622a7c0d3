#pragma once

#include <gtest/gtest.h>

#include <Eigen/Core>

#include "kinegraph/base/random.hpp"

/// Complementarity problems for the tests.
namespace kinegraph::linear::test {

struct Problem {
  Eigen::MatrixXd M;
  Eigen::VectorXd q;
};

inline Eigen::MatrixXd random_matrix(Random& random, int rows, int columns) {
  Eigen::MatrixXd a(rows, columns);
  for (int j = 0; j < columns; ++j) random.normal(a.col(j).data(), rows);
  return a;
}

inline Eigen::VectorXd random_vector(Random& random, int n) { return random_matrix(random, n, 1); }

/// Positive definite, not symmetric: one answer for every q.
inline Problem definite(Random& random, int n) {
  const Eigen::MatrixXd a = random_matrix(random, n, n), b = random_matrix(random, n, n);
  return {a * a.transpose() / n + 0.1 * Eigen::MatrixXd::Identity(n, n) + b - b.transpose(), random_vector(random, n)};
}

/// A P-matrix that is not definite: row scaling and triangular factors keep the sign of principal minors.
inline Problem p_matrix(Random& random, int n) {
  Problem p = definite(random, n);
  for (int i = 0; i < n; ++i) p.M.row(i) *= std::exp(2 * random.normal());
  return p;
}

/// Semidefinite of half rank, with an answer.
inline Problem semidefinite(Random& random, int n) {
  const Eigen::MatrixXd a = random_matrix(random, n, (n + 1) / 2);
  Problem p{a * a.transpose(), {}};
  Eigen::VectorXd z(n), w(n);
  for (int i = 0; i < n; ++i) {
    const bool in = random.uniform() < 0.5;
    z[i] = in ? random.uniform() : 0, w[i] = in ? 0 : random.uniform();
  }
  p.q = w - p.M * z;
  return p;
}

/// Strictly copositive: no entry negative, the diagonal positive. Several answers.
inline Problem copositive(Random& random, int n) {
  Problem p{random_matrix(random, n, n).cwiseAbs(), random_vector(random, n)};
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      if (i != j && random.uniform() < 0.5) p.M(i, j) = 0;
    }
  }
  return p;
}

/// Contacts with friction after elimination of the velocity (002, eq. 2.24), `directions` of friction each:
///
///     [C M⁻¹Cᵀ + Σ_c   C M⁻¹Dᵀ         0]        [ g/h + C v]
///     [D M⁻¹Cᵀ         D M⁻¹Dᵀ + Σ_t   E]    q = [ D v      ]
///     [U              −Eᵀ              Λ]        [ 0        ]
inline Problem frictional(Random& random, int contacts, int directions, double regularisation = 1e-3, int bodies = 0) {
  const int n = contacts, t = contacts * directions, freedoms = 6 * (bodies > 0 ? bodies : (contacts + 2) / 3);
  const Eigen::MatrixXd C = random_matrix(random, n, freedoms);
  Eigen::MatrixXd D(t, freedoms);
  for (int c = 0; c < contacts; ++c) {
    const Eigen::MatrixXd plane = random_matrix(random, 2, freedoms);
    for (int k = 0; k < directions; ++k) {
      const double angle = 2 * M_PI * k / directions;
      D.row(c * directions + k) = std::cos(angle) * plane.row(0) + std::sin(angle) * plane.row(1);
    }
  }
  Eigen::VectorXd inverse_mass(freedoms);
  for (int i = 0; i < freedoms; ++i) inverse_mass[i] = std::exp(random.normal());
  Eigen::MatrixXd B(n + t, freedoms);
  B << C, D;

  Problem p{Eigen::MatrixXd::Zero(n + t + n, n + t + n), Eigen::VectorXd::Zero(n + t + n)};
  p.M.topLeftCorner(n + t, n + t) = B * inverse_mass.asDiagonal() * B.transpose();
  p.M.diagonal().array() += regularisation;
  for (int c = 0; c < contacts; ++c) {
    p.M(n + t + c, c) = random.uniform(0.05, 1);
    for (int k = 0; k < directions; ++k) {
      p.M(n + c * directions + k, n + t + c) = 1;
      p.M(n + t + c, n + c * directions + k) = -1;
    }
  }
  p.q.head(n + t) = B * random_vector(random, freedoms);
  return p;
}

/// The largest |min(w, z)|, over the size of what is added up in w.
inline double residual(const Problem& p, const Eigen::VectorXd& z) {
  const Eigen::VectorXd w = p.M * z + p.q;
  const double size = p.q.lpNorm<Eigen::Infinity>() + (p.M.cwiseAbs() * z.cwiseAbs()).lpNorm<Eigen::Infinity>() +
                      z.lpNorm<Eigen::Infinity>() + 1e-300;
  return z.cwiseMin(w).cwiseAbs().maxCoeff() / size;
}

}  // namespace kinegraph::linear::test
